internal import CPam
internal import WireEmbedded

/// One connection to the daemon, proven to lead to somebody who may hear secrets; it lives for one PAM call.
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
                // The listener's queue is full. Unix sockets cannot be polled for room in it, and somebody
                // may be taking each place the moment that it is free: many attempts find one.
                _ = appvault_pam_wait(-1, 0, min(1, deadline.left))
            case _ where isAtRootsDoor: isAtRootsDoor = false
            default: throw .absent
            }
            if deadline.passed { throw .late }
        }
    }

    /// Root alone may knock here, so that a login never stands in line behind whoever knocks at everybody's.
    private func knockAtRootsDoor() -> Int32 {
        let path: StaticString = "/run/appvault/root.socket"
        // SAFETY: a literal, which ends with NUL.
        return unsafe appvault_pam_connect(socket, path.cString)
    }

    private func knock(_ options: Options) -> Int32 {
        // SAFETY: libpam's string, NUL-terminated, and alive as long as the service's configuration.
        if let path = unsafe options.socket {
            return unsafe appvault_pam_connect(socket, path)
        }
        let path: StaticString = "/run/appvault/socket"
        // SAFETY: a literal, which ends with NUL.
        return unsafe appvault_pam_connect(socket, path.cString)
    }

    /// Before the first byte: is that systemd's listener, or the daemon's own user, or us?
    private func check(_ pam: Pam) throws(Fault) {
        let peer = appvault_pam_peer(socket)
        // The overflow uid and -1 are nobody, whoever we are.
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

    /// One whole frame into `inbox`. The deadline is for the whole of it: a peer that drips bytes gains nothing.
    func receive(into inbox: inout Memory, by deadline: Deadline) throws(Fault) -> FrameHeader {
        inbox.clear()
        try fill(&inbox, to: FrameHeader.size, deadline)
        let header = decodeHeader(inbox)
        guard let header else { throw .nonsense }
        try fill(&inbox, to: FrameHeader.size + header.length, deadline)
        return header
    }

    /// Until the daemon says something, or the person at the terminal does.
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
            // A length over the limit and a header that is not there are one thing to us.
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
                // Whoever drips bytes gains nothing by it.
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
