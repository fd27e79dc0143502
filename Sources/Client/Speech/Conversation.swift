import Posix
import ToolTexts
import Wire

/// One exchange with the daemon, rendered for a person or answered for a script: what is shown,
/// what is asked, how it ends. Every verb goes through here.
struct Conversation {
    let connection: Connection
    let voice: Voice
    let words: OwnWords
    let answers: Answers
    /// Checks a login password before it leaves this process, whatever it is asked for: a mistyped one would
    /// otherwise become what opens the store. Nil if this account has no name.
    var prove: ((inout SecretBuffer) -> LoginProof.Verdict)?
    /// Of what the terminal can show.
    var marks = Marks.ascii
    /// Whoever leaves a new passcode empty wants none, and what it would be for is not made.
    var emptyDeclines = false

    /// Sends the request and goes on until the daemon ends the exchange with an answer that is not
    /// a refusal. That answer can still be read from the connection.
    func run<B: Body>(_ type: RequestType, _ body: B) throws(ClientError) -> AnswerType {
        try connection.send(type, body)
        return try converse()
    }

    func run<B: Body>(_ type: RequestType, _ body: B, payload: Span<UInt8>) throws(ClientError)
        -> AnswerType
    {
        try connection.send(type, body, payload: payload)
        return try converse()
    }

    /// Runs the exchange to its end and returns the line that says what was done.
    func finish<B: Body>(_ type: RequestType, _ body: B) throws(ClientError) -> [UInt8] {
        try doneLine(run(type, body))
    }

    func doneLine(_ type: AnswerType) throws(ClientError) -> [UInt8] {
        guard type == .done else { throw .protocolBroken(.unexpected(type: type.rawValue)) }
        let done = try connection.read(Done.self)
        connection.release()
        return done.line.text
    }

    /// What the daemon sends in an exchange. Any other answer ends it.
    private enum Step {
        case show, scan, reveal, ask, screen, refused

        init?(_ type: AnswerType) {
            switch type {
            case .show: self = .show
            case .scan: self = .scan
            case .reveal: self = .reveal
            case .ask: self = .ask
            case .screen: self = .screen
            case .refused: self = .refused
            case .welcome, .working, .done, .verdict, .state, .actionList, .value, .names,
                .damaged, .chunk,
                .progress, .policyValues, .checklist, .preview, .textList, .fingerprintState,
                .token, .healthReport, .event, .appPolicy, .storeList,
                .memberList, .item, .itemList, .secrets, .itemNews, .collection,
                .fleetState, .findings, .consentList:
                return nil
            }
        }
    }

    /// Goes on after an answer that another one follows.
    func goOn() throws(ClientError) -> AnswerType {
        connection.release()
        return try converse()
    }

    private func converse() throws(ClientError) -> AnswerType {
        var shown: [UInt8] = []
        var hasRevealed = false
        let view = ScanView(voice, words)
        // A dialog that was opened for a scan.
        var dialog: Dialog?
        defer {
            dialog?.end(.overtaken)
            connection.leaveDialog()
            connection.leaveKeys()
            view.end()
        }
        while true {
            let type = try connection.receive()
            guard let step = Step(type) else { return type }
            switch step {
            case .show:
                let show = try connection.read(Show.self)
                view.clear()
                switch show.style {
                case .info: break
                case .error: shown = show.line.text
                }
                tell(show.line.text, show.style)
                view.draw()
            case .scan: try scan(try connection.read(Scan.self), view, &dialog)
            case .reveal:
                try reveal()
                hasRevealed = true
            case .ask:
                let ask = try connection.read(Ask.self)
                connection.leaveKeys()
                connection.leaveDialog()
                view.end()
                let begun = dialog.take()
                if hasRevealed, ask.purpose == .acknowledge {
                    // The daemon asks whether the secret was shown, and it was.
                    hasRevealed = false
                    try connection.send(Reply(question: ask.question), payload: Span())
                } else {
                    try reply(to: ask, shown: shown, begun)
                }
            case .screen:
                let screen = try connection.read(Screen.self)
                connection.release()
                connection.leaveKeys()
                view.end()
                try draw(screen)
            case .refused: throw try connection.refusal(type)
            }
        }
    }

    /// Tells the person, wherever they read.
    func tell(_ line: [UInt8], _ style: Show.Style) {
        switch style {
        case .info: voice.info(line)
        case .error: voice.error(line)
        }
        answers.dialogs?.note(line, style)
    }

