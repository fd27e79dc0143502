import Wire

struct ListCommand: Command {
    static let entry = VerbEntry(
        words: ["list"], group: .records, operands: ["[PREFIX]"], summary: "list names",
        text: [
            "One name on each line, sorted. On a terminal control characters are shown as \\xNN; a pipe gets the "
                + "names as they are.",
            "If records are damaged, it lists all others, names the damaged ones on standard error, and ends "
                + "with exit status 6.",
        ],
        json: [
            .init("names[].name", "a name; `nameEncoding` beside it where it is not UTF-8"),
            .init(
                "damaged[].what",
                "`broken`: it cannot be read; `unproven`: it may be older than what was stored last; "
                    + "`missing`: records are missing, or were replaced by older ones"),
            .init("damaged[].name", "its name, or null where it cannot be read"),
            .init("damaged[].id", "its number in the records file, in hexadecimal"),
        ])
    static let offer = RecoveryOffer.hinted

    var prefix: [UInt8]

    static func parse(_ arguments: Arguments) throws(UsageError) -> ListCommand {
        guard let prefix = arguments.operands.first, !prefix.isEmpty else {
            return ListCommand(prefix: [])
        }
        return ListCommand(prefix: try arguments.recordName())
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        var damaged: [DamagedRecords.Entry] = []
        var names = try run.connect().listAll(
            prefix: prefix, store: run.settings.store, damaged: &damaged)
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
            DamageView.write(damaged, to: &json)
            run.voice.print(json.finish())
        }
        return run.tell(damaged, hint: run.words(.damagedHint))
    }
}
