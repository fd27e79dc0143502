import Wire

struct PeopleAddCommand: Command {
    static let entry = VerbEntry(
        words: ["people", "add"], group: .people, operands: ["[NAME]"],
        summary: "make a store for somebody else who uses this account",
        text: [
            "It gets a passcode of its own, and on a terminal a recovery key and, where a reader is, a finger. Then it is open, and your "
                + "others are locked. Nothing of yours is in it.",
            "Without NAME it asks for one.",
        ],
        examples: [.init(command: "appvault people add Ben", meaning: "then Ben types a passcode")])
    static let offer = RecoveryOffer.never

    /// Empty: the person is asked.
    var name: [UInt8] = []

    static func parse(_ arguments: Arguments) throws(UsageError) -> PeopleAddCommand {
        guard let name = arguments.operands.first else { return PeopleAddCommand() }
        return PeopleAddCommand(name: try Arguments.store(name, "people add"))
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        try run.act(Self.entry.name, .switchStore, SwitchStore(store: name, act: .add))
    }
}
