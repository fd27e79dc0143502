/// What the policy says of an open store whose owner leaves.
public struct LeavingRules: Equatable, Sendable {
    public var onBackground: LockOnBackground
    /// Seconds; 0 is never.
    public var timeout: UInt32
    /// Seconds.
    public var grace: UInt32
    public var finger: Stay

    /// What happens to the store.
    public enum Consequence: Equatable, Sendable {
        case lock
        /// It is locked after so many seconds, unless its owner comes back before.
        case lockAfter(seconds: UInt32)
        case stay
    }

    public func consequence(of leave: Leave) -> Consequence {
        switch onBackground {
        case .immediate:
            switch leave {
            case .screenLockByIdleness where grace > 0: .lockAfter(seconds: grace)
            case .screenLockByIdleness, .screenLock, .anotherInFront, .sessionEnd, .sleep: .lock
            }
        case .timeout: timeout > 0 ? .lockAfter(seconds: timeout) : .stay
        case .never: .stay
        }
    }
}

/// A person's absence, as a store knows of it: how they left, and when, by the boot clock in
/// milliseconds.
public struct Away: Equatable, Sendable {
    public var leave: Leave
    public var since: UInt64

    public init(_ leave: Leave, since: UInt64) {
        self.leave = leave
        self.since = since
    }
}

extension LeavingRules {
    /// When the store is locked for this absence; nil is never.
    public func end(of away: Away) -> UInt64? {
        switch consequence(of: away.leave) {
        case .lock: away.since
        case .lockAfter(let seconds): away.since + UInt64(seconds) * 1000
        case .stay: nil
        }
    }

    /// Until when a finger opens the store after that; nil is for good.
    public func fingerEnd(of away: Away) -> UInt64? {
        guard let end = end(of: away) else { return nil }
        return switch finger {
        case .always: nil
        case .never: end
        case .time(let seconds): end + UInt64(seconds) * 1000
        }
    }
}

extension Policy {
    public var leaving: LeavingRules {
        LeavingRules(
            onBackground: lockOnBackground, timeout: lockTimeout, grace: lockGrace,
            finger: fingerprintAfterLock)
    }
}
