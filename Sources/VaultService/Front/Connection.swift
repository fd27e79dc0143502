import Posix
import Secrets
import StoreKeeping
import Wire
import WorkerLinks

/// Why a connection is over. A peer that is gone or too late is told nothing.
enum ConnectionEnd: Error, Equatable {
    case closed
    case timedOut
    case notUnderstood(WireError)
    case outOfMemory
}

/// Memory that frames pass through: one piece in each direction, shared by all connections, locked
/// where the limit allows it, wiped after each use. A frame that does not fit gets a buffer of its
/// own.
@LoopActor
final class Slabs {
    static let size = 64 << 10

    let input = WipedBuffer(lockedCapacity: size)
    let output = WipedBuffer(lockedCapacity: size)
    /// Something did not fit since this was last looked at, and so left a hole in the heap.
    var wereExceeded = false

    func own(_ capacity: Int) -> WipedBuffer {
        wereExceeded = true
        return WipedBuffer(capacity: capacity)
    }
}

/// On while the machine goes to sleep: no question waits for a person then if its flow holds a
/// secret that opens a store.
@LoopActor
final class Curfew {
    var isOn = false
}

/// A place of a party.
enum PlaceKind {
    case ordinary
    /// Beside the ordinary ones.
    case spare
}

/// One peer's socket: reads whole frames and writes whole frames.
@LoopActor
final class Connection: Lodger {
    let credentials: PeerCredentials
    private let channel: Channel
    private let slabs: Slabs
    private let turns: Turns
    private let rooms: Rooms
    let curfew: Curfew
    /// The party whose place the connection has.
    private(set) var home: Share
    /// Of its places.
    var place: PlaceKind
    /// The party whose turns and time it takes.
    private(set) var share: Share
    private(set) var isClaimed = false
    /// Bytes of a frame that is not whole yet, or that came together with the frame before it.
    private var pending: WipedBuffer?
    private(set) var lastSent: UInt64 = 0
    private var isSending = false
    /// The tag of a request that takes long. The ticker tells the peer that it is being worked on.
    var workingTag: UInt32?
    var workingSince: UInt64 = 0
    /// The daemon waits for a person's answer, so the peer is not waiting for the daemon.
    var isAsking = false
    /// It only hears what happens, and has read all of it: no time of its own is running.
    var isQuiet = false
    /// The flow that asks holds a secret that opens a store, or nearly does.
    var holdsSecret = false

    /// The pass of the loop in which it had its last turn.
    private var lastTurn: UInt64 = 0
    /// Set while the connection waits for a turn or for room. Otherwise its reader waits for bytes.
    private var wait: Wait?
    /// The deadline of the `receive` under way.
    private var deadline: UInt64?
    /// The time for the frame that is being read is over.
    private var isLate = false
    private var frameBegan: UInt64?
    private var unreadSince: UInt64?
    /// What the peer has not read of the answer under way.
    private var unread: WipedBuffer?

    /// The room that this connection has for a large frame.
    var lodging = Lodging.none

    init(
        channel: Channel, credentials: PeerCredentials, share: Share, place: PlaceKind = .ordinary,
        turns: Turns, rooms: Rooms, curfew: Curfew, slabs: Slabs
    ) {
        self.channel = channel
        self.credentials = credentials
        self.slabs = slabs
        self.turns = turns
        self.rooms = rooms
        self.curfew = curfew
        home = share
        self.place = place
        self.share = share
    }

    /// It waits for a frame of its peer, and owes no answer.
    private(set) var isReading = false
    /// Something of the peer's has not been read or dealt with.
    var hasInput: Bool { pending != nil || channel.hasInput }

    func close() {
        channel.close()
        wait?.end(.closed)
        pending = nil
    }

    /// Sends an answer that holds something of a store's records. If the store is locked before the
    /// peer has read all of it, the rest is wiped at once, and the connection ends. `opening` is the
    /// one in which it was read.
    func answer(
        from records: OpenRecordsQueue, opening: Int,
        _ body: () async throws(ConnectionEnd) -> Void
    ) async throws(ConnectionEnd) {
        guard records.opening == opening else { throw .closed }
        records.follow(self) { [weak self] in self?.dropUnread() }
        defer { records.unfollow(self) }
        try await body()
    }

