internal import CPam

/// An instant of the monotonic clock, so that setting the wall clock does not change our waits.
struct Deadline {
    private let instant: UInt64

    init(in milliseconds: Int32) {
        instant = appvault_pam_now() &+ UInt64(UInt32(bitPattern: max(0, milliseconds)))
    }

    /// Milliseconds that are left; 0 when the deadline has passed.
    var left: Int32 {
        let now = appvault_pam_now()
        guard instant > now else { return 0 }
        return Int32(truncatingIfNeeded: min(instant - now, UInt64(Int32.max)))
    }

    var passed: Bool { left == 0 }
}
