import Wire

struct KeyringForgetCommand: PlainCommand {
    static let entry = VerbEntry(
        words: ["keyring", "forget"], group: .fingers, operands: [], options: [.user],
        summary: "forget the login password that is kept for fingers",
        text: [
            "Where a service has the option `set_authtok`, the login password is learned from the next login with it, and "
                + "a later login by finger opens GNOME's keyring or KDE's wallet with it. What is kept is forgotten at "
                + "once; the next login with a password at such a service learns it anew. `appvault fingerprint list` "
                + "says whether one is kept."
        ])
    static let offer = RecoveryOffer.hinted

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        try run.act(Self.entry.name, .keyringForget, run.target())
    }
}