    private func dropUnread() {
        unread?.wipe()
        close()
    }

    func process() -> PeerProcess {
        PeerProcess(of: credentials, socket: channel.number)
    }

    var hasHungUp: Bool { channel.hasHungUp }

    /// Ends a `receive` that waits, as if its time were over. What has come of a frame is kept.
    func wakeReader() {
        if let wait { wait.end(.timedOut) } else { channel.wakeReader() }
    }

    // MARK: whose it is

    /// Moves the connection to its party, which was not known at first.
    func move(to share: Share) {
        home = share
        if !isClaimed { self.share = share }
    }

    /// A program of root's acts for another party: the connection uses that party's turns and time.
    func claim(_ share: Share) {
        self.share = share
        isClaimed = true
    }

    func endIfLate(_ now: UInt64) {
        let whole = frameBegan.map { $0 + UInt64(Limits.frameWait) }
        if let deadline, now >= min(deadline, whole ?? deadline) {
            endReading()
        } else if let whole, now >= whole {
            endReading()
        }
        if let unreadSince, now >= unreadSince + UInt64(Limits.unreadWait) {
            channel.wakeWriter()
        }
    }

    /// If a byte comes at this very moment, the reader is at work, and the byte must not save it.
    /// `isLate` makes it end as soon as it wants to wait for more.
    private func endReading() {
        isLate = true
        wakeReader()
    }

    private func charge() {
        if share.isLimited { EventLoop.shared.charge(to: share) }
    }

    // MARK: in

    /// The next frame, decoded in place: the closure copies out what it keeps, then the bytes are
    /// wiped. Each frame, and each piece of one, takes a turn.
    func receive<R>(
        limit: Int, until deadline: UInt64?,
        _ decode: (FrameHeader, Span<UInt8>) throws(WireError) -> R
    ) async throws(ConnectionEnd) -> R {
        self.deadline = deadline
        isLate = false
        isReading = true
        defer {
            self.deadline = nil
            isReading = false
        }
        // The frame before has been dealt with, so its room is given back.
        rooms.leave(self)
        while true {
            if let result = try readAgain(limit: limit, decode) { return result }
            // Wait until there is something to read or to decode. Then wait for this connection's
            // turn.
            if let left = try bytesLeft(limit: limit) {
                if isLate { throw .timedOut }
                if pending != nil, frameBegan == nil { frameBegan = Clock.bootMilliseconds() }
                if case .large(let whole) = left { try await enter(whole) }
                try Self.refuseEnd(await channel.readable(until: nil))
            }
            charge()
            if let wait = turns.take(share, last: lastTurn) { try await come(wait) }
            lastTurn = EventLoop.shared.pass
            charge()
            let result: R?
            if let decoded = try decodePending(limit: limit, decode) {
                result = decoded
            } else {
                result = try read(limit: limit, decode)
            }
            if let result {
                frameBegan = nil
                return result
            }
        }
    }

    /// The next frame, if it is here already. Asking in vain costs a system call, so a peer that
    /// was not as quick is left out for a while, for longer each time.
    private func readAgain<R>(
        limit: Int, _ decode: (FrameHeader, Span<UInt8>) throws(WireError) -> R
    ) throws(ConnectionEnd) -> R? {
        guard pending == nil, !isLate else { return nil }
        guard leftOut == 0 else {
            leftOut -= 1
            return nil
        }
        guard turns.takeAgain(share, last: lastTurn) else { return nil }
        charge()
        let result = try read(limit: limit, decode)
        if result == nil {
            slowness = min(slowness * 2 + 1, 63)
            leftOut = slowness
        } else {
            slowness = 0
        }
        return result
    }

    /// How many more answers the peer is not read again at once, and how many it was the last time.
    private var leftOut = 0
    private var slowness = 0

    private enum Left {
        case small
        case large(Int)
    }

