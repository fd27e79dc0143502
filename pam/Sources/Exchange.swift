internal import CPam
internal import WireEmbedded

/// One request and everything that follows until the daemon's last answer. The module shows and
/// relays; what an answer means is the daemon's business.
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

    /// Which of the person's answers the module keeps, so that the stack can have it afterwards.
    enum Kept {
        case none
        /// The passcode or login password: pam_unix after us would have asked for it as proof.
        case loginSecret
        /// The new password: pam_unix after us would have asked for it.
        case newPassword
    }

    /// Whether the daemon got anything in this exchange that can prove who the person is.
    enum Delivery {
        case nothing
        case secret
        /// A scan that ran to its end, in an exchange that may ask the person.
        case finger
    }

    /// What the daemon lets the stack have.
    private enum Given {
        case nothing
        /// The person's own answer.
        case typed
        /// The login password that the store keeps for this.
        case kept
    }

    private enum Step {
        case goesOn
        case ends(Ending)
    }

    static let requestTag: UInt32 = 2
    static let helloTag: UInt32 = 1
    /// Longer than any flow: a whole create or change may take ten minutes, with a few dozen lines
    /// and one frame per second.
    private static let wholeWait: Int32 = 600_000
    private static let mostLines = 64
    private static let mostFrames = 2_048

    private let call: Call
    private let questions: Questions
    private let kept: Kept
    private var link: Link?
    /// Until when the module may send the greeting on this connection. The daemon waits twice as
    /// long.
    private var greetBy: Deadline
    /// When the module began to wait for the daemon. The time in which a person is asked does not
    /// count.
    private var waitsSince: UInt64
    private var lines = 0
    private var lastQuestion: UInt32?
    /// The scan that is running, between `place` and `ended`.
    private var scanning: Scanning?
    private(set) var delivery = Delivery.nothing
    /// The person's last answer of the kind that is kept, whatever the daemon said to it.
    private var typed: Answer?
    /// The person's input ended at that question.
    private var hasEnded = false
    /// What the stack gets if the exchange succeeds.
    private var given = Given.nothing
    /// The token that the daemon sent. It ends with NUL.
    private var token: Memory?

    init(_ call: Call, questions: Questions, keeping kept: Kept = .none) {
        self.call = call
        self.questions = questions
        self.kept = kept
        link = nil
        scanning = nil
        token = nil
        greetBy = Deadline(in: 0)
        waitsSince = 0
    }

    /// Connects before anything else is done. So where AppVault is absent, not even a name is
    /// looked up. Where the transaction has failed already, nothing is tried.
    mutating func open() -> Ending? {
        do throws(Fault) {
            if Failure.isKept(by: call.pam) { throw .before }
            link = try Link.open(call.pam, call.options)
            greetBy = Deadline(in: Limits.firstFrameWait / 2)
            return nil
        } catch {
            return failed(error)
        }
    }

    private func failed(_ fault: Fault) -> Ending {
        fault.log(call.pam)
        Failure.note(fault, since: waitsSince, in: call.pam)
        return .fault(fault)
    }

    /// Runs the exchange to its end. The message is a greeting and one request. `delivery` says
    /// what the request carries.
    mutating func run(_ message: consuming Memory?, carrying delivery: Delivery = .nothing)
        -> Ending
    {
        // A slow directory can have used up the time between connecting and greeting.
        if greetBy.passed, let ending = open() { return ending }
        guard let link = link.take() else { return .fault(.absent) }
        // However the exchange ends, the terminal is given back before another program writes to
        // it.
        defer { scanning = nil }
        do throws(Fault) {
            guard let message else { throw .noMemory }
            return try converse(link, message, delivery)
        } catch {
            return failed(error)
        }
    }

    /// Makes the answer that was kept the stack's token, if there is one. An empty answer becomes
    /// the token only if the daemon says so. Where the input ended, the token is empty, so that the
    /// next module does not ask a person who has left.
    @discardableResult
    mutating func handOn() -> Bool {
        if hasEnded { return call.pam.setEmptyToken() }
        guard let answer = typed.take(), answer.count > 0 || given == .typed else { return false }
        return call.pam.setToken(answer)
    }

    /// After our success: makes what the daemon gave the stack's token, where the service file
    /// wants that.
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
        waitsSince = appvault_pam_now()
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
            waitsSince = appvault_pam_now()
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
            .fingerprintState, .damaged, .healthReport, .token, .event, .appPolicy, .storeList,
            .memberList, .item, .itemList, .secrets, .itemNews, .collection, .fleetState,
            .screen, .findings, .consentList, nil:
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
        // Only our own CLI shows a recovery key, on a terminal. So `reveal` is nonsense here, too.
        case .welcome, .done, .reveal, .state, .actionList, .value, .names, .chunk, .progress,
            .policyValues, .checklist, .preview, .textList, .fingerprintState, .damaged,
            .healthReport, .event, .appPolicy, .storeList,
            .memberList, .item, .itemList, .secrets, .itemNews, .collection, .fleetState,
            .screen, .findings, .consentList, nil:
            throw .nonsense
        }
    }

    /// A refusal may be for the request, for the greeting before it, or for the connection as a
    /// whole, which has the tag 0.
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

    /// A question may be asked only once. A daemon that asks the same one again is confused.
    private mutating func begin(_ question: UInt32) throws(Fault) {
        guard lastQuestion != question else { throw .nonsense }
        lastQuestion = question
    }

    private mutating func scan(
        _ scan: Scan, _ link: borrowing Link, _ outbox: inout Memory
    ) throws(Fault) {
        switch scan.event {
        case .place:
            // A second `place` of the same scan is another attempt in it. Its line counts like any
            // other.
            if scanning?.question != scan.question {
                guard scanning == nil else { throw .nonsense }
                try begin(scan.question)
                scanning = Scanning(scan.question)
                switch questions {
                // The module watches the keys before it shows the line, so that no Enter is missed.
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

    /// Tells the daemon that the person goes on without a finger. The daemon says when the scan has
    /// ended.
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
        // The daemon may not ask during a scan, because keys have another meaning then.
        guard scanning == nil else { throw .nonsense }
        try begin(ask.question)
        switch questions {
        case .aborted:
            try abort(ask.question, .conversationFailed, link, &outbox)
        case .asked:
            let reaction = call.face.ask(ask)
            waitsSince = appvault_pam_now()
            switch consume reaction {
            case .failed: try abort(ask.question, .conversationFailed, link, &outbox)
            case .nothing:
                if ask.purpose.gives(kept) { hasEnded = true }
                try abort(ask.question, .cancelled, link, &outbox)
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
        // Kept before it is sent: the next module may need it, even if the daemon dies when it gets
        // it.
        if ask.purpose.gives(kept) { typed = consume answer }
        if given > Limits.secret { return try abort(ask.question, .answerTooLong, link, &outbox) }
        defer { outbox.clear() }
        try link.send(outbox)
        if given > 0, ask.purpose.canProve { delivery = .secret }
    }

    /// Takes a token for the stack. The daemon may send one, before the verdict.
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

    /// Decodes the body. Bytes after it are an error.
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

    /// The answer is something that the person knew before this exchange.
    var canProve: Bool {
        switch self {
        case .passcode, .loginPassword, .recoveryKey, .former: true
        case .newPasscode, .confirmPasscode, .passphrase, .newPassphrase, .confirmPassphrase,
            .acknowledge, .choice:
            false
        }
    }
}
