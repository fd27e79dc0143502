internal import Wire

/// A connection to the daemon, made when it is first needed and made anew where it was lost. One
/// request at a time is under way on it; others wait for their turn.
///
/// An answer that is quick is waited for on the task's own thread, for a moment (UnixSocket): the
/// daemon needs less than that for a `get`, and a change of threads would cost as much again. What
/// takes longer is waited for by the poller, and the task is suspended.
actor Link {
    /// Answers that are still to come for calls that were cancelled. With more than these the
    /// connection is given up.
    private static let mostAbandoned = 16

    private let greeting: Greeting
    private let waits: Waits
    private var socket: UnixSocket?
    private var wasConnected = false
    private var input = WipedBytes(capacity: 16_384)
    private var tag: UInt32 = 0
    private var abandoned: Set<UInt32> = []
    private var turns = Turns()

    init(_ greeting: Greeting, _ waits: Waits = Waits()) {
        self.greeting = greeting
        self.waits = waits
    }

    // MARK: Whose turn it is

    func enter() async throws(VaultError) {
        if turns.take() { return }
        let id = turns.newID()
        let isOurs = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled {
                    continuation.resume(returning: false)
                } else {
                    turns.wait(id, continuation)
                }
            }
        } onCancel: {
            Task { await self.giveUp(id) }
        }
        guard isOurs else { throw .cancelled }
    }

    private func giveUp(_ id: UInt64) { turns.giveUp(id) }

    func leave() { turns.leave() }

    // MARK: The connection

    /// Connects if there is no connection yet.
    func open() async throws(VaultError) {
        try await enter()
        defer { leave() }
        guard socket == nil else { return }
        do throws(LinkFailure) {
            try await connect()
        } catch {
            throw ended(error)
        }
    }

    /// A daemon of a former release knows no screens and refuses to be greeted with them.
    private func connect() async throws(LinkFailure) {
        guard greeting.drawsScreens else { return try await connect(Limits.version) }
        do throws(LinkFailure) {
            try await connect(Limits.versionWithScreens)
        } catch .answered {
            try await connect(Limits.version)
        }
    }

    /// Checks who listens before a byte is sent, and greets.
    private func connect(_ version: UInt16) async throws(LinkFailure) {
        disconnect()
        let made = try await attempts()
        let uid: UInt32
        do throws(SystemError) {
            uid = try made.peerUID()
        } catch {
            throw .turnedAway(VaultError(.connectionFailed, "the connection failed: \(error.text)"))
        }
        guard greeting.isTrusted(uid) else {
            throw .turnedAway(
                VaultError(
                    .notTrusted, "uid \(uid) listens at \(greeting.path), and is not trusted"))
        }
        socket = consume made
        var hello = Outgoing(.hello, greeting.hello(version))
        try await send(&hello)
        let header = try await nextFrame(
            isQuick: true, isCancellable: false, within: waits.silence)
        if header.type == AnswerType.refused.rawValue { throw refusal(header) }
        guard header.type == AnswerType.welcome.rawValue else {
            throw .broken(.unexpected(header.type))
        }
        let welcome: Welcome
        do throws(WireError) {
            welcome = try input.withSpan(from: FrameHeader.size) { rest throws(WireError) in
                try Incoming.decode(Welcome.self, rest.extracting(first: header.length))
            }
        } catch {
            throw .broken(.undecodable(error))
        }
        input.dropFirst(FrameHeader.size + header.length)
        guard welcome.version == version else {
            throw .broken(
                VaultError(.otherVersion, "the daemon speaks version \(welcome.version)"))
        }
        wasConnected = true
    }

    /// A listener's queue may be full for a moment, and a daemon that was there a moment ago may be
    /// on its way back.
    private func attempts() async throws(LinkFailure) -> UnixSocket {
        let deadline = Clock.milliseconds() + waits.connect
        var path = greeting.path
        if path == Greeting.standardPath, ThisProcess.effectiveUID == 0 {
            path = Greeting.rootPath
        }
        while true {
            let reason: SystemError
            do throws(SystemError) {
                switch try UnixSocket.connect(Array(path.utf8)) {
                case .connected(let socket): return socket
                case .later(let error): reason = error
                }
            } catch {
                throw .turnedAway(
                    VaultError(
                        .connectionFailed, "\(greeting.path) cannot be connected to: \(error.text)")
                )
            }
            if path == Greeting.rootPath {
                path = greeting.path
                continue
            }
            let isAway = reason.isMissing || reason.isRefused
            guard Clock.milliseconds() < deadline, wasConnected || !isAway else {
                throw .turnedAway(
                    isAway
                        ? VaultError(.notRunning, "appvaultd does not run at \(greeting.path)")
                        : VaultError(.busy, "appvaultd takes no connection now"))
            }
            do {
                try await Task.sleep(for: .milliseconds(10))
            } catch {
                throw .turnedAway(.cancelled)
            }
        }
    }

    // MARK: One request

    /// What may happen to a request on its way.
    enum Kind {
        /// It changes nothing: it is sent again over a new connection, and a task that is cancelled
        /// does not wait for its answer.
        case reads
        /// It is sent again only if the daemon has surely not taken it, and once it was sent its
        /// outcome is waited for.
        case changes
    }

    enum Step {
        case more
        case done
        case unexpected
    }

    func request<R: ~Copyable & Sendable>(
        _ request: consuming Outgoing, _ kind: Kind, from begin: @Sendable () -> R,
        _ take: @Sendable (inout R, AnswerType, Span<UInt8>) throws(WireError) -> Step
    ) async throws(VaultError) -> R {
        try await enter()
        defer { leave() }
        var isFirst = true
        while true {
            if Task.isCancelled { throw .cancelled }
            let failure: LinkFailure
            var isSent = false
            do throws(LinkFailure) {
                if socket == nil { try await connect() }
                try await send(&request)
                isSent = true
                var result = begin()
                try await receive(&result, kind, take)
                return result
            } catch {
                failure = error
            }
            let error: VaultError
            switch failure {
            case .answered(let refusal): throw refusal
            case .turnedAway(let refusal):
                disconnect()
                throw refusal
            case .broken(let reason):
                disconnect()
                if isSent, case .changes = kind { throw reason.withUnknownOutcome }
                throw reason
            case .notTaken(let reason):
                disconnect()
                error = reason
            case .lost(let reason):
                disconnect()
                if isSent, case .changes = kind { throw reason.withUnknownOutcome }
                error = reason
            }
            guard isFirst else { throw error }
            isFirst = false
        }
    }

    private func receive<R: ~Copyable>(
        _ result: inout R, _ kind: Kind,
        _ take: (inout R, AnswerType, Span<UInt8>) throws(WireError) -> Step
    ) async throws(LinkFailure) {
        while true {
            let isCancellable: Bool
            switch kind {
            case .reads: isCancellable = true
            case .changes: isCancellable = false
            }
            let header = try await nextFrame(
                isQuick: isCancellable, isCancellable: isCancellable, within: waits.silence)
            guard let type = AnswerType(rawValue: header.type) else {
                throw .broken(.unexpected(header.type))
            }
            let step: Step
            if type == .working {
                step = .more
            } else if type == .refused {
                throw refusal(header)
            } else {
                do throws(WireError) {
                    step = try input.withSpan(from: FrameHeader.size) { rest throws(WireError) in
                        try take(&result, type, rest.extracting(first: header.length))
                    }
                } catch {
                    throw .broken(.undecodable(error))
                }
            }
            input.dropFirst(FrameHeader.size + header.length)
            switch step {
            case .more: continue
            case .done: return
            case .unexpected: throw .broken(.unexpected(header.type))
            }
        }
    }

    private func refusal(_ header: FrameHeader) -> LinkFailure {
        do throws(WireError) {
            let refused = try input.withSpan(from: FrameHeader.size) { rest throws(WireError) in
                try Incoming.decode(Refused.self, rest.extracting(first: header.length))
            }
            input.dropFirst(FrameHeader.size + header.length)
            // Without a tag it is the connection that is refused.
            let error = VaultError(refused)
            return header.tag == 0 ? .turnedAway(error) : .answered(error)
        } catch {
            return .broken(.undecodable(error))
        }
    }

    // MARK: An exchange, by its steps

    /// Begins a request that this connection is for alone.
    func begin(_ request: consuming Outgoing) async throws(VaultError) {
        do throws(LinkFailure) {
            if socket == nil { try await connect() }
            try await send(&request)
        } catch {
            throw ended(error)
        }
    }

    /// Sends another frame under the tag of the request that has begun.
    func reply(_ frame: consuming Outgoing) async throws(VaultError) {
        do throws(LinkFailure) {
            try await send(&frame, isNew: false)
        } catch {
            throw ended(error)
        }
    }

    /// The next frame, a sign of life included.
    func next(within limit: UInt64?, isCancellable: Bool) async throws(VaultError) -> Incoming {
        do throws(LinkFailure) {
            let header = try await nextFrame(
                isQuick: false, isCancellable: isCancellable, within: limit)
            guard let type = AnswerType(rawValue: header.type) else {
                throw .broken(.unexpected(header.type))
            }
            let body = input.withSpan(from: FrameHeader.size) { rest in
                var copy = WipedBytes(capacity: header.length)
                copy.put(rest.extracting(first: header.length))
                return copy
            }
            input.dropFirst(FrameHeader.size + header.length)
            return Incoming(type: type, body: body)
        } catch {
            throw ended(error)
        }
    }

    /// Returns when more than a sign of life has come, the connection has ended, the time is over,
    /// or the task was cancelled. What has come is left where it is.
    func hasNews(within limit: UInt64) async {
        let deadline = Clock.milliseconds() + limit
        while let raw = socket?.raw {
            while let header = try? header(), header.type == AnswerType.working.rawValue {
                input.dropFirst(FrameHeader.size + header.length)
            }
            guard input.count == 0 else { return }
            let outcome = await Poller.shared.wait(
                for: raw, .readable, until: deadline, cancellable: true)
            guard outcome == .ready else { return }
            guard let received = try? socket?.receive(into: &input, room: 4096),
                received != .ended
            else {
                // Whoever reads next hears of it.
                socket = nil
                return
            }
        }
    }

    func disconnect() {
        socket = nil
        input.removeAll()
        abandoned = []
    }

    private func ended(_ failure: LinkFailure) -> VaultError {
        switch failure {
        case .answered(let error): return error
        case .turnedAway(let error), .broken(let error), .notTaken(let error), .lost(let error):
            disconnect()
            return error
        }
    }

    // MARK: Frames

    private func send(_ request: inout Outgoing, isNew: Bool = true) async throws(LinkFailure) {
        if isNew {
            tag &+= 1
            // A refusal of the connection itself has the tag 0.
            if tag == 0 { tag = 1 }
        }
        request.mark(tag)
        var sent = 0
        let deadline = Clock.milliseconds() + waits.frame
        while sent < request.bytes.count {
            guard socket != nil else { throw .notTaken(.closed) }
            let taken: Int
            do throws(SystemError) {
                taken = try request.bytes.withSpan(from: sent) { rest throws(SystemError) in
                    try socket!.send(rest)
                }
            } catch {
                throw failure(of: error)
            }
            sent += taken
            if taken == 0, let raw = socket?.raw {
                let outcome = await Poller.shared.wait(
                    for: raw, .writable, until: deadline, cancellable: false)
                if outcome == .late { throw .broken(.silent) }
            }
        }
    }

    /// Nothing was sent whole. The daemon may have said why before it closed the connection.
    private func failure(of error: SystemError) -> LinkFailure {
        guard error.isBrokenPipe || error.isReset else {
            return .broken(VaultError(.connectionFailed, "the connection failed: \(error.text)"))
        }
        while let received = try? socket?.receive(into: &input, room: 4096), received == .bytes {}
        while let header = try? header() {
            if header.tag == 0, header.type == AnswerType.refused.rawValue {
                return refusal(header)
            }
            input.dropFirst(FrameHeader.size + header.length)
        }
        return .notTaken(.closed)
    }

    /// The header of the next frame, once all of that has come.
    private func header() throws(LinkFailure) -> FrameHeader? {
        let header: FrameHeader?
        do throws(WireError) {
            header = try input.withSpan { span throws(WireError) in
                try FrameHeader.decode(span, limit: Limits.frame)
            }
        } catch {
            throw .broken(.undecodable(error))
        }
        guard let header else { return nil }
        let missing = FrameHeader.size + header.length - input.count
        if missing > 0 { input.reserve(missing) }
        return missing > 0 ? nil : header
    }

    /// Waits for a frame of the present request, and leaves it in `input`. Frames for calls that were
    /// cancelled are dropped.
    private func nextFrame(
        isQuick: Bool, isCancellable: Bool, within limit: UInt64?
    ) async throws(LinkFailure) -> FrameHeader {
        let deadline = limit.map { Clock.milliseconds() + $0 }
        while true {
            guard let header = try header() else {
                try await fill(isQuick: isQuick, isCancellable: isCancellable, until: deadline)
                continue
            }
            if header.tag == tag { return header }
            let isRefused = header.type == AnswerType.refused.rawValue
            if header.tag == 0, isRefused { return header }
            guard abandoned.contains(header.tag) else {
                throw .broken(VaultError(.protocolError, "the daemon has answered another request"))
            }
            input.dropFirst(FrameHeader.size + header.length)
            // These come before the end of a request.
            let isLast = ![AnswerType.working, .damaged].contains { $0.rawValue == header.type }
            if isLast { abandoned.remove(header.tag) }
        }
    }

    private func fill(
        isQuick: Bool, isCancellable: Bool, until deadline: UInt64?
    ) async throws(LinkFailure) {
        guard let raw = socket?.raw else { throw .lost(.closed) }
        if try receive(waits: isQuick) { return }
        switch await Poller.shared.wait(
            for: raw, .readable, until: deadline, cancellable: isCancellable)
        {
        case .ready: _ = try receive(waits: false)
        case .late: throw .broken(.silent)
        case .cancelled:
            abandoned.insert(tag)
            if abandoned.count > Link.mostAbandoned { throw .broken(.cancelled) }
            throw .answered(.cancelled)
        }
    }

    /// Whether something has come.
    private func receive(waits: Bool) throws(LinkFailure) -> Bool {
        do throws(SystemError) {
            switch try socket!.receive(into: &input, room: 4096, waits: waits) {
            case .bytes: return true
            case .nothing: return false
            case .ended: break
            }
        } catch {
            // The kernel says so where the daemon has not read all that was sent, and a request is
            // the last thing that was.
            if error.isReset { throw .notTaken(.closed) }
            throw .broken(VaultError(.connectionFailed, "the connection failed: \(error.text)"))
        }
        throw .lost(.closed)
    }
}
