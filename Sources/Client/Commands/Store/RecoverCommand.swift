import Wire

struct RecoverCommand: PlainCommand {
    static let entry = VerbEntry(
        words: ["recover"], group: .store, operands: [], options: [.user],
        summary: "set a new passcode with the recovery key",
        text: [
            "It asks for a new passcode at once, or for the login password if the store follows that. Then open the store "
                + "with `appvault unlock`. Capitals, spaces and dashes in the key do not matter."
        ])
    static let offer = RecoveryOffer.never

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        try run.act(Self.entry.name, .recover, run.target())
    }
}
