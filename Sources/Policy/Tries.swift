/// One count of wrong tries in a row, as the slots file keeps it.
public struct Tries: Equatable, Sendable {
    /// Derivations that ended and were wrong.
    public var wrong: UInt32
    /// Derivations that began and whose outcome was never written down.
    public var unresolved: UInt32
    /// When the last of them began.
    public var last: Moment

    public init(wrong: UInt32 = 0, unresolved: UInt32 = 0, last: Moment = .never) {
        self.wrong = wrong
        self.unresolved = unresolved
        self.last = last
    }

    /// Both kinds: a kill between count and outcome is no try to be had.
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

/// Whose count a try is on.
public enum TryKind: CaseIterable, Sendable {
    /// Positively known to be the person at this machine.
    case own
    /// The person's, and not known to be made at this machine, or not at our own prompt.
    case apart
    /// Anybody else's, as far as is known.
    case stranger
    /// With the recovery key.
    case recovery
}
