import Wire

struct RecoverCommand: PlainCommand {
    static let entry = VerbEntry(
        words: ["recover"], group: .store, operands: [], options: [.user],
        summary: "set a new passcode with the recovery key",
        text: [
            "A new passcode is asked for at once, or the login password where the store follows it; `appvault unlock` "
                + "opens the store with that. Capitals, spaces and dashes in the key do not matter."
        ])
    static let offer = RecoveryOffer.never

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        try run.act(Self.entry.name, .recover, run.target())
    }
}
