public import Posix
public import Wire

extension SecretBuffer: Sink {
    public mutating func put(_ byte: UInt8) { append(byte) }
    public mutating func put(_ bytes: Span<UInt8>) { append(bytes) }
}

/// An open connection to the daemon: one write and one read for each request. The buffers are kept,
/// and wiped after each request.
public final class Connection {
    public private(set) var software: [UInt8]
    /// What both sides speak.
    private(set) var version = Limits.version
    private let socket: ClientSocket
    private var output = SecretBuffer(capacity: 16_384)
    private var input = SecretBuffer(capacity: 16_384)
    /// The size of the frame that is being read, with its header. The frame is dropped when the
    /// next one is asked for.
    private var frame = 0
    private var tag: UInt32 = 0
    /// Watches the person's keys while a reader waits for a finger; nil otherwise.
    private var keys: KeyWatch?
    /// Takes the passcode while a reader waits for a finger; nil otherwise.
    private var dialog: Dialog?
    /// Says in a window that the person goes on without a finger; nil otherwise.
    private var window: Inbox?
    /// The scan that runs; nil once it has ended.
    private var scan: UInt32?

    public static let defaultPath = Array("/run/appvault/socket".utf8)
    /// Root's own socket, where only root waits in line. A machine may be without it.
    public static let rootPath = Array("/run/appvault/root.socket".utf8)

    /// Connects, checks who listens before it sends a byte, and sends the hello.
    public convenience init(
        path: [UInt8] = Connection.defaultPath, hello: Hello,
        accepting trusted: (UInt32) -> Bool = Connection.isTrusted
    ) throws(ClientError) {
        let socket: ClientSocket
        do throws(PosixError) {
            socket = try Self.connect(path)
        } catch {
            throw .unavailable(
                error.isMissing || error.isRefused ? .notRunning : .notReachable(error))
        }
        try self.init(socket: socket, hello: hello, accepting: trusted)
    }

    private static func connect(_ path: [UInt8]) throws(PosixError) -> ClientSocket {
        func socket(_ path: [UInt8]) throws(PosixError) -> ClientSocket {
            try ClientSocket(path: path, wait: Limits.connectWait, silence: Limits.silenceWait)
        }
        if path == defaultPath, ToolIO.effectiveUID == 0, let own = try? socket(rootPath) {
            return own
        }
        return try socket(path)
    }

    public init(
        socket: consuming ClientSocket, hello: Hello,
        accepting trusted: (UInt32) -> Bool = Connection.isTrusted
    ) throws(ClientError) {
        let uid: UInt32
        do throws(PosixError) {
            uid = try socket.peerUID()
        } catch {
            throw .unavailable(.notReachable(error))
        }
        guard trusted(uid) else { throw .unavailable(.stranger(uid: uid)) }
        self.socket = socket
        software = []
        try send(.hello, hello)
        let welcome = try expect(.welcome, Welcome.self)
        guard Limits.version...hello.version ~= welcome.version else {
            throw .protocolBroken(.otherVersion(welcome.version))
        }
        software = welcome.software
        version = welcome.version
    }

    /// Whether the listener is systemd (root), the daemon's own user, or the caller's private
    /// daemon.
    public static func isTrusted(_ uid: UInt32) -> Bool {
        uid == 0 || uid == ToolIO.effectiveUID
            || ToolIO.account(named: Array("_appvault".utf8)) == .uid(uid)
    }

    // MARK: Requests of one answer

    /// Appends the record's value to `value`.
    public func get(_ name: [UInt8], store: [UInt8] = [], into value: inout SecretBuffer)
        throws(ClientError)
    {
        try send(.get, Record(store: store, name: name))
        try receive(.value)
        let slice = try readPayload(Empty.self, limit: Limits.value).slice
        input.withSpan(from: FrameHeader.size + slice.start, count: slice.count) {
            value.append($0)
        }
        release()
    }

    public func set(_ name: [UInt8], store: [UInt8] = [], _ value: Span<UInt8>) throws(ClientError)
    {
        try send(.set, Record(store: store, name: name), payload: value)
        try receive(.done)
        release()
    }

    public func set(
        _ name: [UInt8], store: [UInt8] = [], _ value: borrowing SecretBuffer
    ) throws(ClientError) {
        try value.withSpan { span throws(ClientError) in try set(name, store: store, span) }
    }

