import Posix
import ToolTexts
import Wire

/// One exchange with the daemon, as a window has it: screens as they are, and every question as a
/// screen of one field.
struct WindowTalk {
    let connection: Connection
    let words: OwnWords
    /// What the person has begun.
    let title: [UInt8]
    let inbox: Inbox
    let show: @Sendable (WindowShow) -> Void
    /// As in a terminal's conversation.
    let prove: ((inout SecretBuffer) -> LoginProof.Verdict)?

    func finish<B: Body>(_ type: RequestType, _ body: B) throws(ClientError) -> [[UInt8]] {
        try connection.send(type, body)
        var notes: [Screen.Text] = []
        var secret: (line: [UInt8], typed: Typed)?
        defer { connection.leaveWindow() }
        while true {
            let type = try connection.receive()
            switch type {
            case .done:
                let done = try connection.read(Done.self)
                connection.release()
                return notes.map(\.text) + [done.line.text]
            case .show:
                let line = try connection.read(Show.self)
                guard !line.line.text.isEmpty else { continue }
                notes.append(
                    Screen.Text(line.style == .error ? .error : .paragraph, line.line.text))
                show(.note(line.line.text))
            case .scan:
                let scan = try connection.read(Scan.self)
                switch scan.event {
                case .place: try connection.watch(inbox, scan.question)
                case .ended: connection.leaveWindow()
                case .stage, .retry: break
                }
                show(.scan(scan))
            case .reveal:
                let (reveal, slice) = try connection.readPayload(
                    Reveal.self, limit: Limits.secret)
                let typed = Typed(capacity: Limits.secret)
                connection.withPayload(slice) { typed.append($0) }
                secret = (reveal.line.text, typed)
            case .ask:
                let ask = try connection.read(Ask.self)
                connection.release()
                connection.leaveWindow()
                if let (line, typed) = secret, ask.purpose == .acknowledge {
                    secret = nil
                    show(.reveal(secretPage(ask, line), typed))
                    try acknowledge(ask)
                } else {
                    try reply(ask, notes)
                }
                notes = []
            case .screen:
                var screen = try connection.read(Screen.self)
                connection.release()
                connection.leaveWindow()
                screen.add(notes)
                let isProven = prove != nil && screen.formFields.count == 1
                if isProven, screen.formFields[0].purpose == .loginPassword {
                    try answerProven(screen)
                } else {
                    show(.screen(screen))
                    try answer(screen)
                }
                notes = []
            case .refused: throw try connection.refusal(type)
            case .welcome, .working, .verdict, .state, .actionList, .value, .names, .damaged,
                .chunk, .progress, .policyValues, .checklist, .preview, .textList,
                .fingerprintState, .token, .healthReport, .event, .appPolicy, .storeList,
                .memberList, .item, .itemList, .secrets, .itemNews, .collection, .fleetState,
                .findings, .consentList:
                throw .protocolBroken(.unexpected(type: type.rawValue))
            }
        }
    }

    // MARK: Screens

    private func answer(_ screen: Screen) throws(ClientError) {
        while let said = try wait(screen.question) {
            switch said {
            case .draft(_, let field, let typed):
                guard typed.count <= Limits.secret else { continue }
                try typed.withSpan { span throws(ClientError) in
                    try connection.send(
                        Draft(question: screen.question, field: field), payload: span)
                }
                let findings = try connection.expect(.findings, Findings.self)
                show(.findings(question: screen.question, findings.entries))
            case .answer(_, let choice, let item, let typed):
                return try typed.withSpan { span throws(ClientError) in
                    try connection.send(
                        Answer(question: screen.question, choice: choice, item: item),
                        payload: span)
                }
            // The daemon may have more to say.
            case .cancel: return try leave(screen.question)
            }
        }
    }

    private func leave(_ question: UInt32) throws(ClientError) {
        try connection.send(Abort(question: question, reason: .cancelled))
    }

    private func answerProven(_ screen: Screen) throws(ClientError) {
        let number = screen.question
        guard case .answer(_, let choice, let item, let answer)? = try proven(screen) else {
            return
        }
        try answer.withSpan { span throws(ClientError) in
            try connection.send(
                Answer(question: number, choice: choice, item: item), payload: span)
        }
    }

