import Wire

struct RecoveryNewCommand: PlainCommand {
    static let entry = VerbEntry(
        words: ["recovery", "new"], group: .store, operands: [], options: [.user],
        summary: "make a recovery key; the former one ends",
        text: [
            "The key is shown once, on a terminal only. Write it down and keep it away from the machine."
        ])
    static let offer = RecoveryOffer.never

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        try run.act(Self.entry.name, .recoveryNew, run.target())
    }
}