    public func delete(_ name: [UInt8], store: [UInt8] = []) throws(ClientError) {
        try send(.delete, Record(store: store, name: name))
        try receive(.done)
        release()
    }

    /// One page of names. Its cursor leads to the next page; a cursor of 0 ends the listing. What
    /// could not be given is added to `damaged`.
    public func list(
        prefix: [UInt8] = [], store: [UInt8] = [], cursor: UInt64 = 0,
        damaged: inout [DamagedRecords.Entry]
    ) throws(ClientError) -> Names {
        try send(.list, List(store: store, prefix: prefix, cursor: cursor))
        while true {
            let type = try receive()
            guard type == .damaged else {
                guard type == .names else { throw try refusal(type) }
                let names = try read(Names.self)
                release()
                return names
            }
            damaged += try read(DamagedRecords.self).records
            release()
        }
    }

    /// Every name with this prefix, sorted.
    func listAll(
        prefix: [UInt8] = [], store: [UInt8], damaged: inout [DamagedRecords.Entry]
    ) throws(ClientError) -> [[UInt8]] {
        var names: [[UInt8]] = []
        var cursor: UInt64 = 0
        repeat {
            let page = try list(prefix: prefix, store: store, cursor: cursor, damaged: &damaged)
            names += page.names
            cursor = page.cursor
        } while cursor != 0
        return names.sorted { $0.lexicographicallyPrecedes($1) }
    }

    /// All items of a store, without their secrets, and its collections. What could not be given is
    /// added to `damaged`.
    func allItems(
        store: [UInt8], damaged: inout [DamagedRecords.Entry]
    ) throws(ClientError) -> ItemNews {
        var all = ItemNews()
        var asked = ItemChanges(store: store)
        repeat {
            try send(.itemChanges, asked)
            let page = try news(&damaged)
            // The daemon begins anew where the store was locked and opened meanwhile.
            if page.isAnew { all = ItemNews() }
            all.collections += page.collections
            all.aliases += page.aliases
            all.items += page.items
            asked.cursor = page.cursor
        } while asked.cursor != 0
        return all
    }

    private func news(_ damaged: inout [DamagedRecords.Entry]) throws(ClientError) -> ItemNews {
        while true {
            let type = try receive()
            guard type == .damaged else {
                guard type == .itemNews else { throw try refusal(type) }
                let news = try read(ItemNews.self)
                release()
                return news
            }
            damaged += try read(DamagedRecords.self).records
            release()
        }
    }

    public func status(_ target: Target) throws(ClientError) -> State {
        try send(.status, target)
        return try expect(.state, State.self)
    }

    func policy(_ target: Target) throws(ClientError) -> PolicyValues {
        try ask(.policyShow, target, for: .policyValues, PolicyValues.self)
    }

    package func allTexts() throws(ClientError) -> TextList { try texts() }

    func texts() throws(ClientError) -> TextList {
        try ask(.texts, Empty(), for: .textList, TextList.self)
    }

    /// Any other request with one answer.
    func ask<B: Body, Answer: Body>(
        _ type: RequestType, _ body: B, for wanted: AnswerType, _ answer: Answer.Type
    ) throws(ClientError) -> Answer {
        try send(type, body)
        return try expect(wanted, answer)
    }

    /// From now on this connection only hears what happens to the person's stores; the descriptor
    /// is for whoever reads that. To be called instead of any further request.
    public func watch(records: Bool = false) throws(ClientError) -> FileDescriptor {
        try send(.watch, Watch(records: records))
        do throws(PosixError) {
            return try socket.duplicate()
        } catch {
            throw .unavailable(.notReachable(error))
        }
    }

    /// What a watch hears next, however long that takes; nil where nobody reads `output` any more.
    func nextEvent(for output: Int32) throws(ClientError) -> Event? {
        release()
        if !holdsNews(), socket.wait(orEndOf: output) == .readerGone { return nil }
        return try expect(.event, Event.self)
    }

    // MARK: Frames

    func send<B: Body>(_ type: RequestType, _ body: B) throws(ClientError) {
        tag &+= 1
        Frame.write(body, type: type.rawValue, tag: tag, to: &output)
        try flush()
    }