    /// A mistyped login password would become what opens the store, so nothing is sent before it was
    /// proven. Nil where it is over: the person has left, or the daemon has said something meanwhile.
    private func proven(_ screen: Screen) throws(ClientError) -> Inbox.Said? {
        var shown = screen
        for _ in 1...3 {
            guard let said = try filled(shown), case .answer(_, _, _, let answer) = said else {
                return nil
            }
            let typed = Self.only(answer)
            switch try verdict(typed, screen.question) {
            case .proven: return said
            case .wrong: shown = screen.with(Screen.Text(.error, words(.loginWrong)))
            case .notInstalled:
                // Twice, then, as nothing here can check it.
                shown = screen.with(Screen.Text(.paragraph, words(.loginNoService)))
                shown.formFields[0].label = words(.loginAgain)
                guard case .answer(_, _, _, let again)? = try filled(shown) else { return nil }
                if Self.only(again).isEqual(to: typed) { return said }
                shown = screen.with(Screen.Text(.error, words(.loginDiffer)))
            }
        }
        throw try thrice(screen.question)
    }

    /// What Enter sends of it; nil where it is over, and the daemon knows.
    private func filled(_ screen: Screen) throws(ClientError) -> Inbox.Said? {
        show(.screen(screen))
        while let said = try wait(screen.question) {
            switch said {
            case .draft: break
            case .answer(_, let choice, _, _):
                let place = Int(choice)
                if screen.choices.indices.contains(place),
                    screen.choices[place].role == .primary
                {
                    return said
                }
                try leave(screen.question)
                return nil
            case .cancel:
                try leave(screen.question)
                return nil
            }
        }
        return nil
    }

    private enum Proof { case proven, wrong, notInstalled }

    private func verdict(_ typed: Typed, _ question: UInt32) throws(ClientError) -> Proof {
        guard let prove else { return .proven }
        switch typed.withBuffer(prove) {
        case .proven: return .proven
        case .wrong: return .wrong
        case .notInstalled: return .notInstalled
        case .failed(let reason):
            try connection.send(Abort(question: question, reason: .conversationFailed))
            try drain()
            throw .refused(
                Refused(
                    .serviceUnavailable, words(.loginFailed, reason),
                    hint: words(.loginFailedHint)))
        }
    }

    private func thrice(_ question: UInt32) throws(ClientError) -> ClientError {
        try leave(question)
        try drain()
        return .refused(
            Refused(.invalidPasscode, words(.loginThrice), hint: words(.loginThriceHint)))
    }

    // MARK: Questions

    private func reply(_ ask: Ask, _ notes: [Screen.Text]) throws(ClientError) {
        switch ask.purpose {
        case .acknowledge:
            show(.screen(page(ask, notes + [Screen.Text(.paragraph, Self.plain(ask.line.text))])))
            try acknowledge(ask)
        case .choice: try choose(ask, notes)
        case .loginPassword:
            let screen = form(ask, notes, ask.line.text)
            guard case .answer(_, _, _, let answer)? = try proven(screen) else { return }
            try send(ask, Self.only(answer))
        case .passcode, .newPasscode, .confirmPasscode, .passphrase, .newPassphrase,
            .confirmPassphrase, .recoveryKey, .former:
            show(.screen(form(ask, notes, ask.line.text)))
            guard let typed = try typed(ask) else { return }
            try send(ask, typed)
        }
    }

    private func acknowledge(_ ask: Ask) throws(ClientError) {
        switch try wait(ask.question) {
        case nil: return
        case .cancel: try cancel(ask.question)
        case .answer, .draft:
            try connection.send(Reply(question: ask.question), payload: Span())
        }
    }

    private func choose(_ ask: Ask, _ notes: [Screen.Text]) throws(ClientError) {
        var screen = frame(ask, .page, notes + [Screen.Text(.paragraph, Self.plain(ask.line.text))])
        screen.choices = [
            choice(.primary, "yes", .windowYes), choice(.other, "no", .windowNo),
            choice(.cancel, "cancel", .windowCancel),
        ]
        show(.screen(screen))
        switch try wait(ask.question) {
        case nil: return
        case .cancel, .draft: try cancel(ask.question)
        case .answer(_, let choice, _, _):
            let word: [UInt8] = Array((choice == 0 ? "y" : "n").utf8)
            try connection.send(Reply(question: ask.question), payload: word.span)
        }
    }

    /// Nil where it is over already.
    private func typed(_ ask: Ask) throws(ClientError) -> Typed? {
        switch try wait(ask.question) {
        case nil, .draft: return nil
        case .cancel:
            try cancel(ask.question)
            return nil
        case .answer(_, _, _, let typed): return Self.only(typed)
        }
    }