    /// Nil if a whole frame has come.
    private func bytesLeft(limit: Int) throws(ConnectionEnd) -> Left? {
        guard let buffer = pending else { return .small }
        guard let header = try Self.header(buffer, limit: limit) else { return .small }
        let whole = FrameHeader.size + header.length
        if buffer.count >= whole { return nil }
        return header.length > Limits.smallFrame ? .large(whole) : .small
    }

    /// Waits until there is room for the whole frame. Before that, no more of it is read and no
    /// memory is set aside.
    private func enter(_ whole: Int) async throws(ConnectionEnd) {
        slabs.wereExceeded = true
        switch share.party {
        case .accountless: throw .notUnderstood(.tooLong)
        case .root, .person, .unresolved: break
        }
        guard case .none = lodging, let wait = rooms.enter(self, whole) else { return }
        try await come(wait)
    }

    /// The same party has not read an earlier large answer yet.
    var mustWaitToAnswer: Bool { share.unread > 0 && share.isLimited }

    /// Called before an answer that may be large: each party has at most one that it has not read.
    func waitToAnswer() async throws(ConnectionEnd) {
        while let wait = rooms.answer(share) { try await come(wait) }
    }

    private func come(_ wait: Wait) async throws(ConnectionEnd) {
        self.wait = wait
        let wake = await wait.value()
        self.wait = nil
        try Self.refuseEnd(channel.isClosed ? .closed : wake)
    }

    private static func refuseEnd(_ wake: Channel.Wake) throws(ConnectionEnd) {
        switch wake {
        case .ready: return
        case .timedOut: throw .timedOut
        case .closed: throw .closed
        }
    }

    private func decodePending<R>(
        limit: Int, _ decode: (FrameHeader, Span<UInt8>) throws(WireError) -> R
    ) throws(ConnectionEnd) -> R? {
        guard let buffer = pending else { return nil }
        let (result, used) = try Self.decode(buffer, limit: limit, decode)
        guard let result else { return nil }
        if used == buffer.count { pending = nil } else { buffer.removeFirst(used) }
        return result
    }

    private func read<R>(
        limit: Int, _ decode: (FrameHeader, Span<UInt8>) throws(WireError) -> R
    ) throws(ConnectionEnd) -> R? {
        if let buffer = pending {
            // Room for what has come and as much again, up to the length that the header announces.
            // A peer gets no memory for a mere announcement.
            let header = try Self.header(buffer, limit: limit)
            let whole = FrameHeader.size + (header?.length ?? 0)
            if whole > FrameHeader.size + Limits.smallFrame {
                buffer.grow(toExactly: min(whole, max(buffer.count * 2, Slabs.size)))
            } else {
                buffer.grow(to: max(whole, buffer.count + 512))
            }
            // SAFETY: the room lies behind the bytes that are there, and the read stays within it.
            let transfer = unsafe buffer.withRoom(from: buffer.count) { room in
                unsafe channel.read(into: room)
            }
            guard let count = try Self.count(transfer) else { return nil }
            buffer.setCount(buffer.count + count)
            return try decodePending(limit: limit, decode)
        }
        let slab = slabs.input
        // What is left of the bytes after a frame is kept, so a limited party reads no more than a
        // small frame at once.
        let most = share.isLimited ? FrameHeader.size + Limits.smallFrame : Slabs.size
        // SAFETY: the read stays within the beginning of the room, which is all that it gets.
        let transfer = unsafe slab.withRoom { room in
            unsafe channel.read(into: UnsafeMutableRawBufferPointer(rebasing: room[..<most]))
        }
        guard let count = try Self.count(transfer) else { return nil }
        slab.setCount(count)
        defer { slab.wipe(first: count) }
        let (result, used) = try Self.decode(slab, limit: limit, decode)
        if used < count {
            let rest = WipedBuffer(capacity: max(count - used, 512))
            slab.withBytes { bytes in rest.append(bytes.extracting(used..<count)) }
            pending = rest
        }
        return result
    }

    private static func count(_ transfer: Channel.Transfer) throws(ConnectionEnd) -> Int? {
        switch transfer {
        case .bytes(let count): return count
        case .wouldBlock: return nil
        case .ended, .failed: throw .closed
        }
    }

