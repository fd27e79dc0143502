import Wire

struct RenameCommand: Command {
    static let entry = VerbEntry(
        words: ["rename"], group: .store, operands: ["STORE", "NAME"], options: [.user],
        summary: "give a store another name",
        text: [
            "The store `default` keeps its name, because logins open it by that name. Applications that name the store "
                + "have to be told the new name."
        ],
        examples: [.init(command: "appvault rename mail post", meaning: "`mail` is called `post`")])
    static let offer = RecoveryOffer.never

    var store: [UInt8]
    var name: [UInt8]

    static func parse(_ arguments: Arguments) throws(UsageError) -> RenameCommand {
        RenameCommand(
            store: try Arguments.store(arguments.operands[0], "rename"),
            name: try Arguments.store(arguments.operands[1], "rename"))
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        var target = try run.target()
        target.store = store
        return try run.act(Self.entry.name, .rename, Rename(target: target, name: name))
    }
}
