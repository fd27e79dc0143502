import Wire

struct DeleteCommand: Command {
    static let entry = VerbEntry(
        words: ["delete"], group: .records, operands: ["NAME"],
        summary: "remove a name and its value",
        text: ["It does not ask first, and the value cannot be brought back."])
    static let offer = RecoveryOffer.hinted

    var name: [UInt8]

    static func parse(_ arguments: Arguments) throws(UsageError) -> DeleteCommand {
        DeleteCommand(name: try arguments.recordName())
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        try run.connect().delete(name, store: run.settings.store)
        run.finished(Self.entry.name, run.words(.deleteDone, Printable.escaped(name)))
        return .success
    }
}
