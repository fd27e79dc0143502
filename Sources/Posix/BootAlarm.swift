internal import CLinux

/// One alarm of the boot clock, which goes on while the machine sleeps. The loop waits for its own
/// timers in epoll, whose clock stands still meanwhile. This alarm has rung when the machine wakes.
@LoopActor
public final class BootAlarm {
    private let channel: Channel

    public init() throws(PosixError) {
        let number = appvault_boot_timer()
        guard number >= 0 else { throw .last("timerfd_create") }
        channel = try Channel(owning: FileDescriptor(owning: number))
    }

    /// Sets the moment at which it rings; nil means never. If the moment has passed, it rings at
    /// once.
    public func set(_ moment: UInt64?) {
        _ = appvault_boot_timer_set(channel.number, moment.map { max($0, 1) } ?? 0)
    }

    /// Waits until it rings.
    public func rings() async {
        while await channel.readable(until: nil) == .ready {
            if hasRung() { return }
        }
    }

    // A function of its own: Swift 6.2 cannot compile a stack allocation inside an async function.
    @inline(never)
    private func hasRung() -> Bool {
        // SAFETY: reading a timer gives eight bytes, its count.
        unsafe withUnsafeTemporaryAllocation(byteCount: 8, alignment: 8) { room in
            if case .bytes = unsafe channel.read(into: room) { return true }
            return false
        }
    }
}
