/// Whether a passcode is too old.
public enum Expiry: Equatable, Sendable {
    case never(NeverExpires)
    /// Seconds since 1970.
    case expires(at: UInt64)
    case expired(since: UInt64)
    /// Nothing expires by such a clock.
    case clockNotBelieved(ClockDoubt)

    public var isExpired: Bool {
        switch self {
        case .expired: true
        case .never, .expires, .clockNotBelieved: false
        }
    }
}

public enum NeverExpires: CaseIterable, Sendable {
    case noPasscode
    /// ExpireDays is 0.
    case noRule
    /// Its age is the login password's, which is not ours to judge.
    case followsLogin
}

public enum ClockDoubt: CaseIterable, Sendable {
    /// It shows a time at which this program did not exist yet.
    case beforeBuild
    /// It is more than a year ahead of the last time that was known.
    case jumped
}

/// What a clock is held against. Seconds since 1970.
public struct ClockReading: Equatable, Sendable {
    public var now: UInt64
    public var builtAt: UInt64
    /// The latest time at which a clock that was believed is known to have been; 0 where there is none.
    public var lastKnown: UInt64

    public init(now: UInt64, builtAt: UInt64, lastKnown: UInt64) {
        self.now = now
        self.builtAt = builtAt
        self.lastKnown = lastKnown
    }

    static let year: UInt64 = 365 * 86_400

    /// A build that is newer than what was known confirms the time as well, so that a machine which stood still for
    /// a year comes to itself with the next update.
    public var doubt: ClockDoubt? {
        if now < builtAt { return .beforeBuild }
        // Nothing to hold it against: a clock is not doubted for being the first one seen.
        guard lastKnown > 0 else { return nil }
        return now - builtAt > Self.year && now.subtractingSaturating(lastKnown) > Self.year
            ? .jumped : nil
    }
}

extension Expiry {
    /// Age counts from when the passcode was set; a clock before that is age 0.
    public init(
        state: PasscodeState, followsLogin: Bool, setAt: UInt64, expireDays: UInt32,
        _ clock: ClockReading
    ) {
        switch state {
        case .none, .fingerprintOnly:
            self = .never(.noPasscode)
            return
        case .passcode, .passcodeAndFingerprint: break
        }
        if followsLogin {
            self = .never(.followsLogin)
        } else if expireDays == 0 {
            self = .never(.noRule)
        } else if let doubt = clock.doubt {
            self = .clockNotBelieved(doubt)
        } else {
            let end = setAt.addingSaturating(UInt64(expireDays) * 86_400)
            self = clock.now >= end ? .expired(since: end) : .expires(at: end)
        }
    }
}
