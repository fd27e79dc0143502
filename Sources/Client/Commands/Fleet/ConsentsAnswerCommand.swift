import Wire

struct ConsentsAnswerCommand: Command {
    static let entry = VerbEntry(
        words: ["consents", "answer"], group: .fleet, operands: [], options: [.all],
        summary: "read what the organisation asks, and answer it",
        text: [
            "It asks what you have not answered yet, and what you have denied and need. With --all everything, also what you have agreed "
                + "to; then it asks for what opens your store first.",
            "Where you deny something that is required, your store stays shut until you agree.",
        ],
        examples: [
            .init(
                command: "appvault consents answer --all",
                meaning: "to take back what you have agreed to")
        ])
    static let offer = RecoveryOffer.never

    var again: Bool

    static func parse(_ arguments: Arguments) -> ConsentsAnswerCommand {
        ConsentsAnswerCommand(again: arguments.has(.all))
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        try run.act(Self.entry.name, .consentAsk, ConsentAsk(again: again))
    }
}
