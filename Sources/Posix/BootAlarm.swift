internal import CLinux

/// One alarm of the boot clock. The loop's own timers sleep on while the machine does; this one has
/// rung when it wakes.
@LoopActor
public final class BootAlarm {
    private let channel: Channel

    public init() throws(PosixError) {
        let number = appvault_boot_timer()
        guard number >= 0 else { throw .last("timerfd_create") }
        channel = try Channel(owning: FileDescriptor(owning: number))
    }

    /// Rings at that moment; nil is never. A moment that has passed rings at once.
    public func set(_ moment: UInt64?) {
        _ = appvault_boot_timer_set(channel.number, moment.map { max($0, 1) } ?? 0)
    }

    /// Waits until it rings.
    public func rings() async {
        while await channel.readable(until: nil) == .ready {
            if hasRung() { return }
        }
    }

    // Apart from what waits: Swift 6.2 cannot compile room on the stack in there.
    @inline(never)
    private func hasRung() -> Bool {
        // SAFETY: a timer gives the eight bytes of its count.
        unsafe withUnsafeTemporaryAllocation(byteCount: 8, alignment: 8) { room in
            if case .bytes = unsafe channel.read(into: room) { return true }
            return false
        }
    }
}