    /// What was typed into the only field of a screen: it stands behind its length.
    private static func only(_ answer: Typed) -> Typed {
        let only = Typed(capacity: Limits.secret)
        answer.withSpan { span in if span.count > 2 { only.append(span.extracting(2...)) } }
        return only
    }

    private func send(_ ask: Ask, _ typed: Typed) throws(ClientError) {
        try typed.withSpan { span throws(ClientError) in
            try connection.send(Reply(question: ask.question), payload: span)
        }
    }

    // MARK: Leaving

    private func cancel(_ question: UInt32) throws(ClientError) {
        try leave(question)
        let told = try drain()
        throw .refused(
            told.map {
                Refused(
                    .cancelled, $0.message.isEmpty ? words(.cancelled) : $0.message, hint: $0.hint)
            } ?? Refused(.cancelled, words(.cancelled)))
    }

    /// Until the daemon has put everything away.
    @discardableResult
    private func drain() throws(ClientError) -> Refused? {
        while true {
            let type = try connection.receive()
            if type == .refused { return try connection.read(Refused.self) }
            guard type == .show else { return nil }
        }
    }

    /// What the person does with the question; nil where the daemon has said something meanwhile.
    private func wait(_ question: UInt32) throws(ClientError) -> Inbox.Said? {
        while true {
            if let said = inbox.next(question) { return said }
            guard connection.waitForPerson(inbox.bell) else { return nil }
        }
    }

    // MARK: Screens for what is none

    private func frame(_ ask: Ask, _ kind: Screen.Kind, _ lines: [Screen.Text]) -> Screen {
        var screen = Screen(question: ask.question, kind: kind, id: Array("question".utf8))
        screen.lines = Array(
            ([Screen.Text(.heading, title)] + lines).prefix(Limits.screenLines))
        return screen
    }

    private func page(_ ask: Ask, _ lines: [Screen.Text]) -> Screen {
        var screen = frame(ask, .page, lines)
        screen.choices = [choice(.primary, "continue", .windowContinue)]
        return screen
    }

    private func secretPage(_ ask: Ask, _ line: [UInt8]) -> Screen {
        var screen = page(ask, [Screen.Text(.paragraph, line)])
        screen.id = Array("secret".utf8)
        screen.picture = .key
        screen.lines[0] = Screen.Text(.heading, words(.windowSecret))
        return screen
    }

    private func form(_ ask: Ask, _ notes: [Screen.Text], _ label: [UInt8]) -> Screen {
        var screen = frame(ask, .form, notes)
        screen.picture = .key
        screen.formFields = [
            Screen.Field(
                ask.echo ? .text : .secret, id: Array("answer".utf8), label: label,
                purpose: ask.purpose)
        ]
        screen.choices = [
            Screen.Choice(
                .primary, id: Array("continue".utf8), label: words(.windowContinue), needs: 1),
            choice(.cancel, "cancel", .windowCancel),
        ]
        return screen
    }

    private func choice(
        _ role: Screen.Choice.Role, _ id: String, _ label: ToolText
    ) -> Screen.Choice {
        Screen.Choice(role, id: Array(id.utf8), label: words(label))
    }

    /// Without what a terminal needs: the letters to be typed, and the space behind them.
    private static func plain(_ prompt: [UInt8]) -> [UInt8] {
        var text = prompt
        while text.last == 0x20 { text.removeLast() }
        if text.last == UInt8(ascii: "]"), let open = text.lastIndex(of: UInt8(ascii: "[")) {
            text.removeSubrange(open...)
        }
        while text.last == 0x20 || text.last == 0x3A { text.removeLast() }
        return text
    }
}

extension Screen {
    fileprivate func with(_ line: Screen.Text) -> Screen {
        var screen = self
        screen.add([line])
        return screen
    }

    /// What was said before it, below its heading, unless it says that itself.
    fileprivate mutating func add(_ notes: [Screen.Text]) {
        let new = notes.filter { note in !lines.contains { $0.text == note.text } }
        let place = lines.first?.role == .heading ? 1 : 0
        lines.insert(contentsOf: new.prefix(max(0, Limits.screenLines - lines.count)), at: place)
    }
}

extension Typed {
    func isEqual(to other: Typed) -> Bool {
        withBuffer { mine in other.withBuffer { mine.isEqual(to: $0) } }
    }
}
