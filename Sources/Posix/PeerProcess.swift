internal import CLinux

/// The process that connected. After a process has ended, the kernel may give its pid to another
/// one. So what is read under a pid counts only if it belonged to the same process before and
/// after.
public final class PeerProcess: Sendable {
    public let pid: Int32
    private let proof: Proof

    private enum Proof: Sendable {
        /// A pidfd: the kernel's own reference to the process.
        case held(Int32)
        /// For kernels without pidfds of peers: when the process began, in the kernel's ticks since
        /// the boot.
        case began(UInt64)
        case none
    }

    /// To be made when the peer is accepted or soon after, while the socket is open.
    public init(of peer: PeerCredentials, socket: Int32) {
        pid = peer.pid
        let held = appvault_peer_process(socket)
        if held >= 0 {
            proof = .held(held)
        } else {
            proof = ProcessFacts.beginning(of: pid).map { .began($0) } ?? .none
        }
    }

    deinit {
        if case .held(let descriptor) = proof { close(descriptor) }
    }

    /// Returns what `look` finds if the pid belonged to this process the whole time. May read
    /// files.
    public func during<R>(_ look: (Int32) -> R?) -> R? {
        guard isThere, let found = look(pid), isThere else { return nil }
        return found
    }

    /// No other process can be mistaken for this one, even after it has ended.
    public var isHeld: Bool {
        switch proof {
        case .held: true
        case .began, .none: false
        }
    }

    private var isThere: Bool {
        switch proof {
        case .held(let descriptor): appvault_process_ended(descriptor) == 0
        case .began(let moment): ProcessFacts.beginning(of: pid) == moment
        case .none: false
        }
    }
}

/// What /proc says about a process.
public enum ProcessFacts {
    /// When it began, in the kernel's ticks since the boot; nil if there is no such process.
    public static func beginning(of pid: Int32) -> UInt64? {
        guard pid > 0, let stat = try? TextFile.read(at: "/proc/\(pid)/stat", limit: 4096),
            // The process name may contain spaces and brackets; it ends at the last bracket.
            let name = stat.lastIndex(of: UInt8(ascii: ")"))
        else { return nil }
        let fields = stat[(name + 1)...].split(separator: UInt8(ascii: " "))
        // A process that has ended and was not reaped yet counts as none.
        guard fields.count > 19, !["Z", "X"].contains(where: { fields[0].elementsEqual($0.utf8) })
        else { return nil }
        return number(fields[19])
    }

    /// The user who started it. The effective uid may be root's by now.
    public static func realUID(of pid: Int32) -> UInt32? {
        guard pid > 0, let status = try? TextFile.read(at: "/proc/\(pid)/status", limit: 1 << 14)
        else { return nil }
        let label = Array("Uid:".utf8)
        // The kernel escapes the name in the first line, so a process cannot inject a line of its
        // own.
        guard let line = status.split(separator: 0x0A).first(where: { $0.starts(with: label) }),
            let real = line.dropFirst(label.count).split(separator: 0x09).first
        else { return nil }
        return number(real).flatMap(UInt32.init(exactly:))
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
        guard !digits.isEmpty, digits.count < 20 else { return nil }
        var value: UInt64 = 0
        for byte in digits {
            guard 0x30...0x39 ~= byte else { return nil }
            value = value * 10 + UInt64(byte - 0x30)
        }
        return value
    }
}
