import Fleet
import Posix
import ToolTexts
import Wire
import Words

struct DemoScreensCommand: PlainCommand {
    static let entry = VerbEntry(
        words: ["demo", "screens"], group: .tool, operands: [],
        summary: "show each screen that AppVault has, with made-up contents",
        text: [
            "On a terminal one after the other, as they will be; Ctrl-C ends it. It needs no store, and nothing that is typed is kept. "
                + "Into a pipe: name, kind and first line, with tabs between them."
        ],
        json: [
            .init("screens[].id", "its name, also in style sheets"),
            .init("screens[].kind", "`page`, `form`, `document`, `list`, `scan` or `web`"),
            .init("screens[].lines[].role", "such as `heading`"),
            .init("screens[].lines[].text", "what it says"),
            .init("screens[].fields[].label", "what is to be typed"),
            .init("screens[].rules[].wants", "what that has to meet"),
            .init("screens[].document[].role", "the same of what is to be read"),
            .init("screens[].document[].text", "a paragraph of it"),
            .init("screens[].choices[].id", "what can be done"),
            .init("screens[].choices[].label", "what it is called"),
        ])
    static let offer = RecoveryOffer.never

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        let voice = Words.Voice.installed(for: run.environment.language)
        let screens = DemoScreens(voice).all
        guard run.settings.form == .plain else {
            run.voice.print(Self.json(screens))
            return .success
        }
        guard run.isAtTerminal else {
            run.voice.print(
                screens.flatMap { screen in
                    Layout.fields([
                        screen.id, Array("\(screen.kind)".utf8), screen.lines.first?.text ?? [],
                    ])
                })
            return .success
        }
        let talk = ScreenTalk(
            voice: run.voice, words: run.words, answers: run.answers,
            marks: run.environment.marks)
        for screen in screens {
            run.voice.printError(Text("\n--- ", Printable.escaped(screen.id), "\n\n").bytes)
            var typed = SecretBuffer(capacity: Limits.answers)
            do throws(ScreenTalk.End) {
                _ = try talk.run(screen, into: &typed) { (answer, _) throws(ClientError) in
                    DemoScreens.judge(answer, voice)
                }
            } catch {
                switch error {
                case .cancelled, .declined, .tooLong: continue
                case .interrupted, .nobody: return .success
                case .broken(let error): throw error
                }
            }
        }
        return .success
    }

    private static func json(_ screens: [Screen]) -> SecretBuffer {
        func texts(_ json: inout JSON, _ name: String, _ texts: [Screen.Text]) {
            json.objects(name, texts) { json, text in
                json.field("role", "\(text.role)")
                json.field("text", text.text)
            }
        }
        var json = JSON()
        json.objects("screens", screens) { json, screen in
            json.field("id", screen.id)
            json.field("kind", "\(screen.kind)")
            texts(&json, "lines", screen.lines)
            json.objects("fields", screen.formFields) { json, field in
                json.field("label", field.label)
            }
            json.objects("rules", screen.rules) { json, rule in json.field("wants", rule.wants) }
            texts(&json, "document", screen.document)
            json.objects("choices", screen.choices) { json, choice in
                json.field("id", choice.id)
                json.field("label", choice.label)
            }
        }
        return json.finish()
    }
}
