import Client
import Posix
import ToolTexts
import Wire

/// The window with the daemon behind it: what there is, and what somebody begins.
final class Front {
    private let window: Window
    private let options: Options
    private var worker: Worker?
    private var words = OwnWords.english
    private var page: ScreenPage?
    private var scan: ScanPage?
    private var home: HomePage?
    /// Of the screen that stands.
    private var question: UInt32 = 0
    private var isBusy = false
    /// As it was drawn last.
    private var state: WindowState?
    /// What somebody comes back from, where they have begun it in a section.
    private var begun: HomePage.Begun?

    private static var running: Front?

    static func start(_ window: Window, _ options: Options) {
        let front = Front(window, options)
        running = front
        front.begin()
    }

    private init(_ window: Window, _ options: Options) {
        (self.window, self.options) = (window, options)
    }

    private func begin() {
        window.onEscape { [weak self] in self?.leave() }
        window.onClose { [weak self] in self?.page?.end() }
        window.onActive { [weak self] in self?.lookAgain() }
        window.show(Widget.waiting(""), standard: nil)
        window.present()
        do throws(PosixError) {
            worker = try Worker(options.places) { [weak self] in self?.show($0) }
        } catch {
            return fail(Array(error.description.utf8), [])
        }
        ask({ link throws(ClientError) in try link.texts() }) { [weak self] texts in
            guard let self else { return }
            words = OwnWords { texts }
            if let request = options.errand.request { run(request) } else { goHome() }
        }
    }

    private func text(_ text: ToolText) -> String { String(decoding: words(text), as: UTF8.self) }

    // MARK: What there is

    private struct Refusal: Error {
        let end: WindowEnd
    }

    private func goHome() {
        look { [weak self] state in
            self?.isBusy = false
            self?.draw(state)
        }
    }

    /// Somebody comes back to the window: a store may have been locked meanwhile.
    private func lookAgain() {
        let isIdle: @MainActor @Sendable () -> Bool = { [weak self] in
            self?.home != nil && self?.isBusy == false
        }
        guard isIdle() else { return }
        look(if: isIdle) { [weak self] state in
            if state != self?.state { self?.draw(state) }
        }
    }

    private func look(
        if isWanted: @escaping @MainActor @Sendable () -> Bool = { true },
        _ then: @escaping @MainActor @Sendable (WindowState) -> Void
    ) {
        ask(
            if: isWanted, { link throws(ClientError) in try link.state() }, then: then)
    }

    /// Where it cannot be asked, that is shown instead. What comes when it is not wanted any more, is not.
    private func ask<R: Sendable>(
        if isWanted: @escaping @MainActor @Sendable () -> Bool = { true },
        _ question: @escaping @Sendable (WindowLink) throws(ClientError) -> R,
        then: @escaping @MainActor @Sendable (R) -> Void
    ) {
        worker?.run { link in
            do throws(ClientError) {
                return Result<_, Refusal>.success(try question(link))
            } catch {
                return .failure(Refusal(end: link.refusal(error)))
            }
        } then: { [weak self] result in
            guard isWanted() else { return }
            switch result {
            case .success(let answer): then(answer)
            case .failure(let refusal): self?.end(refusal.end)
            }
        }
    }

    private func draw(_ state: WindowState) {
        page = nil
        self.state = state
        let home = HomePage(state, words) { [weak self] act in
            switch act {
            case .begin(let request, let section):
                self?.begun = section.map { HomePage.Begun(section: $0, request: request) }
                self?.run(request)
            case .check:
                self?.begun = nil
                self?.check()
            }
        }
        self.home = home
        window.show(home.root, standard: home.standard)
        home.focus(after: begun)
        begun = nil
        shoot()
    }

    private func shoot() {
        if let path = options.screenshot { Shot.take(window, path) }
    }

    // MARK: What somebody begins

    private func run(_ request: WindowRequest) {
        guard !isBusy else { return }
        isBusy = true
        home = nil
        wait()
        worker?.run { link in
            link.perform(request)
        } then: { [weak self] end in
            self?.end(end)
        }
    }

    private func check() {
        guard !isBusy else { return }
        isBusy = true
        home = nil
        wait()
        worker?.run { link in
            link.findings()
        } then: { [weak self] findings in
            guard let self else { return }
            isBusy = false
            let lines = [
                Screen.Text(.heading, words(findings.isEmpty ? .windowCheckGood : .windowCheckBad))
            ]
            var document: [Screen.Text] = []
            for finding in findings {
                document.append(Screen.Text(finding.isBroken ? .error : .paragraph, finding.text))
                if !finding.mend.isEmpty { document.append(Screen.Text(.hint, finding.mend)) }
            }
            tell("check", findings.isEmpty ? .done : .warning, lines, document)
        }
    }

