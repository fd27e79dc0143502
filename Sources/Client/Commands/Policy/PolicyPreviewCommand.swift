import Wire

struct PolicyPreviewCommand: Command {
    static let entry = VerbEntry(
        words: ["policy", "preview"], group: .policy, operands: ["FILE|-"], options: [.user],
        summary: "show who would have to do what under a new policy.conf",
        text: [
            "For each store: which change its owner would have to make at the next unlock, and whether that is certain or "
                + "depends on the present passcode. It also names the applications that would be locked in another way "
                + "with that store. Root sees all stores, everybody else their own. It changes nothing.",
            "Into a pipe: owner, store, flows, certainty and reason, with tabs between them.",
        ],
        json: [
            .init("total", "how many stores there are, also where not all are listed"),
            .init("stores[].store", "the store's id"),
            .init("stores[].owner", "the account's name"),
            .init("stores[].name", "the store's name"),
            .init("stores[].flows[].number", "1 to 7"),
            .init("stores[].flows[].name", "`create`, `change` and so on"),
            .init(
                "stores[].certainty", "`certain` or `if-short`: only where the passcode falls short"
            ),
            .init("stores[].reason", "why, for a person"),
        ],
        examples: [
            .init(
                command: "appvault policy preview new.conf",
                meaning: "whom it would ask for a new passcode")
        ])
    static let offer = RecoveryOffer.never

    var file: FileOperand

    static func parse(_ arguments: Arguments) -> PolicyPreviewCommand {
        PolicyPreviewCommand(file: FileOperand(arguments.operands[0]))
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        let (name, text) = try run.text(of: file)
        // If no person is named, root asks about all; others can only ask about themselves.
        let subject = try run.target().subject
        let shown = name.count <= Limits.line ? name : Array(name.suffix(Limits.line))
        let connection = try run.connect()
        try connection.send(
            .policyPreview, PolicyPreview(subject: subject, file: shown), payload: text.span)
        let preview = try connection.expect(.preview, Preview.self)
        switch (run.settings.form, run.environment.output.isTerminal) {
        case (.json, _):
            var json = JSON()
            json.field("total", Int(preview.total))
            json.objects("stores", preview.stores) { json, store in
                json.field("store", StoreIDText.text(store.store))
                json.field("owner", store.owner)
                json.field("name", store.name.isEmpty ? Array("default".utf8) : store.name)
                json.objects("flows", store.flows) { json, flow in
                    json.field("number", Int(flow))
                    json.field("name", FlowWords.name(flow))
                }
                json.field("certainty", store.certainty == .certain ? "certain" : "if-short")
                json.field("reason", store.reason)
            }
            run.voice.print(json.finish())
        case (.plain, true): run.voice.print(lines(preview, run))
        case (.plain, false):
            run.voice.print(
                preview.stores.flatMap { store in
                    let flows = store.flows.map { FlowWords.name($0) }.joined(separator: " ")
                    let certainty = store.certainty == .certain ? "certain" : "if-short"
                    return Layout.fields([
                        store.owner, store.name.isEmpty ? Array("default".utf8) : store.name,
                        Array(flows.utf8), Array(certainty.utf8), store.reason,
                    ])
                })
        }
        let missing = Int(preview.total) - preview.stores.count
        if missing > 0, run.settings.form == .plain {
            run.voice.info(run.words(.previewMore, missing))
        }
        return .success
    }

    private func lines(_ preview: Preview, _ run: Run) -> [UInt8] {
        guard !preview.stores.isEmpty else { return run.words(.previewNone) + [0x0A] }
        var text = Text()
        let names = preview.stores.map { store in
            let name = store.name.isEmpty ? Array("default".utf8) : store.name
            return Text(Printable.escaped(store.owner), " (", Printable.escaped(name), ")").bytes
        }
        let width = min(32, names.map(Layout.width).max() ?? 0) + 2
        for (name, store) in zip(names, preview.stores) {
            var flows = FlowWords.words(store.flows, run.words)
            if store.certainty == .ifFallsShort, !store.flows.isEmpty {
                flows = run.words(.previewIfShort, flows)
            }
            text += Text(
                Layout.padded(name, width - 2), "  ",
                Layout.hanging(flows, indent: width, columns: run.columns), "\n")
            if !store.reason.isEmpty {
                let reason = Layout.wrapped(
                    Printable.escaped(store.reason), max(20, run.columns - width))
                for line in reason {
                    let shown = String(decoding: line, as: UTF8.self)
                    text += Text(
                        Layout.spaces(width), run.voice.outputPaint.painted(shown, .faint), "\n")
                }
            }
        }
        return text.bytes
    }
}
