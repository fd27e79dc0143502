import Wire

struct PeopleChooseCommand: PlainCommand {
    static let entry = VerbEntry(
        words: ["people", "choose"], group: .people, operands: [],
        summary: "ask who it is, and say only that",
        text: [
            "For a program that opens stores itself: it shows the list, prints the name of the store that somebody takes, and opens and "
                + "locks nothing. Where somebody is to be added, it prints nothing, and the exit status is 1."
        ],
        json: [
            .init("action", "the verb"),
            .init("result", "`switchUser` or `addUser`"),
            .init("code", "45 or 44"),
            .init("to", "the name of the store; null where somebody is to be added"),
        ],
        examples: [
            .init(
                command: "appvault unlock --store \"$(appvault people choose)\"",
                meaning: "one of them")
        ])
    static let offer = RecoveryOffer.never

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        let refused: Refused
        do throws(ClientError) {
            return try run.act(
                Self.entry.name, .switchStore, SwitchStore(store: [], act: .tell))
        } catch .refused(let answer)
            where answer.known == .switchUser || answer.known == .addUser
        {
            refused = answer
        }
        let name = refused.parameters.first { $0.name == Array("to".utf8) }?.value
        switch run.settings.form {
        case .json:
            var json = JSON()
            json.field("action", Self.entry.name)
            json.field("result", name == nil ? "addUser" : "switchUser")
            json.field("code", Int(refused.code))
            json.fieldOrNull("to", name)
            run.voice.print(json.finish())
        case .plain:
            guard let name else { throw .refused(refused) }
            run.voice.print(name + [0x0A])
        }
        return refused.known == .addUser ? refused.exitStatus : .success
    }
}
