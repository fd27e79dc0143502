internal import CLinux

/// The process at the other end of a Unix socket, as the kernel saw it when it connected.
public struct PeerCredentials: Equatable, Sendable {
    public let pid: Int32
    public let uid: UInt32
    public let gid: UInt32

    public init(pid: Int32, uid: UInt32, gid: UInt32) {
        self.pid = pid
        self.uid = uid
        self.gid = gid
    }

    /// A uid that stands for no user: the overflow uid, for users of a foreign user namespace, or
    /// "no uid".
    public var isNobody: Bool { uid == 65534 || uid == UInt32.max }

    public static func of(_ descriptor: Int32) throws(PosixError) -> PeerCredentials {
        var peer = appvault_peer()
        // SAFETY: the shim fills the one struct it is given.
        guard unsafe appvault_peer_of(descriptor, &peer) == 0 else { throw .last("SO_PEERCRED") }
        return PeerCredentials(pid: peer.pid, uid: peer.uid, gid: peer.gid)
    }
}

public enum SocketEnd {
    /// Writes to a peer that will not be served, as much as fits at once.
    public static func write(_ bytes: [UInt8], to descriptor: borrowing FileDescriptor) {
        // SAFETY: the kernel reads exactly the array.
        _ = unsafe bytes.withUnsafeBytes { buffer in
            unsafe appvault_send(descriptor.raw, buffer.baseAddress, buffer.count)
        }
    }
}

public enum OutgoingSocket {
    /// A connected, non-blocking socket. If the listener's queue is full, throws an error that
    /// `isTimeout`.
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
    /// Makes our own socket at `path` with that mode. Replaces an old socket if no process listens
    /// at it any more.
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
        // The queue is short, because a program that connects and leaves all the time can keep it
        // full, and everybody else waits behind what is in it. A client that finds it full tries
        // again each millisecond.
        guard listen(socket.raw, 256) == 0 else { throw .last("listen \(path)") }
        return socket
    }

    /// For a socket that systemd handed over: makes `accept` return at once from now on.
    public static func neverWaiting(_ listener: borrowing FileDescriptor) throws(PosixError) {
        let flags = appvault_fcntl(listener.raw, F_GETFL, 0)
        guard flags >= 0, appvault_fcntl(listener.raw, F_SETFL, flags | O_NONBLOCK) >= 0 else {
            throw .last("fcntl")
        }
    }

    /// The next connection; nil if none is waiting.
    public static func accept(_ listener: borrowing FileDescriptor) -> FileDescriptor? {
        let number = appvault_accept(listener.raw)
        return number >= 0 ? FileDescriptor(owning: number) : nil
    }
}