    private static func header(_ buffer: WipedBuffer, limit: Int) throws(ConnectionEnd)
        -> FrameHeader?
    {
        do {
            return try buffer.withBytes { (bytes) throws(WireError) in
                try FrameHeader.decode(bytes, limit: limit)
            }
        } catch {
            throw .notUnderstood(error)
        }
    }

    private static func decode<R>(
        _ buffer: WipedBuffer, limit: Int,
        _ decode: (FrameHeader, Span<UInt8>) throws(WireError) -> R
    ) throws(ConnectionEnd) -> (R?, Int) {
        do {
            return try buffer.withBytes { (bytes) throws(WireError) -> (R?, Int) in
                guard let header = try FrameHeader.decode(bytes, limit: limit) else {
                    return (nil, 0)
                }
                let end = FrameHeader.size + header.length
                guard bytes.count >= end else { return (nil, 0) }
                return (try decode(header, bytes.extracting(FrameHeader.size..<end)), end)
            }
        } catch {
            throw .notUnderstood(error)
        }
    }

    // MARK: out

    func send<B: Body>(_ body: B, _ type: AnswerType, tag: UInt32) async throws(ConnectionEnd) {
        var sink = sink(for: body)
        Frame.write(body, type: type.rawValue, tag: tag, to: &sink)
        try await flush(sink.buffer)
    }

    /// What all connections share does not grow for a large page.
    private func sink(for body: some Body, payload: Int = 0) -> BufferSink {
        var counter = Counter()
        body.write(to: &counter)
        let count = FrameHeader.size + counter.count + 4 + payload
        let isLarge = count > Slabs.size || payload > Slabs.size / 2
        return BufferSink(isLarge ? slabs.own(count) : slabs.output)
    }

    func send<B: Body>(
        _ body: B, _ type: AnswerType, tag: UInt32, payload: WipedBuffer
    ) async throws(ConnectionEnd) {
        var sink = sink(for: body, payload: payload.count)
        payload.withBytes { bytes in
            Frame.write(body, type: type.rawValue, tag: tag, payload: bytes, to: &sink)
        }
        try await flush(sink.buffer)
    }

    private var staged: WipedBuffer?
    private var stagedSent = 0

    /// Makes a frame now, from bytes that will be gone when it is sent.
    func stage<B: Body>(_ body: B, _ type: AnswerType, tag: UInt32, payload: Span<UInt8>) {
        let isLarge = payload.count > Slabs.size / 2
        var sink = BufferSink(isLarge ? slabs.own(payload.count + 4096) : slabs.output)
        Frame.write(body, type: type.rawValue, tag: tag, payload: payload, to: &sink)
        staged = sink.buffer
    }

    /// Must be called before any other connection's job runs, because all connections share the
    /// slab. False where the peer reads slowly: then `sendRest` must follow.
    func sendStaged() throws(ConnectionEnd) -> Bool {
        guard let buffer = staged else { return true }
        stagedSent = try write(buffer)
        let isWhole = stagedSent == buffer.count
        if isWhole {
            staged = nil
            buffer.wipe(first: stagedSent)
        }
        return isWhole
    }

    /// Sends the rest of an answer that holds something of a store's records. If the store is locked
    /// before the peer has read all of it, the rest is wiped at once, and the connection ends.
    func sendRest(from records: OpenRecordsQueue) async throws(ConnectionEnd) {
        guard let buffer = staged else { return }
        staged = nil
        let sent = stagedSent
        try await answer(from: records, opening: records.opening) {
            () async throws(ConnectionEnd) in
            try await flushRest(buffer, after: sent)
        }
    }

    func send<B: Body>(
        _ body: B, _ type: AnswerType, tag: UInt32, secret: borrowing SecretBytes
    ) async throws(ConnectionEnd) {
        var sink = BufferSink(slabs.output)
        secret.withBytes { bytes in
            Frame.write(body, type: type.rawValue, tag: tag, payload: bytes, to: &sink)
        }
        try await flush(sink.buffer)
    }

