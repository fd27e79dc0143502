internal import CLinux

/// Wakes a thread that waits for a socket.
public final class Doorbell: Sendable {
    private let descriptor: FileDescriptor

    public init() throws(PosixError) {
        let number = appvault_wakeup()
        guard number >= 0 else { throw .last("eventfd") }
        descriptor = FileDescriptor(owning: number)
    }

    /// From any thread.
    public func ring() {
        var one: UInt64 = 1
        // SAFETY: the number is ours, and as long as is said.
        _ = unsafe write(descriptor.raw, &one, MemoryLayout<UInt64>.size)
    }

    /// Until it has rung.
    public func wait() { _ = wait(beside: -1, -1) }

    public enum Arrival: Equatable, Sendable {
        case rung
        /// The socket has something, or has closed.
        case other
        case late
    }

    /// Negative milliseconds are as long as it takes. What has rung is silent again.
    public func wait(beside socket: Int32, _ milliseconds: Int32) -> Arrival {
        let end = ToolIO.milliseconds + UInt64(max(0, milliseconds))
        var watched = [
            pollfd(fd: descriptor.raw, events: Int16(POLLIN), revents: 0),
            pollfd(fd: socket, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            let now = ToolIO.milliseconds
            let rest = milliseconds < 0 ? -1 : Int32(now < end ? end - now : 0)
            // SAFETY: two entries; poll skips a negative descriptor.
            let found = unsafe poll(&watched, 2, rest)
            if found < 0, appvault_errno() == EINTR { continue }
            guard found > 0 else { return .late }
            guard watched[0].revents != 0 else { return .other }
            silence()
            return .rung
        }
    }

    var raw: Int32 { descriptor.raw }

    func silence() {
        var rings: UInt64 = 0
        // SAFETY: as long as is said; the descriptor does not block.
        _ = unsafe read(descriptor.raw, &rings, MemoryLayout<UInt64>.size)
    }
}
