import Wire

struct SwitchCommand: Command {
    static let entry = VerbEntry(
        words: ["switch"], group: .store, operands: ["[NAME]"],
        summary: "open one of your stores and lock the others",
        text: [
            "It asks for what opens NAME; then every other store of yours is locked that has a way in of its own, with all that follows it. "
                + "If you cannot open it, nothing is locked.",
            "Without NAME it shows them, and asks which one.",
        ],
        examples: [
            .init(command: "appvault create work --own-passcode", meaning: "a second one"),
            .init(command: "appvault switch work", meaning: "`default` and what follows it lock"),
        ])
    static let offer = RecoveryOffer.never

    /// Nil: the person is asked.
    var name: [UInt8]?

    static func parse(_ arguments: Arguments) throws(UsageError) -> SwitchCommand {
        guard let name = arguments.operands.first else { return SwitchCommand() }
        return SwitchCommand(name: try Arguments.store(name, "switch"))
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        try run.act(
            Self.entry.name, .switchStore, name.map { SwitchStore(store: $0) } ?? .asking)
    }
}