    func send<B: Body>(_ type: RequestType, _ body: B, payload: Span<UInt8>) throws(ClientError) {
        tag &+= 1
        Frame.write(body, type: type.rawValue, tag: tag, payload: payload, to: &output)
        try flush()
    }

    /// Sends a reply in the running exchange, under its tag.
    func send(_ reply: Reply, payload: Span<UInt8>) throws(ClientError) {
        try goOn(.reply, reply, payload)
    }

    func send(_ answer: Answer, payload: Span<UInt8>) throws(ClientError) {
        try goOn(.answer, answer, payload)
    }

    func send(_ draft: Draft, payload: Span<UInt8>) throws(ClientError) {
        try goOn(.draft, draft, payload)
    }

    private func goOn<B: Body>(
        _ type: RequestType, _ body: B, _ payload: Span<UInt8>
    ) throws(ClientError) {
        Frame.write(body, type: type.rawValue, tag: tag, payload: payload, to: &output)
        try flush()
    }

    func send(_ abort: Abort) throws(ClientError) {
        Frame.write(abort, type: RequestType.abort.rawValue, tag: tag, to: &output)
        try flush()
    }

    private func flush() throws(ClientError) {
        defer { output.removeAll() }
        do throws(PosixError) {
            try socket.send(output)
        } catch {
            // The daemon may have sent the reason before it closed the connection.
            if error.isBrokenPipe { return }
            throw .unavailable(error.isTimeout ? .silent : .notReachable(error))
        }
    }

    /// The next frame that is more than a sign of life. Its body stays until `release`.
    func receive() throws(ClientError) -> AnswerType {
        while true {
            release()
            let header = try readFrame()
            guard let type = AnswerType(rawValue: header.type) else {
                throw .protocolBroken(.unexpected(type: header.type))
            }
            // A refusal of the connection itself carries no tag.
            guard header.tag == tag || (type == .refused && header.tag == 0) else {
                throw .protocolBroken(.wrongTag)
            }
            if type != .working { return type }
        }
    }

    /// From now on Enter and Ctrl-C tell the daemon to go on without a finger.
    func watchKeys(_ question: UInt32) {
        scan = question
        keys = KeyWatch()
    }

    func leaveKeys() {
        keys = nil
    }

    /// From now on an answer in the dialog, or its end, tells the daemon to go on without a finger.
    func watch(_ dialog: Dialog, _ question: UInt32) throws(ClientError) {
        self.dialog = dialog
        scan = question
        // The answer came between two scans.
        if dialog.ending != nil { try endScan() }
    }

    /// From now on a cancel in the window tells the daemon to go on without a finger.
    func watch(_ inbox: Inbox, _ question: UInt32) throws(ClientError) {
        window = inbox
        scan = question
        if inbox.next(question) != nil { try endScan() }
    }

    func leaveWindow() {
        window = nil
        scan = nil
    }

    /// Waits for the person as long as it takes. False where the daemon has said something meanwhile, or has gone.
    func waitForPerson(_ bell: Doorbell) -> Bool {
        release()
        while !holdsNews() {
            switch bell.wait(beside: socket.raw, -1) {
            case .rung: return true
            case .late: break
            case .other:
                guard let got = try? socket.receive(into: &input), got > 0 else { return false }
            }
        }
        return false
    }

    func scanHasEnded() { scan = nil }

    func leaveDialog() {
        dialog = nil
        scan = nil
    }

    private func endScan() throws(ClientError) {
        guard let question = scan else { return }
        scan = nil
        try send(Abort(question: question, reason: .cancelled))
    }

    /// Waits for the person's answer. If the daemon goes on without it, the dialog is closed.
    func wait(for dialog: Dialog) -> Dialog.Ending {
        release()
        // It may have come together with the question.
        var isOver = holdsNews()
        while true {
            if isOver { dialog.end(dialog.waitsForTurn ? .busy : .overtaken) }
            switch dialog.wait(beside: socket.raw, -1) {
            case .ended(let ending): return ending
            case .late: break
            case .other:
                guard let got = try? socket.receive(into: &input), got > 0 else {
                    isOver = true
                    continue
                }
                isOver = holdsNews()
            }
        }
    }