    /// Sends *working* if it can be written whole at once, and never in the middle of another
    /// frame.
    func sendWorking(tag: UInt32) {
        guard !isSending else { return }
        var frame: [UInt8] = []
        Frame.write(Empty(), type: AnswerType.working.rawValue, tag: tag, to: &frame)
        switch channel.write(frame.span) {
        case .bytes(frame.count): lastSent = Clock.bootMilliseconds()
        case .wouldBlock: break
        case .bytes, .ended, .failed: close()
        }
    }

    private func flush(_ buffer: WipedBuffer) async throws(ConnectionEnd) {
        let sent = try write(buffer)
        guard sent < buffer.count else { return buffer.wipe(first: sent) }
        try await flushRest(buffer, after: sent)
    }

    /// What the peer has room for now.
    private func write(_ buffer: WipedBuffer) throws(ConnectionEnd) -> Int {
        charge()
        lastSent = Clock.bootMilliseconds()
        switch buffer.withBytes({ bytes in channel.write(bytes) }) {
        case .bytes(let count): return count
        case let other:
            do throws(ConnectionEnd) { try Self.refuseBroken(other) } catch {
                buffer.wipe(first: buffer.count)
                throw error
            }
            return 0
        }
    }

    private func flushRest(_ buffer: WipedBuffer, after written: Int) async throws(ConnectionEnd) {
        let total = buffer.count
        var sent = written
        // The peer reads slowly. All connections share the slab, so the rest moves out of it before
        // this one waits.
        let rest: WipedBuffer
        if buffer === slabs.output {
            rest = slabs.own(total - sent)
            buffer.withBytes { bytes in rest.append(bytes.extracting(sent..<total)) }
            buffer.wipe(first: total)
            sent = 0
        } else {
            rest = buffer
        }
        let left = rest.count
        let isLarge = left > Limits.smallFrame
        let share = share
        if isLarge, rooms.keep(left, share) == .noRoom { throw .closed }
        unread = rest
        defer {
            unread = nil
            if isLarge { rooms.read(left, share) }
        }
        try await push(from: sent, to: left) { start in
            rest.withBytes { bytes in channel.write(bytes.extracting(start..<left)) }
        }
    }

    /// Writes what is left, each time the peer has read some.
    private func push(
        from start: Int, to end: Int, _ write: (Int) -> Channel.Transfer
    ) async throws(ConnectionEnd) {
        isSending = true
        unreadSince = Clock.bootMilliseconds()
        defer {
            isSending = false
            unreadSince = nil
        }
        var sent = start
        while sent < end {
            try Self.refuseEnd(await channel.writable(until: nil))
            // It was closed after this writer was woken, and what it would write is wiped.
            guard !channel.isClosed else { throw .closed }
            let next = write(sent)
            if case .bytes(let count) = next { sent += count } else { try Self.refuseBroken(next) }
        }
    }

    /// Sends a body that many peers get. None of them needs a copy of its own, even if it does not
    /// read at once.
    func send(_ body: SharedBody, _ type: AnswerType, tag: UInt32) async throws(ConnectionEnd) {
        charge()
        lastSent = Clock.bootMilliseconds()
        var header: [UInt8] = []
        FrameHeader(length: body.bytes.count, type: type.rawValue, tag: tag).write(to: &header)
        let (front, bytes) = (header, body.bytes)
        let total = front.count + bytes.count
        let channel = channel
        func write(_ from: Int) -> Channel.Transfer {
            guard from >= front.count else { return channel.write(front.span.extracting(from...)) }
            return channel.write(bytes.span.extracting((from - front.count)...))
        }
        var sent = 0
        while sent < total {
            let transfer = write(sent)
            guard case .bytes(let count) = transfer else {
                try Self.refuseBroken(transfer)
                return try await push(from: sent, to: total, write)
            }
            sent += count
        }
    }

    private static func refuseBroken(_ transfer: Channel.Transfer) throws(ConnectionEnd) {
        switch transfer {
        case .bytes, .wouldBlock: return
        case .ended, .failed: throw .closed
        }
    }
}

/// The body of an answer, encoded once.
final class SharedBody: Sendable {
    let bytes: [UInt8]

    init(_ body: some Body) {
        var bytes: [UInt8] = []
        body.write(to: &bytes)
        self.bytes = bytes
    }
}
