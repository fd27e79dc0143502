import Policy
import Posix
import ToolTexts
import Wire

extension Run {
    func policyShow() throws(ClientError) {
        let values = try connect().policy(target())
        switch (settings.form, environment.output.isTerminal) {
        case (.json, _):
            var json = JSON()
            PolicyView.write(values, to: &json)
            voice.print(json.finish())
        case (.plain, true): voice.print(PolicyView.text(values, voice.outputPaint, columns, words))
        case (.plain, false): voice.print(PolicyView.fields(values))
        }
    }

    func actions() throws(ClientError) {
        let list = try connect().actions(target())
        switch (settings.form, environment.output.isTerminal) {
        case (.json, _):
            var json = JSON()
            json.objects("actions", list.actions) { json, action in
                json.field("name", action.name)
                json.field("allowed", action.allowed)
                json.field("code", Int(action.code))
                json.field("reason", action.reason)
                json.field("verb", action.verb)
            }
            voice.print(json.finish())
        case (.plain, true): voice.print(actionLines(list))
        case (.plain, false):
            voice.print(
                list.actions.flatMap { action in
                    let word = action.allowed ? "allowed" : "refused"
                    return Layout.fields([
                        action.name, Array(word.utf8), action.verb, action.reason,
                    ])
                })
        }
    }

    private func actionLines(_ list: ActionList) -> [UInt8] {
        let marks = environment.marks
        let width = (list.actions.map { Layout.width($0.name) }.max() ?? 0) + 2
        var lines = Text()
        for action in list.actions {
            let mark = marks.mark(action.allowed ? .satisfied : .unmet)
            let colour = action.allowed ? Voice.Colour.green : .red
            let indent = Layout.width(Array(mark.utf8)) + 1 + width
            let text =
                action.allowed
                ? (action.verb.isEmpty ? [] : Text("`", action.verb, "`").bytes)
                : (action.reason.isEmpty ? words(.actionRefused) : action.reason)
            lines += Text(
                voice.outputPaint.painted(mark, colour), " ",
                Layout.padded(Printable.escaped(action.name), width),
                Layout.hanging(Printable.escaped(text), indent: indent, columns: columns), "\n")
        }
        return lines.bytes
    }

    func texts() throws(ClientError) {
        let list = try connect().texts()
        switch (settings.form, environment.output.isTerminal) {
        case (.json, _):
            var json = JSON()
            json.objects("texts", list.texts) { json, text in
                json.field("id", text.id)
                json.field("text", text.text)
                json.field("origin", Run.name(text.origin))
            }
            voice.print(json.finish())
        case (.plain, true):
            var lines = Text()
            for text in list.texts {
                let id = String(decoding: Printable.escaped(text.id), as: UTF8.self)
                lines += voice.outputPaint.painted(id, .bold)
                let origin: ToolText? =
                    switch text.origin {
                    case .builtIn: nil
                    case .catalogue: .textCatalogue
                    case .administrator: .textAdministrator
                    }
                if let origin {
                    lines += voice.outputPaint.painted(" (\(words.string(origin)))", .faint)
                }
                let shown = Printable.escaped(text.text)
                lines += Text("\n    ", Layout.hanging(shown, indent: 4, columns: columns), "\n")
            }
            voice.print(lines.bytes)
        case (.plain, false):
            voice.print(
                list.texts.flatMap { text in
                    Layout.fields([text.id, Array(Run.name(text.origin).utf8), text.text])
                })
        }
    }

    private static func name(_ origin: TextList.Entry.Origin) -> String {
        switch origin {
        case .builtIn: "built-in"
        case .catalogue: "catalogue"
        case .administrator: "administrator"
        }
    }

    /// Of the terminal that output goes to.
    var columns: Int {
        let columns = ToolIO.columns(environment.output.descriptor)
        return columns == 0 ? 80 : max(40, columns)
    }
}
