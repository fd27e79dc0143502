/// One count of wrong tries in a row, as the slots file keeps it.
public struct Tries: Equatable, Sendable {
    /// Derivations that ended and were wrong.
    public var wrong: UInt32
    /// Derivations that began and whose outcome was never written.
    public var unresolved: UInt32
    /// When the last try began.
    public var last: Moment

    public init(wrong: UInt32 = 0, unresolved: UInt32 = 0, last: Moment = .never) {
        self.wrong = wrong
        self.unresolved = unresolved
        self.last = last
    }

    /// Both kinds. So nobody gains a try by killing the daemon before it writes the outcome.
    public var count: UInt32 { wrong.addingSaturating(unresolved) }

    mutating func began(_ now: Moment) {
        unresolved = unresolved.addingSaturating(1)
        last = now
    }

    mutating func ended() {
        unresolved -= min(unresolved, 1)
    }

    mutating func wasWrong() {
        ended()
        wrong = wrong.addingSaturating(1)
    }
}

/// Which count a try is on.
public enum TryKind: CaseIterable, Sendable {
    /// It is certain that the person at this machine makes the try.
    case own
    /// The person makes the try, but it is not known to be made at this machine, or not at our own
    /// prompt.
    case apart
    /// As far as is known, somebody else makes the try.
    case stranger
    /// The try is made with the recovery key.
    case recovery
}
