internal import CLinux

/// A client's end of a Unix socket. Calls block, and every wait has a limit.
public struct ClientSocket: ~Copyable {
    private let descriptor: FileDescriptor

    /// To wait for it together with others.
    public var raw: Int32 { descriptor.raw }

    /// Connects within `wait` milliseconds. Each later send or receive fails after `silence`
    /// milliseconds.
    public init(path: [UInt8], wait: Int32, silence: Int32) throws(PosixError) {
        try self.init(connected: ClientSocket.connect(path, wait), silence: silence)
    }

    private static func connect(_ path: [UInt8], _ wait: Int32) throws(PosixError) -> FileDescriptor
    {
        let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { throw PosixError.last("socket") }
        let descriptor = FileDescriptor(owning: number)
        guard appvault_socket_waits(number, wait) == 0 else { throw PosixError.last("setsockopt") }
        var address = sockaddr_un()
        var size: socklen_t = 0
        let text = path.map { CChar(bitPattern: $0) } + [0]
        // SAFETY: the path ends with a NUL, and the function that fills the address also measures
        // it.
        let fits = unsafe appvault_unix_address(text, &address, &size) == 0
        guard fits, !path.contains(0) else {
            throw PosixError(call: "connect", number: ENAMETOOLONG)
        }
        // SAFETY: address and size were filled just above.
        guard unsafe appvault_connect(number, &address, size) == 0 else {
            throw PosixError.last("connect")
        }
        return descriptor
    }

    /// A socket that is connected already: for tests, and for programs that inherit one.
    public init(connected descriptor: consuming FileDescriptor, silence: Int32) throws(PosixError) {
        self.descriptor = descriptor
        // Make it blocking, because the time limits set below apply only to blocking calls.
        let flags = appvault_fcntl(self.descriptor.raw, F_GETFL, 0)
        guard flags >= 0, appvault_fcntl(self.descriptor.raw, F_SETFL, flags & ~O_NONBLOCK) >= 0
        else { throw PosixError.last("fcntl") }
        guard appvault_socket_waits(self.descriptor.raw, silence) == 0 else {
            throw PosixError.last("setsockopt")
        }
    }

    /// The user who listens, as the kernel saw it.
    public func peerUID() throws(PosixError) -> UInt32 {
        var peer = appvault_peer()
        // SAFETY: the function fills the structure or fails.
        guard unsafe appvault_peer_of(descriptor.raw, &peer) == 0 else {
            throw PosixError.last("getsockopt")
        }
        return peer.uid
    }

    /// Another descriptor of the same connection.
    public func duplicate() throws(PosixError) -> FileDescriptor {
        let number = appvault_fcntl(descriptor.raw, F_DUPFD_CLOEXEC, 3)
        guard number >= 0 else { throw PosixError.last("fcntl") }
        return FileDescriptor(owning: number)
    }

    public enum Arrival: Equatable, Sendable {
        /// The peer has sent something, or has closed.
        case readable
        case readerGone
    }

    /// Waits as long as it takes for the peer, and notices when whoever reads `output` is gone.
    public func wait(orEndOf output: Int32) -> Arrival {
        while true {
            var watched = [
                pollfd(fd: descriptor.raw, events: Int16(POLLIN), revents: 0),
                pollfd(fd: output, events: 0, revents: 0),
            ]
            // SAFETY: two entries; poll reports the end of the reader even if asked for nothing.
            let found = unsafe poll(&watched, 2, -1)
            if found < 0, appvault_errno() == EINTR { continue }
            return watched[1].revents != 0 ? .readerGone : .readable
        }
    }

    public func send(_ bytes: borrowing SecretBuffer) throws(PosixError) {
        try bytes.withSpan { span throws(PosixError) in
            var sent = 0
            while sent < span.count {
                // SAFETY: the offset is below the count, and send reads no further than the rest.
                let wrote = unsafe span.withUnsafeBufferPointer { buffer in
                    unsafe CLinux.send(
                        descriptor.raw, buffer.baseAddress! + sent, span.count - sent,
                        Int32(MSG_NOSIGNAL))
                }
                if wrote >= 0 {
                    sent += wrote
                } else if appvault_errno() != EINTR {
                    throw PosixError.last("send")
                }
            }
        }
    }

    /// Appends to `buffer` what has arrived and fits, at least one byte; returns 0 if the peer has
    /// closed.
    public func receive(into buffer: inout SecretBuffer) throws(PosixError) -> Int {
        try buffer.receive(from: descriptor.raw)
    }
}

extension PosixError {
    /// A blocking call on a socket reached its time limit.
    public var isTimeout: Bool {
        number == EAGAIN || number == EWOULDBLOCK || number == EINPROGRESS
    }
    public var isRefused: Bool { number == ECONNREFUSED }
    public var isDenied: Bool { number == EACCES || number == EPERM }
    public var isBrokenPipe: Bool { number == EPIPE || number == ECONNRESET }
    /// The descriptor is closed, or stands for one that is.
    public var isClosed: Bool { number == EBADF }
    public var alreadyExists: Bool { number == EEXIST }
}
