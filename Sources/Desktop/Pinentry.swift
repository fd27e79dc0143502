import Client
import Posix
import ToolTexts
import Wire

/// One question after the other of the program that has started this one, in the words of pinentry.
/// It knows nothing of what is asked for, and keeps nothing of what was answered.
final class Pinentry {
    private let window: Window
    private let words: OwnWords
    private let answered: WaitingList<Void>
    private var page: ScreenPage?
    private var form = AssuanQuestion.Form.message

    /// For as long as the window is there.
    private static var running: Pinentry?

    static func start(_ window: Window) {
        ToolIO.ignoreBrokenPipes()
        guard let answered = try? WaitingList<Void>() else { ToolIO.exit(1) }
        let pinentry = Pinentry(window, answered)
        running = pinentry
        window.shrink()
        window.onEscape { [weak pinentry] in pinentry?.page?.cancel() }
        window.onClose { [weak pinentry] in pinentry?.isLeft() }
        Loop.thread("questions") { hear(answered) }
    }

    private init(_ window: Window, _ answered: WaitingList<Void>) {
        (self.window, self.answered) = (window, answered)
        words = OwnWords.installed(for: Desktop.locale)
    }

    // MARK: What is asked

    /// On a thread of its own, which waits while a question stands.
    private nonisolated static func hear(_ answered: WaitingList<Void>) {
        var heard = SecretBuffer()
        var question = AssuanQuestion()
        say(AssuanQuestion.greeting)
        while let line = line(&heard) {
            switch question.take(line) {
            case .taken: say(AssuanQuestion.taken)
            case .asks(let form):
                let asked = question
                Loop.main { running?.show(asked, form) }
                answered.take()
                question.isAnswered()
            case .over:
                say(AssuanQuestion.taken)
                return end()
            }
        }
        end()
    }

    /// The next line, without its end. Nil where nothing more comes, or what comes is no line.
    private nonisolated static func line(_ heard: inout SecretBuffer) -> [UInt8]? {
        while true {
            var end = 0
            while end < heard.count, heard[end] != 0x0A { end += 1 }
            guard end <= AssuanQuestion.longestLine else { return nil }
            if end < heard.count {
                defer { heard.dropFirst(end + 1) }
                return (0..<end).map { heard[$0] }
            }
            guard let count = try? heard.read(from: 0, atMost: 1024), count > 0 else {
                return nil
            }
        }
    }

    private nonisolated static func end() {
        Loop.main { ToolIO.exit(0) }
    }

    private nonisolated static func say(_ line: String) {
        try? ToolIO.write(1, Array(line.utf8).span)
    }

    private func show(_ question: AssuanQuestion, _ form: AssuanQuestion.Form) {
        self.form = form
        var screen = Screen(
            question: 0, kind: form == .secret ? .form : .page, id: Array("dialog".utf8))
        screen.picture = form == .secret ? .lock : .none
        screen.lines = question.lines.map { Screen.Text(.paragraph, $0) }
        if !question.error.isEmpty { screen.lines.append(Screen.Text(.error, question.error)) }
        let yes = question.yes.isEmpty ? words(.dialogGoOn) : question.yes
        var choice = Screen.Choice(.primary, id: Array("yes".utf8), label: yes)
        if form == .secret {
            screen.formFields = [
                Screen.Field(
                    .secret, id: Array("answer".utf8), label: question.prompt,
                    purpose: .passcode)
            ]
            choice.needs = 1
        }
        screen.choices = [choice]
        if form != .message {
            screen.choices.append(
                Screen.Choice(
                    .cancel, id: Array("no".utf8),
                    label: question.no.isEmpty ? words(.dialogCancel) : question.no))
        }
        let made = ScreenPage(screen, words, window) { [weak self] act in self?.act(act) }
        page = made
        window.show(made.root, standard: made.standard)
        window.present()
        made.focus()
        // Whoever has asked waits for the person from here on; before, they may still ask another program.
        Self.say(AssuanQuestion.shown)
    }

    // MARK: What is answered

    private func act(_ act: ScreenPage.Act) {
        switch act {
        case .draft: break
        case .answer(_, _, let typed):
            // Behind its 16-bit length, as it would stand in an answer to the daemon.
            let secret = Typed(capacity: Limits.secret)
            typed.withSpan { if $0.count > 2 { secret.append($0.extracting(2..<$0.count)) } }
            AssuanQuestion.answer(secret).withSpan { try? ToolIO.write(1, $0) }
            next()
        case .cancel:
            Self.say(form == .choice ? AssuanQuestion.declined : AssuanQuestion.cancelled)
            next()
        }
    }

    private func next() {
        page = nil
        window.hide()
        answered.put(())
    }

    private func isLeft() {
        guard let page else { return }
        page.end()
        self.page = nil
        Self.say(AssuanQuestion.cancelled)
    }
}
