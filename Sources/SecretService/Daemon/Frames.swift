import Posix
import Wire

/// A frame to be sent, in memory that is wiped: it may hold a secret.
struct OutgoingFrame: ~Copyable, Sink {
    let buffer: WipedBuffer

    init(_ type: RequestType, _ body: some Body, secret: WipedBuffer? = nil, tag: UInt32 = 1) {
        buffer = WipedBuffer(capacity: 256 + (secret?.count ?? 0))
        if let secret {
            secret.withBytes {
                Frame.write(body, type: type.rawValue, tag: tag, payload: $0, to: &self)
            }
        } else {
            Frame.write(body, type: type.rawValue, tag: tag, to: &self)
        }
    }

    mutating func put(_ byte: UInt8) { buffer.append(byte) }
    mutating func put(_ bytes: Span<UInt8>) { buffer.append(bytes) }
}

/// A frame that has come, without its header.
struct IncomingFrame: Sendable {
    let type: AnswerType
    let body: WipedBuffer

    func decode<B: Body>(_ type: B.Type) throws(WireError) -> B {
        try body.withBytes { (bytes) throws(WireError) in
            var reader = Reader()
            let decoded = try B(&reader, bytes)
            try reader.end(bytes)
            return decoded
        }
    }

    /// With what follows as a payload.
    func decodeWithPayload<B: Body>(
        _ type: B.Type, limit: Int
    ) throws(WireError) -> (body: B, payload: WipedBuffer) {
        try body.withBytes { (bytes) throws(WireError) in
            var reader = Reader()
            let decoded = try B(&reader, bytes)
            let slice = try reader.payload(bytes, limit: limit)
            try reader.end(bytes)
            let range = slice.start..<slice.start + slice.count
            return (decoded, WipedBuffer(copying: bytes.extracting(range)))
        }
    }
}

/// A connection to the daemon that has been greeted.
@LoopActor
final class DaemonConnection {
    enum Failure: Error {
        /// It is not there, has ended, or speaks nonsense.
        case lost
        case late
        /// It has said no. A refusal without a tag is the connection's.
        case refused(Refused, tag: UInt32)
    }

    private let channel: Channel
    private let input = WipedBuffer(capacity: 4096)

    private init(_ channel: Channel) {
        self.channel = channel
    }

    func close() { channel.close() }

    /// The daemon has ended it: mostly because nothing was wanted of it for long.
    var hasEnded: Bool { channel.hasHungUp }

    static func open(_ path: String, until deadline: UInt64) async throws(Failure)
        -> DaemonConnection
    {
        let connection = DaemonConnection(try await connected(path, until: deadline))
        do throws(Failure) {
            var hello = Hello(frontEnd: .program, realUID: ThisProcess.uid)
            hello.service = Hello.secretsService
            try await connection.send(OutgoingFrame(.hello, hello), until: deadline)
            let answer = try await connection.next(until: deadline)
            guard answer.type == .welcome, (try? answer.decode(Welcome.self)) != nil else {
                throw Failure.lost
            }
            return connection
        } catch {
            connection.close()
            throw error
        }
    }

    private static func connected(
        _ path: String, until deadline: UInt64
    ) async throws(Failure) -> Channel {
        while true {
            let error: PosixError
            do throws(PosixError) {
                let socket = try OutgoingSocket.connect(to: path)
                if isTrusted(try PeerCredentials.of(socket.raw).uid) {
                    return try Channel(owning: socket)
                }
                throw PosixError(call: "connect", number: 0)
            } catch let failure {
                error = failure
            }
            // The line in front of it may be full for a moment.
            guard error.isTimeout else { throw .lost }
            guard Clock.bootMilliseconds() < deadline else { throw .late }
            await EventLoop.sleep(until: Clock.bootMilliseconds() + 10)
        }
    }

    /// Who listens there may hear secrets: systemd, this very user, or the daemon's own.
    private static func isTrusted(_ uid: UInt32) -> Bool {
        if uid == 0 || uid == ThisProcess.uid { return true }
        if case .found(_, let own) = Accounts.named("_appvault") { return uid == own }
        return false
    }

    func send(_ frame: borrowing OutgoingFrame, until deadline: UInt64) async throws(Failure) {
        var sent = 0
        while sent < frame.buffer.count {
            let transfer = frame.buffer.withBytes { bytes in
                channel.write(bytes.extracting(sent..<bytes.count))
            }
            switch transfer {
            case .bytes(let count): sent += count
            case .wouldBlock:
                switch await channel.writable(until: deadline) {
                case .ready: continue
                case .timedOut: throw .late
                case .closed: throw .lost
                }
            case .ended, .failed: throw .lost
            }
        }
    }

    /// The next frame; nil as a deadline waits for as long as it takes.
    func next(until deadline: UInt64?) async throws(Failure) -> IncomingFrame {
        while true {
            if let frame = try taken() { return frame }
            switch await channel.readable(until: deadline) {
            case .ready: break
            case .timedOut: throw .late
            case .closed: throw .lost
            }
            input.grow(to: input.count + 4096)
            let count = input.count
            // SAFETY: the channel writes no more than the room has.
            let transfer = unsafe input.withRoom(from: count) { room in
                unsafe channel.read(into: room)
            }
            switch transfer {
            case .bytes(let more): input.setCount(count + more)
            case .wouldBlock: continue
            case .ended, .failed: throw .lost
            }
        }
    }

    private func taken() throws(Failure) -> IncomingFrame? {
        let header: FrameHeader?
        do throws(WireError) {
            header = try input.withBytes { (bytes) throws(WireError) in
                try FrameHeader.decode(bytes, limit: Limits.frame)
            }
        } catch {
            throw .lost
        }
        guard let header else { return nil }
        let whole = FrameHeader.size + header.length
        guard input.count >= whole else {
            input.grow(to: whole)
            return nil
        }
        let body = input.withBytes {
            WipedBuffer(copying: $0.extracting(FrameHeader.size..<whole))
        }
        input.removeFirst(whole)
        guard let type = AnswerType(rawValue: header.type) else { throw .lost }
        let frame = IncomingFrame(type: type, body: body)
        guard type == .refused else { return frame }
        guard let refused = try? frame.decode(Refused.self) else { throw .lost }
        throw .refused(refused, tag: header.tag)
    }
}
