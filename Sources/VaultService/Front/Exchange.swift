import Posix
import Secrets
import Wire
import Words
import WorkerLinks

/// One request's conversation over its connection.
@LoopActor
final class Exchange: Conversation {
    let caller: Caller
    let tag: UInt32
    let voice: Voice
    let connection: Connection
    private var questions: UInt32 = 0
    /// The numbers of all scans of this exchange: an abort may come after its scan has ended.
    private var scans: Set<UInt32> = []
    private let began = Clock.bootMilliseconds()
    var candidates = 0
    var carriesLines = false {
        didSet { carried = [] }
    }
    private var carried: [Message] = []
    /// libpam's own limit for a message, with room to spare.
    private static let longestPrompt = 480
    /// The person answered with a secret in this exchange.
    private(set) var answered = false
    /// Until the daemon has looked who asks, a remote front end counts as a stranger's.
    var audience: Audience
    /// The request itself brought a secret.
    var cameWithSecret = false

    init(connection: Connection, caller: Caller, voice: Voice, tag: UInt32) {
        self.connection = connection
        self.caller = caller
        self.voice = voice
        self.tag = tag
        audience = caller.isRemote ? .stranger : .person
    }

    func show(_ message: Message, _ style: Show.Style) async throws(Interruption) {
        guard !caller.hello.silent else {
            if carriesLines { carried.append(message) }
            return
        }
        try await send(message, style)
    }

    private func send(_ message: Message, _ style: Show.Style) async throws(Interruption) {
        do {
            try await connection.send(
                Show(style: style, line: voice.line(message)), .show, tag: tag)
        } catch {
            throw .gone(error)
        }
    }

    func say(_ message: Message, _ style: Show.Style) async throws(Interruption) {
        if caller.hello.silent { return carried.append(message) }
        try await show(message, style)
    }

    func insist(_ message: Message) async throws(Interruption) {
        try await send(message, .error)
    }

    /// The number of a new scan.
    func newScan() -> UInt32 {
        questions &+= 1
        scans.insert(questions)
        return questions
    }

    func newQuestion() -> UInt32 {
        questions &+= 1
        return questions
    }

    func noteAnswered() {
        answered = true
    }

    func deadline(after wait: Int32) -> UInt64 {
        min(Clock.bootMilliseconds() + UInt64(wait), began + UInt64(Limits.exchangeWait))
    }

    func ask(_ message: Message, _ purpose: Ask.Purpose) async throws(Interruption) -> SecretBox {
        let question = newQuestion()
        let ask = Ask(
            question: question, purpose: purpose, echo: purpose == .choice,
            line: carrying(message))
        let request = try await whileAsking { () async throws(Interruption) in
            do throws(ConnectionEnd) {
                try await connection.send(ask, .ask, tag: tag)
            } catch {
                throw .gone(error)
            }
            return try await receiveAnswer(until: deadline(after: Limits.personWait))
        }
        switch request {
        case .reply(let reply, let secret) where reply.question == question:
            switch purpose {
            case .acknowledge, .choice: break
            case .passcode, .newPasscode, .confirmPasscode, .loginPassword, .passphrase,
                .newPassphrase, .confirmPassphrase, .recoveryKey, .former:
                noteAnswered()
            }
            return secret
        case .abort(let abort) where abort.question == question: throw Self.interruption(abort)
        case .reply, .abort, .answer, .draft, .hello, .pam, .flow, .record, .item, .query, .fleet,
            .transfer, .exportNext, .importChunk, .watch:
            throw .gone(.notUnderstood(.unknownValue))
        }
    }

    static func interruption(_ abort: Abort) -> Interruption {
        switch abort.reason {
        case .cancelled, .conversationFailed: .refused(.cancelled)
        case .answerTooLong: .refused(.tooLarge(limit: Limits.secret))
        }
    }

    /// A person is asked meanwhile, and not while what they have typed is to be gone.
    func whileAsking<R>(
        _ body: () async throws(Interruption) -> R
    ) async throws(Interruption) -> R {
        connection.isAsking = true
        connection.holdsSecret = answered || cameWithSecret
        defer {
            connection.isAsking = false
            connection.workingSince = Clock.bootMilliseconds()
        }
        guard !(connection.holdsSecret && connection.curfew.isOn) else {
            throw .refused(.cancelled)
        }
        return try await body()
    }

    /// What comes next of this exchange.
    func receiveAnswer(until deadline: UInt64) async throws(Interruption) -> Request {
        let request: (UInt32, Request)
        do {
            request = try await receive(until: deadline)
        } catch .timedOut {
            throw .refused(.cancelled)
        } catch {
            throw .gone(error)
        }
        guard request.0 == tag else { throw .gone(.notUnderstood(.unknownValue)) }
        return request.1
    }

    private func receive(until deadline: UInt64) async throws(ConnectionEnd) -> (UInt32, Request) {
        while true {
            let request = try await connection.receive(limit: Limits.smallFrame, until: deadline) {
                (header, body) throws(WireError) in
                (header.tag, try Request.decode(header, body))
            }
            if case .abort(let abort) = request.1, scans.contains(abort.question),
                request.0 == tag
            {
                continue
            }
            return request
        }
    }

    func give(token: SecretBox?) async throws(Interruption) {
        guard let secret = token?.take() ?? (try? SecretBytes(count: 0)) else { return }
        do {
            try await connection.send(Empty(), .token, tag: tag, secret: secret)
        } catch {
            throw .gone(error)
        }
    }

    func choose(_ message: Message) async throws(Interruption) -> Choice {
        let answer = try await ask(message, .choice)
        guard let typed = answer.take() else { return .neither }
        return typed.withBytes { voice.choice($0) }
    }

    private func carrying(_ message: Message) -> Line {
        var line = voice.line(message)
        var before: [UInt8] = []
        for message in carried.reversed() {
            let words = voice.line(message).text + [0x20]
            guard words.count + before.count + line.text.count <= Self.longestPrompt else { break }
            before = words + before
        }
        carried = []
        line.text = before + line.text
        return line
    }

    func reveal(_ message: Message, _ secret: borrowing SecretBytes) async throws(Interruption) {
        do {
            try await connection.send(
                Reveal(line: voice.line(message)), .reveal, tag: tag, secret: secret)
        } catch {
            throw .gone(error)
        }
        // Text that was written to a socket may not have been seen. The front end says when it has
        // shown it.
        _ = try await ask(message, .acknowledge)
    }
}
