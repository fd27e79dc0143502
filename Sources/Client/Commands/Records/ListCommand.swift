import Wire

struct ListCommand: Command {
    static let entry = VerbEntry(
        words: ["list"], group: .records, operands: ["[PREFIX]"], options: [.secrets],
        summary: "list names",
        text: [
            "One name on each line, sorted. On a terminal control characters are shown as \\xNN; a pipe gets the "
                + "names as they are.",
            "If records are damaged, it lists all others, names the damaged ones on standard error, and ends "
                + "with exit status 6.",
            "With --secrets, it lists what programs of the desktop keep, by label and attributes. No secret is read. "
                + "They are in the store `secrets`, or in the one that --store names. A pipe gets a line for each: its "
                + "id, the label of its collection, its own label, and each attribute as NAME=VALUE, with tabs between "
                + "them.",
        ],
        json: [
            .init("secrets[].id", "with --secrets instead of `names`: its id, in hexadecimal"),
            .init("secrets[].collection", "the label of its collection"),
            .init("secrets[].label", "its label"),
            .init("secrets[].contentType", "what its secret is, as the program says"),
            .init("secrets[].created", "when it was made, in seconds since 1970"),
            .init("secrets[].modified", "when it was changed last"),
            .init("secrets[].attributes[].name", "the name of an attribute"),
            .init("secrets[].attributes[].value", "its value"),
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
    var isOfSecrets = false

    static func parse(_ arguments: Arguments) throws(UsageError) -> ListCommand {
        let isOfSecrets = arguments.has(.secrets)
        guard let prefix = arguments.operands.first, !prefix.isEmpty else {
            return ListCommand(prefix: [], isOfSecrets: isOfSecrets)
        }
        guard !isOfSecrets else {
            throw UsageError(
                Text("--secrets takes no PREFIX"),
                hint: Text("the desktop's secrets have no names"))
        }
        return ListCommand(prefix: try arguments.recordName(), isOfSecrets: false)
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        isOfSecrets ? try listSecrets(run) : try listNames(run)
    }

    /// The store with the desktop's secrets.
    private static let secrets = Array("secrets".utf8)

    private func listSecrets(_ run: Run) throws(ClientError) -> ExitStatus {
        var damaged: [DamagedRecords.Entry] = []
        let store = run.settings.store.isEmpty ? Self.secrets : run.settings.store
        let items = try run.connect().allItems(store: store, damaged: &damaged)
        switch run.settings.form {
        case .plain:
            run.voice.print(
                run.environment.output.isTerminal
                    ? ItemListView.table(items, run.voice, run.words) : ItemListView.lines(items))
        case .json:
            var json = JSON()
            ItemListView.write(items, to: &json)
            DamageView.write(damaged, to: &json)
            run.voice.print(json.finish())
        }
        return run.tell(damaged, hint: run.words(.damagedHint))
    }

    private func listNames(_ run: Run) throws(ClientError) -> ExitStatus {
        var damaged: [DamagedRecords.Entry] = []
        let names = try run.connect().listAll(
            prefix: prefix, store: run.settings.store, damaged: &damaged)
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
