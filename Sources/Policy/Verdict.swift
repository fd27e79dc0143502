/// Whether a try may be made now.
public enum TryVerdict: Equatable, Sendable {
    case allowed(Stake)
    /// The try is neither derived nor counted, because it comes so many seconds too early.
    case throttled(seconds: UInt32)
    case limitReached(LimitReached)
}

/// What a wrong passcode would lead to at this try.
public enum Stake: Equatable, Sendable {
    /// The try is counted, and nothing else.
    case nothing
    /// Strangers' tries are refused until the person unlocks.
    case refusal
    /// The store is locked until the recovery key or root unlocks it.
    case lock
    /// The store is erased.
    case erase
}

/// Which limit was reached.
public enum LimitReached: Equatable, Sendable {
    /// The store is locked until the recovery key or root unlocks it.
    case own
    /// Strangers made too many tries. The person's next unlock clears them, and so can root.
    case stranger
}

extension Tally {
    /// Judges a try before it is counted. Tries of one store are judged, counted and derived one
    /// after the other.
    public func verdict(_ kind: TryKind, _ policy: Policy, _ now: Moment) -> TryVerdict {
        switch kind {
        case .own, .apart:
            if isRetryLocked(policy) { return .limitReached(.own) }
        case .stranger:
            if isRetryLocked(policy) { return .limitReached(.own) }
            if isFull(stranger, policy) { return .limitReached(.stranger) }
        case .recovery:
            break
        }
        let stake = stake(kind, policy)
        let wait = delay(kind, policy) * 1000
        let waited = now.milliseconds(since: self[kind].last)
        guard waited >= wait else {
            return .throttled(seconds: UInt32((wait - waited + 999) / 1000))
        }
        return .allowed(stake)
    }

    /// The state that BEHAVIOURS calls retry-locked: no passcode is tried, only the recovery key.
    public func isRetryLocked(_ policy: Policy) -> Bool {
        lockedForRecovery || isFull(own, policy)
    }

    /// The tries that are left, for display; nil is no limit, which answers send as -1.
    public func triesLeft(_ kind: TryKind, _ policy: Policy) -> Int? {
        switch kind {
        case .own, .apart, .stranger:
            if isRetryLocked(policy) { return 0 }
            guard policy.retryLimit > 0 else { return nil }
            return Int(policy.retryLimit) - Int(min(self[kind].count, policy.retryLimit))
        case .recovery:
            return nil
        }
    }

    /// What is at stake at the next try of a kind, for the line that warns the person.
    public func stake(_ kind: TryKind, _ policy: Policy) -> Stake {
        guard triesLeft(kind, policy) == 1 else { return .nothing }
        switch kind {
        case .own:
            switch policy.onRetryLimit {
            case .erase: return own.unresolved == 0 ? .erase : .lock
            case .lock: return .lock
            }
        case .stranger: return .refusal
        case .apart: return .nothing
        case .recovery: return .nothing
        }
    }

    /// The seconds that must pass between the last try and the next.
    private func delay(_ kind: TryKind, _ policy: Policy) -> UInt64 {
        let count = self[kind].count
        // A person who never makes own tries (only ssh, no logind) is slowed down and never shut
        // out.
        if kind == .apart, isFull(apart, policy) { return UInt64(policy.throttleMax) }
        guard policy.throttleAfter > 0, count > 0 else { return 0 }
        // The last try before an erase has to wait, so that a passer-by cannot erase a store in a
        // minute. The last try also has to wait if all tries before it are unresolved: they may
        // stand for a count that somebody destroys again and again.
        if isLast(kind, policy), policy.onRetryLimit == .erase || own.wrong == 0 {
            return UInt64(policy.throttleMax)
        }
        guard count >= policy.throttleAfter else { return 0 }
        let doublings = count - policy.throttleAfter
        guard doublings < 32 else { return UInt64(policy.throttleMax) }
        return min(1 << UInt64(doublings), UInt64(policy.throttleMax))
    }
}
