internal import CLinux

/// Who is at the other end of a Unix socket, as the kernel saw it when it connected.
public struct PeerCredentials: Equatable, Sendable {
    public let pid: Int32
    public let uid: UInt32
    public let gid: UInt32

    public init(pid: Int32, uid: UInt32, gid: UInt32) {
        self.pid = pid
        self.uid = uid
        self.gid = gid
    }

    /// Nobody's uids: the overflow uid of a foreign user namespace, and "no uid".
    public var isNobody: Bool { uid == 65534 || uid == UInt32.max }

    public static func of(_ descriptor: Int32) throws(PosixError) -> PeerCredentials {
        var peer = appvault_peer()
        // SAFETY: the shim fills the one struct it is given.
        guard unsafe appvault_peer_of(descriptor, &peer) == 0 else { throw .last("SO_PEERCRED") }
        return PeerCredentials(pid: peer.pid, uid: peer.uid, gid: peer.gid)
    }
}

public enum SocketEnd {
    /// To whoever is not served, as much as fits at once.
    public static func write(_ bytes: [UInt8], to descriptor: borrowing FileDescriptor) {
        // SAFETY: the kernel reads exactly the array.
        _ = unsafe bytes.withUnsafeBytes { buffer in
            unsafe appvault_send(descriptor.raw, buffer.baseAddress, buffer.count)
        }
    }
}

public enum OutgoingSocket {
    /// Connected, and never blocking; where the listener's queue is full, an error that `isTimeout`.
    public static func connect(to path: String) throws(PosixError) -> FileDescriptor {
        let socket = FileDescriptor(owning: appvault_unix_socket())
        guard socket.raw >= 0 else { throw .last("socket") }
        var address = sockaddr_un()
        var size = socklen_t()
        // SAFETY: the shim measures the path before it copies it.
        guard unsafe appvault_unix_address(path, &address, &size) == 0 else {
            throw PosixError(call: "connect \(path)", number: ENAMETOOLONG)
        }
        // SAFETY: filled just above.
        guard unsafe appvault_connect(socket.raw, &address, size) == 0 else {
            throw .last("connect \(path)")
        }
        return socket
    }
}

public enum ListeningSocket {
    /// A socket of our own at `path`, for everybody; one that nobody listens at any more is
    /// replaced.
    public static func make(at path: String, mode: UInt32) throws(PosixError) -> FileDescriptor {
        let socket = FileDescriptor(owning: appvault_unix_socket())
        guard socket.raw >= 0 else { throw .last("socket") }
        var address = sockaddr_un()
        var size = socklen_t()
        // SAFETY: the shim measures the path before it copies it.
        guard unsafe appvault_unix_address(path, &address, &size) == 0 else {
            throw PosixError(call: "bind \(path)", number: ENAMETOOLONG)
        }
        if unsafe appvault_bind(socket.raw, &address, size) != 0 {
            guard appvault_errno() == EADDRINUSE else { throw .last("bind \(path)") }
            let probe = FileDescriptor(owning: appvault_unix_socket())
            guard unsafe appvault_connect(probe.raw, &address, size) != 0,
                appvault_errno() == ECONNREFUSED
            else { throw PosixError(call: "bind \(path)", number: EADDRINUSE) }
            unsafe unlink(path)
            guard unsafe appvault_bind(socket.raw, &address, size) == 0 else {
                throw .last("bind \(path)")
            }
        }
        guard unsafe chmod(path, mode_t(mode)) == 0 else { throw .last("chmod \(path)") }
        // A queue that is short: whoever connects and leaves all the time keeps it full, and everybody stands
        // behind what is in it. Whoever finds no room tries again each millisecond.
        guard listen(socket.raw, 256) == 0 else { throw .last("listen \(path)") }
        return socket
    }

    /// One that was handed over; accepting never waits from here on.
    public static func neverWaiting(_ listener: borrowing FileDescriptor) throws(PosixError) {
        let flags = appvault_fcntl(listener.raw, F_GETFL, 0)
        guard flags >= 0, appvault_fcntl(listener.raw, F_SETFL, flags | O_NONBLOCK) >= 0 else {
            throw .last("fcntl")
        }
    }

    /// The next connection; nil where there is none any more.
    public static func accept(_ listener: borrowing FileDescriptor) -> FileDescriptor? {
        let number = appvault_accept(listener.raw)
        return number >= 0 ? FileDescriptor(owning: number) : nil
    }
}