    /// Whether more has arrived than signs of life, which are dropped.
    private func holdsNews() -> Bool {
        while true {
            let header = try? input.withSpan { span throws(WireError) in
                try FrameHeader.decode(span, limit: Limits.frame)
            }
            guard let header = header ?? nil else { return input.count >= FrameHeader.size }
            let whole = FrameHeader.size + header.length
            guard header.type == AnswerType.working.rawValue, input.count >= whole else {
                return true
            }
            input.dropFirst(whole)
        }
    }

    /// Waits for a frame as `receive` does, and for the person's keys.
    private func waitWithKeys() throws(ClientError) {
        while let arrival = keys?.wait(for: socket, Limits.silenceWait) {
            switch arrival {
            case .readable: return
            case .late:
                leaveKeys()
                throw .unavailable(.silent)
            case .givenUp:
                leaveKeys()
                try endScan()
            case .fatal(let signal):
                leaveKeys()
                KeyWatch.end(by: signal)
            }
        }
        while let window, let question = scan {
            switch window.bell.wait(beside: socket.raw, Limits.silenceWait) {
            case .other: return
            case .late: throw .unavailable(.silent)
            case .rung: if window.next(question) != nil { try endScan() }
            }
        }
        while let dialog, dialog.ending == nil {
            switch dialog.wait(beside: socket.raw, Limits.silenceWait) {
            case .other: return
            case .late: throw .unavailable(.silent)
            case .ended: try endScan()
            }
        }
    }

    private func readFrame() throws(ClientError) -> FrameHeader {
        while true {
            let header: FrameHeader?
            do throws(WireError) {
                header = try input.withSpan { span throws(WireError) in
                    try FrameHeader.decode(span, limit: Limits.frame)
                }
            } catch {
                throw .protocolBroken(.undecodable(error))
            }
            if let header {
                let whole = FrameHeader.size + header.length
                if input.count >= whole {
                    frame = whole
                    return header
                }
                input.reserve(whole - input.count)
            }
            try waitWithKeys()
            let got: Int
            do throws(PosixError) {
                got = try socket.receive(into: &input)
            } catch {
                if error.isTimeout { throw .unavailable(.silent) }
                throw .unavailable(error.isBrokenPipe ? .closed : .notReachable(error))
            }
            guard got > 0 else { throw .unavailable(.closed) }
        }
    }

    func release() {
        guard frame > 0 else { return }
        input.dropFirst(frame)
        frame = 0
    }

    func receive(_ wanted: AnswerType) throws(ClientError) {
        let type = try receive()
        guard type == wanted else { throw try refusal(type) }
    }

    func expect<B: Body>(_ wanted: AnswerType, _ body: B.Type) throws(ClientError) -> B {
        try receive(wanted)
        let value = try read(body)
        release()
        return value
    }

    /// Decodes the frame's body to its end.
    func read<B: Body>(_ type: B.Type) throws(ClientError) -> B {
        try decoded { body throws(WireError) in
            var reader = Reader()
            let value = try B(&reader, body)
            try reader.end(body)
            return value
        }
    }

    /// The same for a body that is followed by a payload.
    func readPayload<B: Body>(_ type: B.Type, limit: Int) throws(ClientError) -> (
        body: B, slice: Slice
    ) {
        try decoded { body throws(WireError) in
            var reader = Reader()
            let value = try B(&reader, body)
            let slice = try reader.payload(body, limit: limit)
            try reader.end(body)
            return (value, slice)
        }
    }

    /// The payload that `readPayload` has found.
    func withPayload<R, E: Error>(_ slice: Slice, _ body: (Span<UInt8>) throws(E) -> R) throws(E)
        -> R
    {
        try input.withSpan(from: FrameHeader.size + slice.start, count: slice.count, body)
    }

    func refusal(_ type: AnswerType) throws(ClientError) -> ClientError {
        guard type == .refused else { return .protocolBroken(.unexpected(type: type.rawValue)) }
        let refused = try read(Refused.self)
        release()
        return .refused(refused)
    }

    private func decoded<T>(_ decode: (Span<UInt8>) throws(WireError) -> T) throws(ClientError) -> T
    {
        do throws(WireError) {
            return try input.withSpan(
                from: FrameHeader.size, count: frame - FrameHeader.size, decode)
        } catch {
            throw .protocolBroken(.undecodable(error))
        }
    }
}
