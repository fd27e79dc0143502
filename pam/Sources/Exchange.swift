internal import CPam
internal import WireEmbedded

/// One request and everything that follows until the daemon's last word. It renders and relays; what an answer
/// means is the daemon's business.
struct Exchange: ~Copyable {
    /// How it ended.
    enum Ending {
        case verdict(Verdict)
        /// The code of a refusal.
        case refused(UInt16)
        case fault(Fault)
    }

    /// May the daemon ask the person?
    enum Questions {
        case asked
        case aborted
    }

    /// Which of the person's answers the stack may have afterwards.
    enum Kept {
        case none
        /// What pam_unix behind us would have asked for to prove the person.
        case loginSecret
        /// What pam_unix behind us would have asked for as the new password.
        case newPassword
    }

    /// Whether the daemon was given anything in this exchange that can prove a person.
    enum Delivery {
        case nothing
        case secret
        /// A scan that ran to its end, in which the person was there.
        case finger
    }

    /// What the daemon gives to the stack.
    private enum Given {
        case nothing
        /// The person's own answer.
        case typed
        /// What the store keeps for this.
        case kept
    }

    private enum Step {
        case goesOn
        case ends(Ending)
    }

    static let requestTag: UInt32 = 2
    static let helloTag: UInt32 = 1
    /// Longer than any flow: a whole create or change has ten minutes, a handful of lines and a frame a second.
    private static let wholeWait: Int32 = 600_000
    private static let mostLines = 64
    private static let mostFrames = 2_048

    private let call: Call
    private let questions: Questions
    private let kept: Kept
    private var link: Link?
    /// Until when the daemon waits for a greeting on this connection, with a second to spare.
    private var greetBy: Deadline
    private var lines = 0
    private var lastQuestion: UInt32?
    /// Between `place` and `ended`.
    private var scanning: Scanning?
    private(set) var delivery = Delivery.nothing
    /// The person's last answer of the kind that is kept, whatever became of it.
    private var typed: Answer?
    /// What the stack gets with a success.
    private var given = Given.nothing
    /// Ends with NUL.
    private var token: Memory?

    init(_ call: Call, questions: Questions, keeping kept: Kept = .none) {
        self.call = call
        self.questions = questions
        self.kept = kept
        link = nil
        scanning = nil
        token = nil
        greetBy = Deadline(in: 0)
    }

    /// Connects. Before anything else is done: where AppVault is absent, not even a name is looked up.
    mutating func open() -> Ending? {
        do throws(Fault) {
            link = try Link.open(call.pam, call.options)
            greetBy = Deadline(in: Limits.firstFrameWait / 2)
            return nil
        } catch {
            error.log(call.pam)
            return .fault(error)
        }
    }

    /// Runs it to its end. The message is a greeting and one request; `delivery` is what that carries.
    mutating func run(_ message: consuming Memory?, carrying delivery: Delivery = .nothing)
        -> Ending
    {
        // A slow directory can have used up the time between connecting and greeting.
        if greetBy.passed, let ending = open() { return ending }
        guard let link = link.take() else { return .fault(.absent) }
        // Whatever comes: the terminal is the person's before anybody says another word there.
        defer { scanning = nil }
        do throws(Fault) {
            guard let message else { throw .noMemory }
            return try converse(link, message, delivery)
        } catch {
            error.log(call.pam)
            return .fault(error)
        }
    }

    /// The answer that was kept becomes the stack's token, if there is one; an empty one where the daemon says so.
    @discardableResult
    mutating func handOn() -> Bool {
        guard let answer = typed.take(), answer.count > 0 || given == .typed else { return false }
        return call.pam.setToken(answer)
    }

    /// With our success: what the daemon gave becomes the stack's token, where the service file wants it.
    mutating func giveToken() {
        switch given {
        case .nothing: break
        case .typed:
            switch call.options.prompt {
            case .passcode: break
            case .passcodeOrLogin: handOn()
            }
        case .kept:
            switch call.options.keyring {
            case .none: break
            case .token: if let token = token.take() { call.pam.setToken(token) }
            }
        }
    }

