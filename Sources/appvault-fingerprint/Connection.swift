import Posix
import Wire

extension SecretBuffer: Sink {
    public mutating func put(_ byte: UInt8) { append(byte) }
    public mutating func put(_ bytes: Span<UInt8>) { append(bytes) }
}

/// The daemon's end of a connection: what comes is read beside whatever runs, so that a cancel or
/// the daemon's leaving stops a scan at once.
final class Connection {
    private let socket: ClientSocket
    private var room = SecretBuffer(capacity: FrameHeader.size + FingerprintLink.requestFrame)
    private var watch: Watch?
    private(set) var hasEnded = false
    private var next: (nonce: [UInt8], Request)?
    private var current: (nonce: [UInt8], Stop)?
    /// Milliseconds that the daemon has to take a frame.
    private static let silence: Int32 = 5_000

    init(_ descriptor: consuming FileDescriptor) throws(PosixError) {
        let number = descriptor.raw
        socket = try ClientSocket(connected: descriptor, silence: Connection.silence)
        watch = Watch(number) { [unowned self] in
            read()
            return hasEnded ? .ends : .on
        }
    }

    var hasRequest: Bool { next != nil }

    /// The request that came, if one did; from here on a cancel stops it.
    func begin() -> (nonce: [UInt8], request: Request, stop: Stop)? {
        guard let (nonce, request) = next else { return nil }
        next = nil
        let stop = Stop()
        current = (nonce, stop)
        return (nonce, request, stop)
    }

    func finish() {
        current = nil
    }

    private func end() {
        hasEnded = true
        stop()
    }

    /// What runs ends before its time, and is answered so.
    func stop() {
        current?.1.stop(.cancelled)
    }

    /// The last word about the running request is said: the next one may come.
    func answer<B: Body>(_ body: B, _ type: UInt16) {
        finish()
        send(body, type)
    }

    func answer(_ print: borrowing SecretBuffer, _ nonce: [UInt8]) {
        finish()
        var frame = SecretBuffer(capacity: print.count + 128)
        print.withSpan { bytes in
            Frame.write(
                FingerprintNonce(nonce: nonce), type: FingerprintLink.enrolled, tag: 0,
                payload: bytes, to: &frame)
        }
        send(frame)
    }

    func send<B: Body>(_ body: B, _ type: UInt16) {
        var frame = SecretBuffer()
        Frame.write(body, type: type, tag: 0, to: &frame)
        send(frame)
    }

    private func send(_ frame: borrowing SecretBuffer) {
        guard !hasEnded else { return }
        do throws(PosixError) {
            try socket.send(frame)
        } catch {
            end()
        }
    }

    private func read() {
        do throws(PosixError) {
            guard try socket.receive(into: &room) > 0 else { return end() }
        } catch {
            return end()
        }
        do throws(WireError) {
            while !hasEnded, try frame() {}
        } catch {
            end()
        }
    }

    /// Takes one whole frame out of what has come; false where there is none.
    private func frame() throws(WireError) -> Bool {
        let header = try room.withSpan { (bytes) throws(WireError) in
            try FrameHeader.decode(bytes, limit: FingerprintLink.requestFrame)
        }
        guard let header, room.count >= FrameHeader.size + header.length else { return false }
        guard header.tag == 0, FingerprintLink.requests.contains(header.type) else {
            throw .unknownValue
        }
        // One at a time: whoever asks for more is not our daemon.
        let isCancel = header.type == FingerprintLink.cancel
        guard isCancel || (current == nil && next == nil) else { throw .unknownValue }
        try room.withSpan(from: FrameHeader.size, count: header.length) {
            (body) throws(WireError) in
            var reader = Wire.Reader()
            if isCancel {
                let nonce = try FingerprintNonce(&reader, body).nonce
                try reader.end(body)
                cancel(nonce)
            } else {
                next = try Request.read(header.type, &reader, body)
                try reader.end(body)
            }
        }
        room.dropFirst(FrameHeader.size + header.length)
        return true
    }

    private func cancel(_ nonce: [UInt8]) {
        if let current, current.nonce == nonce { current.1.stop(.cancelled) }
        // One that has not begun yet is answered all the same.
        if let next, next.nonce == nonce {
            self.next = nil
            answer(FingerprintFailed(nonce: nonce, fault: .cancelled), FingerprintLink.failed)
        }
    }
}
