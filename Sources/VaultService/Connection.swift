import Posix
import Secrets
import Wire

/// Why a connection is over. None of it is told to the peer: it is gone, or it does not speak our
/// language.
enum ConnectionEnd: Error, Equatable {
    case closed
    case timedOut
    case notUnderstood(WireError)
    case outOfMemory
}

/// Memory that frames pass through: one piece in each direction for everybody, locked where the
/// limit allows, wiped after each use. What does not fit takes a buffer of its own.
@LoopActor
final class Slabs {
    static let size = 64 << 10

    let input = WipedBuffer(lockedCapacity: size)
    let output = WipedBuffer(lockedCapacity: size)
}

/// One peer's socket: whole frames in, whole frames out.
@LoopActor
final class Connection {
    let credentials: PeerCredentials
    private let channel: Channel
    private let slabs: Slabs
    /// Bytes of a frame that did not come whole, or of one that came behind another.
    private var pending: WipedBuffer?
    private(set) var lastSent: UInt64 = 0
    private var isSending = false
    /// The tag of a request that takes its time, for the ticker that says so.
    var workingTag: UInt32?
    var workingSince: UInt64 = 0
    /// A person is being waited for: the peer is not reading.
    var isAsking = false
    /// What the flow has at hand then opens a store, or nearly.
    var holdsSecret = false

    init(channel: Channel, credentials: PeerCredentials, slabs: Slabs) {
        self.channel = channel
        self.credentials = credentials
        self.slabs = slabs
    }

    func close() {
        channel.close()
        pending = nil
    }

    func process() -> PeerProcess {
        PeerProcess(of: credentials, socket: channel.number)
    }

    var hasHungUp: Bool { channel.hasHungUp }

    /// Ends a `receive` that waits, as if its time were over; what came of a frame stays.
    func wakeReader() {
        channel.wakeReader()
    }

    // MARK: in

    /// The next frame, decoded where it lies: the closure copies out what it keeps, then the bytes
    /// are wiped.
    func receive<R>(
        limit: Int, until deadline: UInt64?,
        _ decode: (FrameHeader, Span<UInt8>) throws(WireError) -> R
    ) async throws(ConnectionEnd) -> R {
        while true {
            if let result = try decodePending(limit: limit, decode) { return result }
            switch await channel.readable(until: deadline) {
            case .closed: throw .closed
            case .timedOut: throw .timedOut
            case .ready: break
            }
            if let result = try read(limit: limit, decode) { return result }
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
            // Room for the frame that was announced, and no more than the limit.
            let header = try Self.header(buffer, limit: limit)
            let wanted = FrameHeader.size + (header?.length ?? 0)
            buffer.grow(to: max(wanted, buffer.count + 512))
            // SAFETY: the room lies behind what is there, and the read stays within it.
            let transfer = unsafe buffer.withRoom(from: buffer.count) { room in
                unsafe channel.read(into: room)
            }
            guard let count = try Self.count(transfer) else { return nil }
            buffer.setCount(buffer.count + count)
            return try decodePending(limit: limit, decode)
        }
        let slab = slabs.input
        let transfer = unsafe slab.withRoom { room in unsafe channel.read(into: room) }
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
        var sink = BufferSink(slabs.output)
        Frame.write(body, type: type.rawValue, tag: tag, to: &sink)
        try await flush(sink.buffer)
    }

    func send<B: Body>(
        _ body: B, _ type: AnswerType, tag: UInt32, payload: WipedBuffer
    ) async throws(ConnectionEnd) {
        let large = payload.count > Slabs.size / 2
        var sink = BufferSink(large ? WipedBuffer(capacity: payload.count + 4096) : slabs.output)
        payload.withBytes { bytes in
            Frame.write(body, type: type.rawValue, tag: tag, payload: bytes, to: &sink)
        }
        try await flush(sink.buffer)
    }

    private var staged: WipedBuffer?

    /// Makes a frame now, from bytes that will not be there any more when it is sent.
    func stage<B: Body>(_ body: B, _ type: AnswerType, tag: UInt32, payload: Span<UInt8>) {
        let isLarge = payload.count > Slabs.size / 2
        var sink = BufferSink(
            isLarge ? WipedBuffer(capacity: payload.count + 4096) : slabs.output)
        Frame.write(body, type: type.rawValue, tag: tag, payload: payload, to: &sink)
        staged = sink.buffer
    }

    /// To be called in the same breath: the slab is everybody's.
    func sendStaged() async throws(ConnectionEnd) {
        guard let buffer = staged else { return }
        staged = nil
        try await flush(buffer)
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

    /// *Working*, if it goes out whole at once; never in the middle of another frame.
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
        let total = buffer.count
        lastSent = Clock.bootMilliseconds()
        let transfer = buffer.withBytes { bytes in channel.write(bytes) }
        if transfer == .bytes(total) {
            buffer.wipe(first: total)
            return
        }
        // A slow reader: the slab is for everybody, so the rest moves out of it before anybody
        // waits.
        let rest = WipedBuffer(capacity: total)
        buffer.withBytes { bytes in rest.append(bytes) }
        buffer.wipe(first: total)
        isSending = true
        defer { isSending = false }
        var sent = 0
        if case .bytes(let count) = transfer {
            sent = count
        } else {
            try Self.refuseBroken(transfer)
        }
        let deadline = Clock.bootMilliseconds() + UInt64(Limits.silenceWait) * 2
        while sent < total {
            switch await channel.writable(until: deadline) {
            case .closed: throw .closed
            case .timedOut: throw .timedOut
            case .ready: break
            }
            let next = rest.withBytes { bytes in channel.write(bytes.extracting(sent..<total)) }
            if case .bytes(let count) = next { sent += count } else { try Self.refuseBroken(next) }
        }
    }

    private static func refuseBroken(_ transfer: Channel.Transfer) throws(ConnectionEnd) {
        switch transfer {
        case .bytes, .wouldBlock: return
        case .ended, .failed: throw .closed
        }
    }
}

/// Writes a frame into a buffer from its start.
struct BufferSink: Sink {
    let buffer: WipedBuffer

    init(_ buffer: WipedBuffer) {
        self.buffer = buffer
        buffer.setCount(0)
    }

    mutating func put(_ byte: UInt8) { buffer.append(byte) }
    mutating func put(_ bytes: Span<UInt8>) { buffer.append(bytes) }
}
