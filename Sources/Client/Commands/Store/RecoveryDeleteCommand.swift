import Wire

struct RecoveryDeleteCommand: PlainCommand {
    static let entry = VerbEntry(
        words: ["recovery", "delete"], group: .store, operands: [], options: [.user],
        summary: "make the recovery key useless",
        text: [
            "For a key that is lost, or in other hands. Without a recovery key nothing opens the store if you forget the "
                + "passcode; `appvault recovery new` makes another one."
        ])
    static let offer = RecoveryOffer.never

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        try run.act(Self.entry.name, .recoveryDelete, run.target())
    }
}
