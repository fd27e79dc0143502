internal import CPam
internal import WireEmbedded

/// One connection to the daemon. The owner of the other end was checked and may get secrets. The
/// connection lives for one PAM call.
struct Link: ~Copyable {
    private let socket: Int32

    private init(owning socket: Int32) {
        self.socket = socket
    }

    deinit {
        _ = close(socket)
    }

    static func open(_ pam: Pam, _ options: Options) throws(Fault) -> Link {
        let socket = appvault_pam_socket()
        guard socket >= 0 else { throw socket == -ENOMEM ? .noMemory : .noDescriptor }
        let link = Link(owning: socket)
        try link.connect(options)
        try link.check(pam)
        return link
    }

    private func connect(_ options: Options) throws(Fault) {
        let deadline = Deadline(in: Limits.connectWait)
        // SAFETY: the pointer is looked at, not what it points to.
        var isAtRootsDoor = unsafe options.socket == nil && geteuid() == 0
        while true {
            switch isAtRootsDoor ? knockAtRootsDoor() : knock(options) {
            case 0, -EISCONN: return
            case -ENAMETOOLONG: throw .badPath
            case -ENOMEM, -ENOBUFS: throw .noMemory
            case -EINTR: break
            case -EAGAIN, -EINPROGRESS, -EALREADY:
                // The listener's queue is full. A Unix socket cannot be polled for room in it, and
                // another program may take each place the moment that it is free. So the module
                // tries often.
                _ = appvault_pam_wait(-1, 0, min(1, deadline.left))
            case _ where isAtRootsDoor: isAtRootsDoor = false
            default: throw .absent
            }
            if deadline.passed { throw .late }
        }
    }

    /// Only root may connect here, so a login never waits in line behind those who connect to
    /// everybody's socket.
    private func knockAtRootsDoor() -> Int32 {
        let path: StaticString = "/run/appvault/root.socket"
        // SAFETY: a literal, which ends with NUL.
        return unsafe appvault_pam_connect(socket, path.cString)
    }

    private func knock(_ options: Options) -> Int32 {
        // SAFETY: libpam's string, NUL-terminated, and alive as long as the configuration of the
        // service.
        if let path = unsafe options.socket {
            return unsafe appvault_pam_connect(socket, path)
        }
        let path: StaticString = "/run/appvault/socket"
        // SAFETY: a literal, which ends with NUL.
        return unsafe appvault_pam_connect(socket, path.cString)
    }

    /// Checks, before the first byte is sent, that the listener is root (systemd), the daemon's own
    /// user, or our own user.
    private func check(_ pam: Pam) throws(Fault) {
        let peer = appvault_pam_peer(socket)
        // The overflow uid and -1 are no user, even if this process has one of them.
        if peer == 65534 || peer == UInt32.max { throw .stranger(peer) }
        if peer == 0 { return }
        let own = geteuid()
        if own != 0 && peer == own { return }
        guard pam.userID(of: "_appvault") == peer else { throw .stranger(peer) }
    }

    func send(_ message: borrowing Memory) throws(Fault) {
        guard !message.overflowed else { throw .nonsense }
        let deadline = Deadline(in: Limits.firstFrameWait)
        var sent = 0
        while sent < message.count {
            let result = message.send(from: sent, over: socket)
            switch result {
            case 1...: sent += Int(result)
            case -EAGAIN, 0: try wait(Int16(POLLOUT), deadline)
            case -EINTR: break
            default: throw .closed
            }
            if sent < message.count, deadline.passed { throw .late }
        }
    }

    /// Receives one whole frame into `inbox`. The deadline is for the whole frame, so a peer that
    /// sends byte by byte gains no time.
    func receive(into inbox: inout Memory, by deadline: Deadline) throws(Fault) -> FrameHeader {
        inbox.clear()
        try fill(&inbox, to: FrameHeader.size, deadline)
        let header = decodeHeader(inbox)
        guard let header else { throw .nonsense }
        try fill(&inbox, to: FrameHeader.size + header.length, deadline)
        return header
    }

    /// Waits until the daemon sends something, or something happens at the terminal.
    func wait(with terminal: borrowing Terminal, _ deadline: Deadline) throws(Fault)
        -> Terminal.Arrival
    {
        while true {
            let arrival = terminal.wait(socket, deadline.left)
            if arrival.isSomething { return arrival }
            if deadline.passed { throw .late }
        }
    }

    private func decodeHeader(_ inbox: borrowing Memory) -> FrameHeader? {
        inbox.withBytes(from: 0, to: FrameHeader.size) { bytes in
            // A length over the limit and a header that is incomplete are the same to the module.
            do throws(WireError) {
                return try FrameHeader.decode(bytes, limit: Limits.smallFrame)
            } catch {
                return nil
            }
        }
    }

    private func fill(_ inbox: inout Memory, to count: Int, _ deadline: Deadline) throws(Fault) {
        guard count <= inbox.capacity else { throw .nonsense }
        while inbox.count < count {
            let result = inbox.receive(count - inbox.count, over: socket)
            switch result {
            case 1..., -EINTR:
                // A peer that sends byte by byte gains no time.
                if inbox.count < count, deadline.passed { throw .late }
            case -EAGAIN: try wait(Int16(POLLIN), deadline)
            default: throw .closed
            }
        }
    }

    private func wait(_ events: Int16, _ deadline: Deadline) throws(Fault) {
        switch appvault_pam_wait(socket, events, deadline.left) {
        case 0: throw .late
        case 1..., -EINTR, -EAGAIN: return
        default: throw .closed
        }
    }
}
