internal import Wire

/// One exchange with the daemon in which a person may be asked, over a connection of its own: other
/// calls go on meanwhile.
///
/// A task that is cancelled ends it where a person is asked: nothing is tried, and nothing has
/// changed. While the daemon works, its outcome is waited for.
struct Conversation<P: Prompter>: Sendable {
    /// What an entry of a passcode is for.
    enum Intent {
        case creating
        case opening
        case changing
    }

    let link: Link
    let prompter: P
    let store: StoreName
    let intent: Intent
    let hooks: PromptHooks
    let waits: Waits
    let judge: PasscodeJudge

    /// Returns the line that says what was done.
    func run(_ request: consuming Outgoing) async throws(VaultError) -> String {
        try checkCancelled()
        try await link.open()
        let result: Result<String, VaultError>
        do throws(VaultError) {
            try await link.begin(request)
            result = .success(try await converse())
        } catch {
            result = .failure(error)
        }
        await link.disconnect()
        return try result.get()
    }

    /// What was answered last, until it shows what came of it.
    private struct Pending {
        var kind: PromptEvent.Kind
        var question: Question
        /// Why it was refused, where a line since then has said so.
        var code: VaultError.Code?
    }

    private func converse() async throws(VaultError) -> String {
        var pending: Pending?
        var maySkip = false
        var isSeen: Bool?
        var scan: (question: UInt32, skip: FingerScan.Skip)?
        while true {
            if let open = scan, await givesUp(open.skip) {
                scan = nil
                try await link.reply(
                    Outgoing(.abort, Abort(question: open.question, reason: .cancelled)))
            }
            let incoming = try await next()
            if incoming.type == .working {
                continue
            } else if incoming.type == .show {
                let notice = Notice(try incoming.decoded(Show.self))
                if let code = notice.refusal { pending?.code = code }
                if notice.offersToSkip { maySkip = true }
                await prompter.show(notice)
            } else if incoming.type == .scan {
                let told = try incoming.decoded(Scan.self)
                let skip = scan?.skip ?? FingerScan.Skip()
                if told.event == .place { scan = (told.question, skip) }
                if told.event == .ended { scan = nil }
                await prompter.show(FingerScan(told, skip: skip))
            } else if incoming.type == .reveal {
                let line = try incoming.decoded(payloadBehind: Reveal.self).line
                let secret = try incoming.payload(behind: Reveal.self)
                isSeen = await prompter.reveal(secret, Notice(line, isError: false))
            } else if incoming.type == .ask {
                let ask = try incoming.decoded(Ask.self)
                let question = await question(ask)
                if let last = pending.take() {
                    let isRepeated = last.question.purpose == question.purpose
                    let code = last.code ?? (isRepeated ? question.purpose.codeWhenRepeated : nil)
                    await tell(last, code)
                }
                if let seen = isSeen.take(), ask.purpose == .acknowledge {
                    try await acknowledge(ask, seen)
                } else {
                    pending = try await answer(ask, question, maySkip)
                }
            } else if incoming.type == .screen {
                let screen = try incoming.decoded(Screen.self)
                let shown = PromptScreen(screen, store, judge)
                let question = question(shown)
                if let last = pending.take() {
                    let isRepeated = last.question.purpose == question?.purpose
                    await tell(
                        last, last.code ?? (isRepeated ? question?.purpose.codeWhenRepeated : nil))
                }
                pending = try await present(shown, screen.question, question)
            } else if incoming.type == .done {
                let done = try incoming.decoded(Done.self)
                if let last = pending { await tell(last, nil) }
                return String(decoding: done.line.text, as: UTF8.self)
            } else if incoming.type == .refused {
                let error = VaultError(try incoming.decoded(Refused.self))
                if let last = pending { await tell(last, last.code ?? error.code) }
                throw error
            } else {
                throw .unexpected(incoming.type.rawValue)
            }
        }
    }

    /// Where the connection is lost now, the request may have been carried out.
    private func next() async throws(VaultError) -> Incoming {
        do throws(VaultError) {
            return try await link.next(within: waits.silence, isCancellable: false)
        } catch {
            throw error.withUnknownOutcome
        }
    }

    /// Whether the person, or the task, does not want the finger any more. Returns as well where
    /// there is something to read.
    private func givesUp(_ skip: FingerScan.Skip) async -> Bool {
        _ = await overtaken { await skip.wait() }
        return Task.isCancelled || skip.isCalled
    }

