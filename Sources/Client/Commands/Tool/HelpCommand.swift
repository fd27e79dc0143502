struct HelpCommand: Command {
    static let entry = VerbEntry(
        words: ["help"], group: .tool, operands: ["[VERB]"],
        summary: "show help, for one verb too",
        text: ["The same as VERB --help."],
        json: [
            .init("verbs[].name", "the verb"),
            .init("verbs[].synopsis", "how it is called"),
            .init("verbs[].summary", "what it does"),
            .init("verbs[].fields[].name", "a field of what the verb prints with --json"),
            .init("verbs[].fields[].meaning", "what it says"),
        ])
    static let offer = RecoveryOffer.never

    /// The verbs to explain; empty means all.
    var topic: [VerbEntry]
    var verbs: [VerbEntry]

    static func parse(_ arguments: Arguments) throws(UsageError) -> HelpCommand {
        let verbs = arguments.verbs
        let words = arguments.operands.map { String(decoding: $0, as: UTF8.self) }
        if words.isEmpty { return HelpCommand(topic: [], verbs: verbs) }
        if let verb = verbs.named(words) { return HelpCommand(topic: [verb], verbs: verbs) }
        let longer = words.count == 1 ? verbs.beginning(with: words[0]) : []
        guard !longer.isEmpty else { throw .noVerb(words.joined(separator: " "), verbs) }
        return HelpCommand(topic: longer, verbs: verbs)
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        switch run.settings.form {
        case .plain: run.voice.print(Help.pages(topic, of: verbs, run.voice.outputPaint))
        case .json:
            var json = JSON()
            json.objects("verbs", topic.isEmpty ? verbs : topic) { json, verb in
                json.field("name", verb.name)
                json.field("synopsis", verb.synopsis)
                json.field("summary", verb.summary)
                json.objects("fields", verb.json) { json, field in
                    json.field("name", field.name)
                    json.field("meaning", field.meaning)
                }
            }
            run.voice.print(json.finish())
        }
        return .success
    }
}
