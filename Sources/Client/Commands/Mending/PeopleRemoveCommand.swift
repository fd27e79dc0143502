import Wire

struct PeopleRemoveCommand: Command {
    static let entry = VerbEntry(
        words: ["people", "remove"], group: .people, operands: ["NAME"],
        summary: "erase somebody's store, and everything in it",
        text: [
            "It is `reset` for the store NAME, with all its rules: it says what is lost, you type the name, and then polkit asks for your "
                + "login password, or `reset` asks for the passcode of that store."
        ],
        examples: [.init(command: "appvault people remove Ben", meaning: "Ben moves out")])
    static let offer = RecoveryOffer.never

    var name: [UInt8]

    static func parse(_ arguments: Arguments) throws(UsageError) -> PeopleRemoveCommand {
        PeopleRemoveCommand(
            name: try Arguments.store(arguments.operands.first ?? [], "people remove"))
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        let status = try ResetCommand.reset(Target(store: name), Self.entry.name, run)
        if run.settings.form == .plain, run.isAtTerminal, try run.connect().people().isEmpty {
            run.voice.hint(run.words(.nextWelcome))
        }
        return status
    }
}