    /// The daemon works. What takes no time is not worth a new page.
    private func wait() {
        page?.end()
        let shown = page
        Loop.after(300) { [weak self] in
            guard let self, isBusy, page === shown, scan == nil else { return }
            window.show(Widget.waiting(text(.windowWait)), standard: nil)
        }
    }

    /// What it came to: a line for a moment where it is done, a page where it is not.
    private func end(_ end: WindowEnd) {
        page = nil
        scan = nil
        isBusy = false
        switch end {
        case .done(let lines):
            goHome()
            for line in lines where !line.isEmpty { window.toast(Shown.text(line)) }
        case .cancelled(let message, _):
            goHome()
            if !message.isEmpty { window.toast(Shown.text(message)) }
        case .refused(let message, let hint): fail(message, hint)
        }
    }

    private func fail(_ message: [UInt8], _ hint: [UInt8]) {
        var lines = [
            Screen.Text(.heading, words(.windowFailed)), Screen.Text(.paragraph, message),
        ]
        if !hint.isEmpty { lines.append(Screen.Text(.hint, hint)) }
        tell("failed", .warning, lines, [])
    }

    /// A page of ours, from which it goes on to what there is.
    private func tell(
        _ id: String, _ picture: Screen.Picture, _ lines: [Screen.Text], _ document: [Screen.Text]
    ) {
        var screen = Screen(question: 0, kind: .page, id: Array(id.utf8))
        screen.picture = picture
        screen.lines = lines
        screen.document = document
        screen.choices = [
            Screen.Choice(
                .primary, id: Array("continue".utf8), label: words(.windowContinue))
        ]
        window.endToasts()
        home = nil
        let made = ScreenPage(screen, words, window) { [weak self] _ in self?.goHome() }
        page = made
        window.show(made.root, standard: made.standard)
        made.focus()
        shoot()
    }

    // MARK: An exchange

    private func show(_ next: WindowShow) {
        switch next {
        case .screen(let screen): draw(screen, nil)
        case .reveal(let screen, let secret): draw(screen, secret)
        case .findings(let question, let findings):
            if question == self.question { page?.show(findings) }
        case .note(let line): scan?.note(Shown.text(line))
        case .scan(let scan): draw(scan)
        case .seen(let picture): page?.show(picture)
        case .chooseFile(let question, let title): chooseFile(question, Shown.text(title))
        }
    }

    private func draw(_ screen: Screen, _ secret: Typed?) {
        scan = nil
        window.endToasts()
        question = screen.question
        let made = ScreenPage(screen, words, window, secret: secret) { [weak self] act in
            self?.act(act)
        }
        page = made
        window.show(made.root, standard: made.standard)
        made.focus()
        shoot()
    }

    private func chooseFile(_ question: UInt32, _ title: String) {
        self.question = question
        window.chooseFile(title) { [weak self] path in
            guard let self else { return }
            // Another program may have said it. The kernel knows no longer ones.
            guard let path, path.count < 4096 else { return act(.cancel) }
            let typed = Typed(capacity: Limits.answers)
            typed.append([UInt8(path.count & 0xFF), UInt8(path.count >> 8)])
            typed.append(path)
            act(.answer(choice: 0, item: 0, typed))
        }
    }

    private func act(_ act: ScreenPage.Act) {
        switch act {
        case .draft(let field, let typed):
            worker?.inbox.put(.draft(question: question, field: UInt8(field), typed))
        case .answer(let choice, let item, let typed):
            worker?.inbox.put(
                .answer(question: question, choice: UInt8(choice), item: UInt8(item), typed))
            wait()
        case .cancel:
            worker?.inbox.put(.cancel(question: question))
            wait()
        }
    }

    private func draw(_ next: Scan) {
        if next.event == .ended {
            scan?.note(Shown.text(next.line.text))
            return
        }
        if scan == nil {
            page = nil
            question = next.question
            window.endToasts()
            let made = ScanPage(words) { [weak self] in
                guard let self else { return }
                worker?.inbox.put(.cancel(question: question))
            }
            scan = made
            window.show(made.root, standard: nil)
        }
        question = next.question
        scan?.show(next)
    }

    private func leave() {
        if let scan { return scan.skip() }
        page?.cancel()
    }
}
