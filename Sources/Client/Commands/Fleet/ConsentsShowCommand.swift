import Posix
import ToolTexts
import Wire

struct ConsentsShowCommand: PlainCommand {
    static let entry = VerbEntry(
        words: ["consents", "show"], group: .fleet, operands: [],
        summary: "show what you are to agree to, and what you said",
        text: [
            "Into a pipe: id, `licence`, `required` or `optional`, version, `yes`, `no` or `open`, when (seconds since 1970), and the "
                + "title, with tabs between them."
        ],
        json: [
            .init("organisation", "who asks; empty where the machine has joined none"),
            .init("consents[].id", "its name"),
            .init("consents[].kind", "`licence`, `required` or `optional`"),
            .init("consents[].title", "what it is about"),
            .init("consents[].version", "of what is asked now"),
            .init("consents[].answer", "`yes`, `no` or `open`"),
            .init("consents[].answeredAt", "seconds since 1970; 0 where it is open"),
        ])
    static let offer = RecoveryOffer.never

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        let list = try run.connect().ask(.consents, Empty(), for: .consentList, ConsentList.self)
        switch (run.settings.form, run.environment.output.isTerminal) {
        case (.json, _): run.voice.print(Self.json(list))
        case (.plain, true): run.voice.print(lines(list, run))
        case (.plain, false):
            run.voice.print(
                list.items.flatMap { item in
                    Layout.fields([
                        item.id, Array(Self.name(item.kind).utf8), Text(UInt64(item.version)).bytes,
                        Array(Self.name(item.answer).utf8), Text(item.answeredAt).bytes, item.title,
                    ])
                })
        }
        return .success
    }

    private func lines(_ list: ConsentList, _ run: Run) -> [UInt8] {
        guard !list.items.isEmpty else { return run.words(.consentsNone) + [0x0A] }
        return list.items.flatMap { item in
            let mark = run.environment.marks.mark(
                item.answer == .yes ? .satisfied : item.answer == .no ? .unmet : .notChecked)
            let said = Self.said(item, run.words) ?? run.words(.consentsOpen)
            return Text("  \(mark) ", Printable.escaped(item.title), ": ", said, "\n").bytes
        }
    }

    /// Nil where it was not answered yet.
    static func said(_ item: ConsentList.Item, _ words: OwnWords) -> [UInt8]? {
        switch item.answer {
        case .open: nil
        case .yes: words(.consentsYes, ToolIO.localTime(item.answeredAt))
        case .no: words(.consentsNo, ToolIO.localTime(item.answeredAt))
        }
    }

    private static func json(_ list: ConsentList) -> SecretBuffer {
        var json = JSON()
        json.field("organisation", list.organisation)
        json.objects("consents", list.items) { json, item in
            json.field("id", item.id)
            json.field("kind", name(item.kind))
            json.field("title", item.title)
            json.field("version", UInt64(item.version))
            json.field("answer", name(item.answer))
            json.field("answeredAt", item.answeredAt)
        }
        return json.finish()
    }

    private static func name(_ kind: ConsentList.Item.Kind) -> String {
        switch kind {
        case .licence: "licence"
        case .required: "required"
        case .optional: "optional"
        }
    }

    private static func name(_ answer: ConsentList.Item.Answer) -> String {
        switch answer {
        case .open: "open"
        case .yes: "yes"
        case .no: "no"
        }
    }
}