    private mutating func converse(
        _ link: borrowing Link, _ message: consuming Memory, _ carried: Delivery
    ) throws(Fault) -> Ending {
        let whole = Deadline(in: Exchange.wholeWait)
        guard var inbox = Memory(capacity: Limits.smallFrame + FrameHeader.size) else {
            throw .noMemory
        }
        var outbox = message
        try link.send(outbox)
        outbox.clear()
        delivery = carried

        if case .ends(let ending) = try welcome(link, &inbox) { return ending }
        var frames = 0
        while frames < Exchange.mostFrames && !whole.passed {
            frames += 1
            let deadline = Deadline(in: min(Limits.silenceWait, whole.left))
            if try scanning?.wait(link, by: deadline) == .givenUp {
                try giveUp(link, &outbox)
                continue
            }
            let header = try link.receive(into: &inbox, by: deadline)
            if case .ends(let ending) = try step(header, inbox, link, &outbox) { return ending }
        }
        throw .endless
    }

    private func welcome(_ link: borrowing Link, _ inbox: inout Memory) throws(Fault) -> Step {
        let header = try link.receive(into: &inbox, by: Deadline(in: Limits.firstFrameWait))
        if isRefusal(header) { return .ends(try refusal(inbox)) }
        guard header.tag == Exchange.helloTag else { throw .nonsense }
        switch AnswerType(rawValue: header.type) {
        case .welcome:
            let welcome: Welcome = try decode(inbox)
            guard welcome.version == Limits.version else { throw .nonsense }
            return .goesOn
        case .refused, .show, .ask, .working, .done, .reveal, .verdict, .state, .actionList, .value,
            .names, .chunk, .progress, .policyValues, .checklist, .preview, .textList, .scan,
            .fingerprintState, .healthReport, .token, nil:
            throw .nonsense
        }
    }

    private mutating func step(
        _ header: FrameHeader, _ inbox: borrowing Memory, _ link: borrowing Link,
        _ outbox: inout Memory
    ) throws(Fault) -> Step {
        if isRefusal(header) { return .ends(try refusal(inbox)) }
        guard header.tag == Exchange.requestTag else { throw .nonsense }
        switch AnswerType(rawValue: header.type) {
        case .working:
            let _: Empty = try decode(inbox)
            return .goesOn
        case .show:
            try show(try decode(inbox))
            return .goesOn
        case .scan:
            try scan(try decode(inbox), link, &outbox)
            return .goesOn
        case .ask:
            try answer(try decode(inbox), link, &outbox)
            return .goesOn
        case .token:
            try take(inbox)
            return .goesOn
        case .verdict:
            return .ends(.verdict(try decode(inbox)))
        case .refused:
            let refused: Refused = try decode(inbox)
            return .ends(.refused(refused.code))
        // A recovery key is shown by our own CLI on a terminal, and never here: reveal is nonsense too.
        case .welcome, .done, .reveal, .state, .actionList, .value, .names, .chunk, .progress,
            .policyValues, .checklist, .preview, .textList, .fingerprintState, .healthReport, nil:
            throw .nonsense
        }
    }

    /// Of the request, of the greeting before it, or of the connection as such, which has the tag 0.
    private func isRefusal(_ header: FrameHeader) -> Bool {
        AnswerType(rawValue: header.type) == .refused && header.tag <= Exchange.requestTag
    }

    private func refusal(_ inbox: borrowing Memory) throws(Fault) -> Ending {
        let refused: Refused = try decode(inbox)
        return .refused(refused.code)
    }

    private mutating func count() throws(Fault) {
        lines += 1
        if lines > Exchange.mostLines { throw .endless }
    }

    /// One question is asked once: who asks again has lost the thread.
    private mutating func begin(_ question: UInt32) throws(Fault) {
        guard lastQuestion != question else { throw .nonsense }
        lastQuestion = question
    }

    private mutating func scan(
        _ scan: Scan, _ link: borrowing Link, _ outbox: inout Memory
    ) throws(Fault) {
        switch scan.event {
        case .place:
            // A second `place` of the same scan is another try of it, and a line like any other.
            if scanning?.question != scan.question {
                guard scanning == nil else { throw .nonsense }
                try begin(scan.question)
                scanning = Scanning(scan.question)
                switch questions {
                // Before the line is shown: a person who presses Enter at it is heard.
                case .asked: scanning?.watchKeys()
                case .aborted: try giveUp(link, &outbox)
                }
            }
        case .stage, .retry, .ended:
            guard scanning?.question == scan.question else { throw .nonsense }
        }
        if !scan.line.text.isEmpty { try count() }
        if scan.event == .ended {
            scanning = nil
            if questions == .asked, delivery == .nothing { delivery = .finger }
        }
        call.face.place(scan.line.text)
    }

