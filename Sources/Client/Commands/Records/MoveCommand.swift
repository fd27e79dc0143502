import Wire

struct MoveCommand: Command {
    static let entry = VerbEntry(
        words: ["move"], group: .records, operands: ["[NAME]..."], options: [.to, .all, .replace],
        summary: "move values into another store",
        text: [
            "As `copy`, and deletes the values here once all of them are stored there. Cut short, a value may be in both "
                + "stores, and never in none."
        ],
        examples: [
            .init(command: "appvault move --all --to mail", meaning: "everything into `mail`")
        ])
    static let offer = RecoveryOffer.hinted

    var load: Carriage

    static func parse(_ arguments: Arguments) throws(UsageError) -> MoveCommand {
        MoveCommand(load: try Carriage(arguments, entry.name))
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        let count = try load.carry(run, Self.entry.name) { name throws(ClientError) in
            try run.connect().delete(name, store: run.settings.store)
        }
        run.finished(Self.entry.name, run.words(count == 1 ? .movedOne : .moved, count))
        return .success
    }
}
