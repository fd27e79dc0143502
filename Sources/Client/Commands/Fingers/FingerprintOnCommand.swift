import Wire

struct FingerprintOnCommand: PlainCommand {
    static let entry = VerbEntry(
        words: ["fingerprint", "on"], group: .fingers, operands: [], options: [.user],
        summary: "let a finger open the store",
        text: [
            "Asks for the passcode, and enrols the right index finger: a finger is what turns it on."
        ])
    static let offer = RecoveryOffer.hinted

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        let target = try run.target()
        return try run.act(
            Self.entry.name, .fingerprintSwitch,
            FingerSwitch(subject: target.subject, store: target.store, on: true))
    }
}
