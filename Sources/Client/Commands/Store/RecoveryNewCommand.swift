import Wire

struct RecoveryNewCommand: PlainCommand {
    static let entry = VerbEntry(
        words: ["recovery", "new"], group: .store, operands: [], options: [.user],
        summary: "make a recovery key; the old one stops working",
        text: [
            "It shows the key once, and only on a terminal. Write it down and keep it away from the machine."
        ])
    static let offer = RecoveryOffer.never

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        try run.act(Self.entry.name, .recoveryNew, run.target())
    }
}
