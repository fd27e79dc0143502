/// Whether a passcode is too old.
public enum Expiry: Equatable, Sendable {
    case never(NeverExpires)
    /// Seconds since 1970.
    case expires(at: UInt64)
    case expired(since: UInt64)
    /// The clock is not trusted, so nothing expires.
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
    /// The passcode is the login password. AppVault does not judge the age of that.
    case followsLogin
}

public enum ClockDoubt: CaseIterable, Sendable {
    /// It shows a time at which this program did not exist yet.
    case beforeBuild
    /// It is more than a year ahead of the last time that was known.
    case jumped
}

/// A time that the clock shows, and what it is compared with. Seconds since 1970.
public struct ClockReading: Equatable, Sendable {
    public var now: UInt64
    public var builtAt: UInt64
    /// The latest time that a trusted clock showed; 0 where there is none.
    public var lastKnown: UInt64

    public init(now: UInt64, builtAt: UInt64, lastKnown: UInt64) {
        self.now = now
        self.builtAt = builtAt
        self.lastKnown = lastKnown
    }

    static let year: UInt64 = 365 * 86_400

    /// A clock is also trusted if it shows less than a year after the build. So a machine that was
    /// off for more than a year gets a trusted clock with its next update.
    public var doubt: ClockDoubt? {
        if now < builtAt { return .beforeBuild }
        // There is no earlier time to compare with. A clock is not doubted for being the first one
        // seen.
        guard lastKnown > 0 else { return nil }
        return now - builtAt > Self.year && now.subtractingSaturating(lastKnown) > Self.year
            ? .jumped : nil
    }
}

extension Expiry {
    /// The age counts from when the passcode was set. If the clock shows an earlier time, the age
    /// is 0.
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
