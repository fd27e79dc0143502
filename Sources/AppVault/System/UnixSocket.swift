internal import Glibc

/// A client's end of a Unix stream socket. No call of it waits, but for `receive` where it is told
/// to, and that for a moment.
struct UnixSocket: ~Copyable, Sendable {
    private let descriptor: Descriptor

    var raw: Int32 { descriptor.raw }

    enum Attempt: ~Copyable {
        case connected(UnixSocket)
        /// The listener's queue is full, or it is not there: the same attempt may succeed later.
        case later(SystemError)
    }

    /// One attempt. A path that begins with a NUL is one of the abstract namespace.
    static func connect(_ path: [UInt8]) throws(SystemError) -> Attempt {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let number = socket(AF_UNIX, kind, 0)
        guard number >= 0 else { throw .last }
        let descriptor = Descriptor(owning: number)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let room = MemoryLayout.size(ofValue: address.sun_path)
        guard path.count < room, !path.isEmpty else { throw .nameTooLong }
        // SAFETY: the path was measured, and the rest of the structure is zero.
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path) }
        let isAbstract = path[0] == 0
        let size = MemoryLayout<sockaddr_un>.size - room + path.count + (isAbstract ? 0 : 1)
        // SAFETY: a sockaddr_un begins as a sockaddr does.
        let result = unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe Glibc.connect(number, $0, socklen_t(size))
            }
        }
        if result == 0 { return .connected(try UnixSocket(descriptor: descriptor)) }
        switch errno {
        case EAGAIN, ECONNREFUSED, ENOENT, EINTR: return .later(.last)
        default: throw .last
        }
    }

    /// The limit of a receive that waits. The kernel rounds it up to its next tick or the one after.
    /// `poll` would be exact, and cost as much as half a request: its timer is one of the clock's own,
    /// to be set and taken back for each call.
    private init(descriptor: consuming Descriptor) throws(SystemError) {
        self.descriptor = descriptor
        var moment = timeval(tv_sec: 0, tv_usec: 1000)
        let size = socklen_t(MemoryLayout<timeval>.size)
        // SAFETY: the structure is ours, and its size is given.
        let isSet = unsafe setsockopt(raw, SOL_SOCKET, SO_RCVTIMEO, &moment, size) == 0
        guard isSet, fcntl(raw, F_SETFL, 0) == 0 else { throw .last }
    }

    /// The user who listens, as the kernel saw it.
    func peerUID() throws(SystemError) -> UInt32 {
        // A struct ucred, which glibc shows to GNU sources alone: pid, uid, gid.
        var peer: [UInt32] = [0, 0, 0]
        var size = socklen_t(12)
        // SAFETY: twelve bytes are written, and there is room for them.
        guard unsafe getsockopt(raw, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0, size == 12 else {
            throw .last
        }
        return peer[1]
    }

    /// How many bytes the kernel has taken; 0 where it takes none now.
    func send(_ bytes: Span<UInt8>) throws(SystemError) -> Int {
        while true {
            // SAFETY: send reads no further than the span.
            let sent = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.send(
                    raw, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
            }
            if sent >= 0 { return sent }
            switch errno {
            case EINTR: continue
            case EAGAIN: return 0
            default: throw .last
            }
        }
    }

    enum Received {
        case bytes
        case nothing
        case ended
    }

    /// Where it waits, for something to come, it does so on this very thread, for a moment.
    func receive(
        into buffer: inout WipedBytes, room: Int, waits: Bool = false
    ) throws(SystemError) -> Received {
        let flags = waits ? 0 : Int32(MSG_DONTWAIT)
        while true {
            // SAFETY: recv writes no further than the room that it is told.
            let got = unsafe buffer.fill(room: room) { room in
                unsafe recv(raw, room.baseAddress, room.count, flags)
            }
            if got > 0 { return .bytes }
            if got == 0 { return .ended }
            switch errno {
            case EINTR: continue
            case EAGAIN: return .nothing
            default: throw .last
            }
        }
    }
}
