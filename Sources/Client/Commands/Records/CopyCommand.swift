import Wire

struct CopyCommand: Command {
    static let entry = VerbEntry(
        words: ["copy"], group: .records, operands: ["[NAME]..."],
        options: [.to, .all, .replace],
        summary: "copy values into another store",
        text: [
            "It copies the values of these names, or with --all everything, from your store (or that of --store) into the "
                + "one that --to names. If a name exists there already, it copies nothing, unless you give --replace."
        ],
        examples: [
            .init(command: "appvault copy imap smtp --to mail", meaning: "two values into `mail`")
        ])
    static let offer = RecoveryOffer.hinted

    var load: Carriage

    static func parse(_ arguments: Arguments) throws(UsageError) -> CopyCommand {
        CopyCommand(load: try Carriage(arguments, entry.name))
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        let count = try load.carry(run, Self.entry.name)
        run.finished(Self.entry.name, run.words(count == 1 ? .copiedOne : .copied, count))
        return .success
    }
}
