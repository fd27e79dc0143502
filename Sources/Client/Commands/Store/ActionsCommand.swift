import Wire

struct ActionsCommand: PlainCommand {
    static let entry = VerbEntry(
        words: ["actions"], group: .store, operands: [], options: [.user],
        summary: "show what you can do now, what not, and why",
        text: [
            "For each action of a store: whether it is allowed or refused, why, and which command does it. The policy, the "
                + "state of the store and the hardware decide.",
            "Into a pipe: name, `allowed` or `refused`, verb and reason, with tabs between them.",
        ],
        json: [
            .init("actions[].name", "`create-passcode`, `change-passcode` and so on"),
            .init("actions[].allowed", "whether it would be done now"),
            .init(
                "actions[].code", "the code that it would be refused with; 0 where it is allowed"),
            .init("actions[].reason", "why it is refused; may be empty"),
            .init("actions[].verb", "the command that performs it; may be empty"),
        ])
    static let offer = RecoveryOffer.hinted

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        let list = try run.connect().ask(
            .actions, run.target(), for: .actionList, ActionList.self)
        switch (run.settings.form, run.environment.output.isTerminal) {
        case (.json, _):
            var json = JSON()
            json.objects("actions", list.actions) { json, action in
                json.field("name", action.name)
                json.field("allowed", action.allowed)
                json.field("code", Int(action.code))
                json.field("reason", action.reason)
                json.field("verb", action.verb)
            }
            run.voice.print(json.finish())
        case (.plain, true): run.voice.print(lines(list, run))
        case (.plain, false):
            run.voice.print(
                list.actions.flatMap { action in
                    let word = action.allowed ? "allowed" : "refused"
                    return Layout.fields([
                        action.name, Array(word.utf8), action.verb, action.reason,
                    ])
                })
        }
        return .success
    }

    private func lines(_ list: ActionList, _ run: Run) -> [UInt8] {
        let marks = run.environment.marks
        let width = (list.actions.map { Layout.width($0.name) }.max() ?? 0) + 2
        var lines = Text()
        for action in list.actions {
            let mark = marks.mark(action.allowed ? .satisfied : .unmet)
            let colour = action.allowed ? Voice.Colour.green : .red
            let indent = Layout.width(Array(mark.utf8)) + 1 + width
            let text =
                action.allowed
                ? (action.verb.isEmpty ? [] : Text("`", action.verb, "`").bytes)
                : (action.reason.isEmpty ? run.words(.actionRefused) : action.reason)
            lines += Text(
                run.voice.outputPaint.painted(mark, colour), " ",
                Layout.padded(Printable.escaped(action.name), width),
                Layout.hanging(Printable.escaped(text), indent: indent, columns: run.columns), "\n")
        }
        return lines.bytes
    }
}
