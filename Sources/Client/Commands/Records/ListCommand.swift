import Wire

struct ListCommand: Command {
    static let entry = VerbEntry(
        words: ["list"], group: .records, operands: ["[PREFIX]"], summary: "list names",
        text: [
            "One a line, sorted. On a terminal control characters are shown as \\xNN; into a pipe names go "
                + "as they are."
        ],
        json: [.init("names[].name", "a name; `nameEncoding` beside it where it is not UTF-8")])
    static let offer = RecoveryOffer.hinted

    var prefix: [UInt8]

    static func parse(_ arguments: Arguments) throws(UsageError) -> ListCommand {
        guard let prefix = arguments.operands.first, !prefix.isEmpty else {
            return ListCommand(prefix: [])
        }
        return ListCommand(prefix: try arguments.recordName())
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        let connection = try run.connect()
        var names: [[UInt8]] = []
        var cursor: UInt64 = 0
        repeat {
            let page = try connection.list(
                prefix: prefix, store: run.settings.store, cursor: cursor)
            names += page.names
            cursor = page.cursor
        } while cursor != 0
        names.sort { $0.lexicographicallyPrecedes($1) }
        switch run.settings.form {
        case .plain:
            var text: [UInt8] = []
            for name in names {
                text +=
                    (run.environment.output.isTerminal ? Printable.escaped(name) : name) + [0x0A]
            }
            run.voice.print(text)
        case .json:
            var json = JSON()
            json.objects("names", names) { json, name in json.field("name", name) }
            run.voice.print(json.finish())
        }
        return .success
    }
}