    private func scan(_ scan: Scan, _ view: ScanView, _ dialog: inout Dialog?)
        throws(ClientError)
    {
        switch scan.event {
        // Before the line is shown, so that Enter works as soon as the person reads it.
        case .place:
            if answers.kind == .terminal { connection.watchKeys(scan.question) }
            if let dialogs = answers.dialogs {
                let open =
                    dialog
                    ?? (scan.takesPasscode
                        ? dialogs.beginSecret(scan.line.text) : dialogs.beginWait(scan.line.text))
                dialog = open
                try connection.watch(open, scan.question)
            }
        case .stage, .retry: break
        case .ended:
            connection.leaveKeys()
            connection.scanHasEnded()
        }
        view.show(scan)
    }

    private func reveal() throws(ClientError) {
        let (reveal, slice) = try connection.readPayload(Reveal.self, limit: Limits.secret)
        var secret = SecretBuffer()
        secret.append(Array("\n    ".utf8))
        connection.withPayload(slice) { secret.append($0) }
        secret.append(Array("\n\n".utf8))
        answers.show(Printable.escaped(reveal.line.text) + [0x0A])
        answers.show(secret)
    }

    private func reply(to ask: Ask, shown: [UInt8], _ begun: Dialog?) throws(ClientError) {
        var answer = SecretBuffer(capacity: 8192)
        let outcome: Answers.Outcome
        if ask.purpose == .passcode, let begun, begun.takesPasscode, !begun.isSkipped,
            let dialogs = answers.dialogs
        {
            outcome = dialogs.finish(begun, into: &answer)
        } else if ask.purpose == .loginPassword, let prove {
            outcome = try proven(ask.question, prompt(ask), prove, into: &answer)
        } else {
            outcome = answers.answer(
                ask.purpose, prompt: prompt(ask), echo: ask.echo, into: &answer)
        }
        if emptyDeclines, outcome == .answered, ask.purpose == .newPasscode, answer.count == 0 {
            try abort(ask.question, .cancelled)
            throw .refused(Refused(.skipped, []))
        }
        switch outcome {
        case .answered:
            try answer.withSpan { span throws(ClientError) in
                try connection.send(Reply(question: ask.question), payload: span)
            }
        case .cancelled:
            throw .refused(try cancel(ask.question))
        case .tooLong:
            throw try tooLong(ask.question)
        case .nobody:
            try abort(ask.question, .conversationFailed)
            throw .refused(
                Refused(
                    .passcodeRequired, words(.answerNobody, prompt(ask)),
                    hint: answers.lacksPinentry ? words(.dialogHint) : []))
        case .overtaken: return
        case .notShown:
            try abort(ask.question, .conversationFailed)
            throw .refused(
                Refused(
                    .passcodeRequired, words(.dialogFailed, prompt(ask)), hint: words(.dialogHint)))
        case .busy:
            try abort(ask.question, .cancelled)
            throw .refused(
                Refused(.busy, words(.dialogBusy), hint: words(.dialogBusyHint)))
        case .exhausted:
            try abort(ask.question, .conversationFailed)
            throw .refused(
                Refused(
                    .passcodeRequired, words(.answerExhausted, prompt(ask)),
                    hint: words(.answerExhaustedHint)))
        case .notTaken:
            try abort(ask.question, .cancelled)
            throw .refused(notTaken(ask.purpose, shown))
        }
    }

    /// Tells the daemon and waits for its answer, so that the daemon has put everything away before
    /// this program ends.
    @discardableResult
    func abort(_ question: UInt32, _ reason: Abort.Reason) throws(ClientError) -> Refused? {
        try connection.send(Abort(question: question, reason: reason))
        defer { connection.release() }
        while let type = try? connection.receive() {
            if type == .refused { return try? connection.read(Refused.self) }
            guard type == .show else { return nil }
        }
        return nil
    }

    func tooLong(_ question: UInt32) throws(ClientError) -> ClientError {
        try abort(question, .answerTooLong)
        return .refused(
            Refused(
                .tooLarge, words(.answerTooLong), hint: words(.limitBytes, Limits.secret),
                parameters: [
                    .init(name: Array("limit".utf8), value: Array(String(Limits.secret).utf8))
                ]))
    }

    /// The code is always that of a cancel, even if the daemon answers with the code of what is
    /// due. Its message says what is due.
    func cancel(_ question: UInt32) throws(ClientError) -> Refused {
        guard let told = try abort(question, .cancelled), !told.message.isEmpty else {
            return Refused(.cancelled, words(.cancelled))
        }
        return Refused(.cancelled, told.message, hint: told.hint, parameters: told.parameters)
    }

