import ToolTexts
import Wire

struct TextsCommand: PlainCommand {
    static let entry = VerbEntry(
        words: ["texts"], group: .policy, operands: [],
        summary: "list all texts, with their ids",
        text: [
            "In your language. The administrator replaces any of them by its id in the section [Texts] of the "
                + "policy file; see appvault-policy.conf(5).",
            "Into a pipe: id, origin and text, with tabs between them.",
        ],
        json: [
            .init("texts[].id", "the id"),
            .init("texts[].text", "the text; {1}, {2} are where arguments go"),
            .init("texts[].origin", "`built-in`, `catalogue` or `administrator`"),
        ])
    static let offer = RecoveryOffer.never

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        let list = try run.connect().texts()
        switch (run.settings.form, run.environment.output.isTerminal) {
        case (.json, _):
            var json = JSON()
            json.objects("texts", list.texts) { json, text in
                json.field("id", text.id)
                json.field("text", text.text)
                json.field("origin", Self.name(text.origin))
            }
            run.voice.print(json.finish())
        case (.plain, true):
            var lines = Text()
            for text in list.texts {
                let id = String(decoding: Printable.escaped(text.id), as: UTF8.self)
                lines += run.voice.outputPaint.painted(id, .bold)
                let origin: ToolText? =
                    switch text.origin {
                    case .builtIn: nil
                    case .catalogue: .textCatalogue
                    case .administrator: .textAdministrator
                    }
                if let origin {
                    lines += run.voice.outputPaint.painted(" (\(run.words.string(origin)))", .faint)
                }
                let shown = Printable.escaped(text.text)
                lines += Text(
                    "\n    ", Layout.hanging(shown, indent: 4, columns: run.columns), "\n")
            }
            run.voice.print(lines.bytes)
        case (.plain, false):
            run.voice.print(
                list.texts.flatMap { text in
                    Layout.fields([text.id, Array(Self.name(text.origin).utf8), text.text])
                })
        }
        return .success
    }

    private static func name(_ origin: TextList.Entry.Origin) -> String {
        switch origin {
        case .builtIn: "built-in"
        case .catalogue: "catalogue"
        case .administrator: "administrator"
        }
    }
}