    /// Whether the daemon has something to say before the closure has returned.
    private func overtaken(_ work: @escaping @Sendable () async -> Void) async -> Bool {
        let (link, limit) = (self.link, waits.person)
        return await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                await link.hasNews(within: limit)
                return true
            }
            group.addTask {
                await work()
                return false
            }
            let first = await group.next() ?? true
            group.cancelAll()
            await group.waitForAll()
            return first
        }
    }

    private func mode(_ purpose: Question.Purpose) -> Question.Mode {
        let isNew = purpose == .newPasscode || purpose == .confirmPasscode
        return switch intent {
        case .creating: isNew ? .create : .match
        case .opening: isNew ? .change : .match
        case .changing: isNew ? .change : .matchForChange
        }
    }

    private func question(_ ask: Ask) async -> Question {
        let purpose = Question.Purpose(ask.purpose)
        var checklist: [PasscodeRule] = []
        if purpose == .newPasscode {
            // A prompter can do without, so nothing fails because of it.
            checklist = (try? await judge(SecretBytes())) ?? []
        }
        return Question(
            id: String(decoding: ask.line.id, as: UTF8.self), purpose: purpose, mode: mode(purpose),
            arguments: ask.line.arguments.map { String(decoding: $0, as: UTF8.self) },
            text: String(decoding: ask.line.text, as: UTF8.self), isVisible: ask.echo, store: store,
            checklist: checklist, judge: judge)
    }

    /// The secret that was shown counts only after this.
    private func acknowledge(_ ask: Ask, _ isSeen: Bool) async throws(VaultError) {
        if isSeen, !Task.isCancelled {
            try await reply(to: ask, SecretBytes())
        } else {
            try await abort(ask, .cancelled)
        }
    }

    private func answer(
        _ ask: Ask, _ question: Question, _ maySkip: Bool
    ) async throws(VaultError) -> Pending? {
        let box = AnswerBox()
        let prompter = self.prompter
        // The daemon ends a question that waits too long.
        let isOvertaken = await overtaken { box.put(await prompter.answer(question)) }
        if Task.isCancelled {
            try await abort(ask, .cancelled)
            await tell(Pending(kind: .cancel, question: question), nil)
            return nil
        }
        if isOvertaken { return nil }
        switch box.take() ?? .cancel {
        case .secret(let secret):
            guard secret.count <= Limits.secret else {
                try await abort(ask, .answerTooLong)
                return nil
            }
            let isEmpty = secret.isEmpty
            try await reply(to: ask, secret)
            if isEmpty, question.purpose.hook != nil {
                let isSkipped = maySkip && question.purpose == .newPasscode
                await tell(Pending(kind: isSkipped ? .skip : .cancel, question: question), nil)
                return nil
            }
        case .yes:
            try await reply(
                to: ask, SecretBytes(copying: question.purpose == .choice ? "y" : ""))
        case .no:
            guard question.purpose == .choice else {
                try await abort(ask, .cancelled)
                return nil
            }
            try await reply(to: ask, SecretBytes(copying: "n"))
        case .skip:
            try await reply(to: ask, SecretBytes())
            await tell(Pending(kind: .skip, question: question), nil)
            return nil
        case .cancel:
            try await abort(ask, .cancelled)
            await tell(Pending(kind: .cancel, question: question), nil)
            return nil
        case .addUser:
            try await leave(ask, question)
            throw VaultError(.addUser, "somebody is to be added")
        case .switchUser(let name):
            try await leave(ask, question)
            throw VaultError(
                .switchUser, "the store \(name) is to be opened", parameters: ["to": "\(name)"])
        case .nobody:
            try await abort(ask, .conversationFailed)
            _ = try? await next()
            throw VaultError(
                .passcodeRequired, "somebody has to answer: \(question.text)",
                hint: "give the call a prompter")
        }
        return question.purpose.hook.map { Pending(kind: $0, question: question) }
    }

    // MARK: whole screens

    /// What the first field asks for.
    private func question(_ screen: PromptScreen) -> Question? {
        screen.fields.first.map { field in
            Question(
                id: field.id, purpose: field.purpose, mode: mode(field.purpose),
                text: field.label, store: store)
        }
    }

    private func present(
        _ screen: PromptScreen, _ number: UInt32, _ question: Question?
    ) async throws(VaultError) -> Pending? {
        let box = ScreenAnswerBox()
        let prompter = self.prompter
        let isOvertaken = await overtaken { box.put(await prompter.present(screen)) }
        if isOvertaken, !Task.isCancelled { return nil }
        let answer = Task.isCancelled ? .cancel : box.take() ?? .cancel
        switch consume answer {
        case .chosen(let choice):
            guard screen.choices.indices.contains(choice.place),
                screen.choices[choice.place].role != .cancel
            else { break }
            return try await take(choice, screen, number, question)
        case .cancel: break
        case .nobody:
            try await abort(number, .conversationFailed)
            _ = try? await next()
            throw VaultError(
                .passcodeRequired, "somebody has to answer: \(screen.id)",
                hint: "give the call a prompter")
        }
        try await abort(number, .cancelled)
        if let question { await tell(Pending(kind: .cancel, question: question), nil) }
        return nil
    }

    private func take(
        _ choice: consuming ScreenChoice, _ screen: PromptScreen, _ number: UInt32,
        _ question: Question?
    ) async throws(VaultError) -> Pending? {
        choice.pad(to: screen.fields.count)
        guard !choice.isTooLong, choice.values.count <= Limits.answers else {
            try await abort(number, .answerTooLong)
            return nil
        }
        let (taken, isEmpty) = (screen.choices[choice.place], choice.isEmpty)
        let answer = Wire.Answer(
            question: number, choice: UInt8(choice.place),
            item: choice.item.map { UInt8(clamping: $0 + 1) } ?? 0)
        let frame = choice.values.withSpan { Outgoing(.answer, answer, payload: $0) }
        try await link.reply(frame)
        guard taken.role == .primary, let question else { return nil }
        if isEmpty, question.purpose.hook != nil {
            let kind: PromptEvent.Kind = taken.needs.isEmpty ? .skip : .cancel
            await tell(Pending(kind: kind, question: question), nil)
            return nil
        }
        return question.purpose.hook.map { Pending(kind: $0, question: question) }
    }

    private func abort(_ number: UInt32, _ reason: Abort.Reason) async throws(VaultError) {
        try await link.reply(Outgoing(.abort, Abort(question: number, reason: reason)))
    }

    /// The person is another one than was asked.
    private func leave(_ ask: Ask, _ question: Question) async throws(VaultError) {
        try await abort(ask, .cancelled)
        _ = try? await next()
        await tell(Pending(kind: .cancel, question: question), nil)
    }

    private func reply(to ask: Ask, _ secret: borrowing SecretBytes) async throws(VaultError) {
        let frame = secret.withBytes { bytes in
            Outgoing(.reply, Reply(question: ask.question), payload: bytes)
        }
        try await link.reply(frame)
    }

    private func abort(_ ask: Ask, _ reason: Abort.Reason) async throws(VaultError) {
        try await abort(ask.question, reason)
    }

    private func tell(_ pending: Pending, _ code: VaultError.Code?) async {
        await hooks.told(
            PromptEvent(
                kind: pending.kind, store: store, id: pending.question.id,
                mode: pending.question.mode, code: code))
    }
}

/// Carries an answer, which cannot be copied, out of the task in which it was given.
private final class AnswerBox: Sendable {
    private let answer = Locked<Answer?>(nil)

    func put(_ given: consuming Answer) {
        var given: Answer? = consume given
        answer.withLock { $0 = given.take() }
    }

    func take() -> Answer? { answer.withLock { $0.take() } }
}

private final class ScreenAnswerBox: Sendable {
    private let answer = Locked<ScreenAnswer?>(nil)

    func put(_ given: consuming ScreenAnswer) {
        var given: ScreenAnswer? = consume given
        answer.withLock { $0 = given.take() }
    }

    func take() -> ScreenAnswer? { answer.withLock { $0.take() } }
}

extension Notice {
    init(_ show: Show) {
        let isError =
            switch show.style {
            case .info: false
            case .error: true
            }
        self.init(show.line, isError: isError)
    }

    init(_ line: Line, isError: Bool) {
        self.init(
            id: String(decoding: line.id, as: UTF8.self),
            arguments: line.arguments.map { String(decoding: $0, as: UTF8.self) },
            text: String(decoding: line.text, as: UTF8.self), isError: isError)
    }
}