    /// The person goes on without a finger; the daemon says when the scan has ended.
    private mutating func giveUp(
        _ link: borrowing Link, _ outbox: inout Memory
    ) throws(Fault) {
        guard let question = scanning?.question else { return }
        try abort(question, .cancelled, link, &outbox)
    }

    private mutating func show(_ show: Show) throws(Fault) {
        try count()
        switch show.style {
        case .info: call.face.show(show.line.text, style: PAM_TEXT_INFO)
        case .error: call.face.show(show.line.text, style: PAM_ERROR_MSG)
        }
    }

    private mutating func answer(
        _ ask: Ask, _ link: borrowing Link, _ outbox: inout Memory
    ) throws(Fault) {
        try count()
        // Nothing is asked while keys have another meaning.
        guard scanning == nil else { throw .nonsense }
        try begin(ask.question)
        switch questions {
        case .aborted:
            try abort(ask.question, .conversationFailed, link, &outbox)
        case .asked:
            switch call.face.ask(ask) {
            case .failed: try abort(ask.question, .conversationFailed, link, &outbox)
            case .nothing: try abort(ask.question, .cancelled, link, &outbox)
            case .answered(let answer): try reply(ask, answer, link, &outbox)
            }
        }
    }

    private mutating func reply(
        _ ask: Ask, _ answer: consuming Answer, _ link: borrowing Link, _ outbox: inout Memory
    ) throws(Fault) {
        let given = answer.count
        if given <= Limits.secret {
            answer.withBytes { bytes in
                outbox.put(Reply(question: ask.question), .reply, bytes)
            }
        }
        // Kept before it is sent: it is the login's, also if the daemon dies of it.
        if ask.purpose.gives(kept) { typed = consume answer }
        if given > Limits.secret { return try abort(ask.question, .answerTooLong, link, &outbox) }
        defer { outbox.clear() }
        try link.send(outbox)
        if given > 0, ask.purpose.canProve { delivery = .secret }
    }

    /// A token for the stack, once, before the verdict.
    private mutating func take(_ inbox: borrowing Memory) throws(Fault) {
        guard kept == .loginSecret, given == .nothing else { throw .nonsense }
        let found: Slice? = inbox.withBytes(from: FrameHeader.size, to: inbox.count) {
            bytes in
            do throws(WireError) {
                var reader = Reader()
                let found = try reader.payload(bytes, limit: Limits.secret)
                try reader.end(bytes)
                return found
            } catch {
                return nil
            }
        }
        guard let found else { throw .nonsense }
        guard found.count > 0 else {
            given = .typed
            return
        }
        guard var kept = Memory(capacity: found.count + 1) else { throw .noMemory }
        let start = FrameHeader.size + found.start
        inbox.withBytes(from: start, to: start + found.count) { kept.put($0) }
        kept.put(0)
        token = consume kept
        given = .kept
    }

    private func abort(
        _ question: UInt32, _ reason: Abort.Reason, _ link: borrowing Link, _ outbox: inout Memory
    ) throws(Fault) {
        defer { outbox.clear() }
        outbox.put(Abort(question: question, reason: reason), .abort)
        try link.send(outbox)
    }

    /// The whole body, and nothing behind it.
    private func decode<B: Body>(_ inbox: borrowing Memory) throws(Fault) -> B {
        let body: B? = inbox.withBytes(from: FrameHeader.size, to: inbox.count) { bytes in
            do throws(WireError) {
                var reader = Reader()
                let body = try B(&reader, bytes)
                try reader.end(bytes)
                return body
            } catch {
                return nil
            }
        }
        guard let body else { throw .nonsense }
        return body
    }
}

extension Ask.Purpose {
    func gives(_ kept: Exchange.Kept) -> Bool {
        switch self {
        case .passcode, .loginPassword: kept == .loginSecret
        case .newPasscode: kept == .newPassword
        case .confirmPasscode, .passphrase, .newPassphrase, .confirmPassphrase, .recoveryKey,
            .former, .acknowledge, .choice:
            false
        }
    }

    /// The answer is something that the person had before this exchange.
    var canProve: Bool {
        switch self {
        case .passcode, .loginPassword, .recoveryKey, .former: true
        case .newPasscode, .confirmPasscode, .passphrase, .newPassphrase, .confirmPassphrase,
            .acknowledge, .choice:
            false
        }
    }
}