    /// The daemon refused a script's answer and asks again. The code of the refusal is derived from
    /// the question, as far as that is possible.
    private func notTaken(_ purpose: Ask.Purpose, _ shown: [UInt8]) -> Refused {
        let code: Code =
            switch purpose {
            case .passcode, .loginPassword, .passphrase, .former: .invalidPasscode
            case .recoveryKey: .recoveryKeyInvalid
            case .newPasscode, .newPassphrase: .invalidArgument
            case .confirmPasscode, .confirmPassphrase: .noMatch
            case .acknowledge, .choice: .passcodeRequired
            }
        return Refused(code, shown, hint: words(.answerNotTaken))
    }

    private func prompt(_ ask: Ask) -> [UInt8] {
        if !ask.line.text.isEmpty { return ask.line.text }
        let words =
            switch ask.purpose {
            case .passcode: "passcode"
            case .newPasscode: "new passcode"
            case .confirmPasscode: "new passcode, once more"
            case .loginPassword: "login password"
            case .passphrase: "passphrase of the file"
            case .newPassphrase: "new passphrase for the file"
            case .confirmPassphrase: "new passphrase, once more"
            case .recoveryKey: "recovery key"
            case .former: "former login password, or recovery key"
            case .acknowledge: "Enter to go on"
            case .choice: "yes or no"
            }
        return Array(words.utf8)
    }

    // MARK: The login password

    /// For a field of a screen.
    func login(_ question: UInt32) -> LoginQuestion? {
        prove.map { LoginQuestion(conversation: self, question: question, prove: $0) }
    }

    fileprivate func proven(
        _ question: UInt32, _ prompt: [UInt8],
        _ prove: (inout SecretBuffer) -> LoginProof.Verdict, into answer: inout SecretBuffer
    ) throws(ClientError) -> Answers.Outcome {
        for attempt in 1...3 {
            answer.removeAll()
            let outcome = answers.answer(
                .loginPassword, prompt: prompt, echo: false, into: &answer)
            guard outcome == .answered else {
                return attempt > 1 && outcome == .notTaken ? .notTaken : outcome
            }
            switch prove(&answer) {
            case .proven: return .answered
            case .wrong:
                tell(words(.loginWrong), .error)
                if !answers.isPerson {
                    try abort(question, .cancelled)
                    throw .refused(Refused(.invalidPasscode, words(.loginWrong)))
                }
            case .notInstalled:
                guard answers.isPerson else { return .answered }
                tell(words(.loginNoService), .info)
                return try twice(question, prompt, into: &answer)
            case .failed(let reason):
                try abort(question, .conversationFailed)
                throw .refused(
                    Refused(
                        .serviceUnavailable, words(.loginFailed, reason),
                        hint: words(.loginFailedHint)))
            }
        }
        try abort(question, .cancelled)
        throw .refused(
            Refused(
                .invalidPasscode, words(.loginThrice), hint: words(.loginThriceHint)))
    }

    private func twice(
        _ question: UInt32, _ prompt: [UInt8], into answer: inout SecretBuffer
    ) throws(ClientError) -> Answers.Outcome {
        for _ in 1...3 {
            var again = SecretBuffer()
            let outcome = answers.answer(
                .loginPassword, prompt: words(.loginAgain), echo: false, into: &again)
            guard outcome == .answered else { return outcome }
            if again.isEqual(to: answer) { return .answered }
            tell(words(.loginDiffer), .error)
            answer.removeAll()
            let first = answers.answer(
                .loginPassword, prompt: prompt, echo: false, into: &answer)
            guard first == .answered else { return first }
        }
        try abort(question, .cancelled)
        throw .refused(Refused(.noMatch, words(.loginDifferEnd)))
    }
}

/// A login password that is asked for until it was proven.
struct LoginQuestion {
    let conversation: Conversation
    let question: UInt32
    let prove: (inout SecretBuffer) -> LoginProof.Verdict

    func answer(
        _ prompt: [UInt8], into answer: inout SecretBuffer
    ) throws(ClientError) -> Answers.Outcome {
        try conversation.proven(question, prompt, prove, into: &answer)
    }
}

extension Scan {
    /// The passcode is asked for if no finger matches, and may be typed meanwhile.
    fileprivate var takesPasscode: Bool {
        ["fingerprint.place.type", "fingerprint.swipe.type"].contains {
            line.id == Array($0.utf8)
        }
    }
}
