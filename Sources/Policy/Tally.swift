/// All counts of one store, and every way in which they change. The caller writes and syncs each
/// change: `began` before the derivation, the outcome after it and before it answers anybody.
public struct Tally: Equatable, Sendable {
    public var own: Tries
    public var apart: Tries
    public var stranger: Tries
    public var recovery: Tries
    /// The retry limit was reached and nothing was erased. Only the recovery key or root can unlock
    /// the store again.
    public var lockedForRecovery: Bool

    public init(
        own: Tries = Tries(), apart: Tries = Tries(), stranger: Tries = Tries(),
        recovery: Tries = Tries(), lockedForRecovery: Bool = false
    ) {
        self.own = own
        self.apart = apart
        self.stranger = stranger
        self.recovery = recovery
        self.lockedForRecovery = lockedForRecovery
    }

    public subscript(kind: TryKind) -> Tries {
        get {
            switch kind {
            case .own: own
            case .apart: apart
            case .stranger: stranger
            case .recovery: recovery
            }
        }
        set {
            switch kind {
            case .own: own = newValue
            case .apart: apart = newValue
            case .stranger: stranger = newValue
            case .recovery: recovery = newValue
            }
        }
    }
}

/// What follows from a wrong try.
public enum Aftermath: Equatable, Sendable {
    /// The number of tries that are left; nil where there is no limit.
    case left(Int?)
    /// The limit was reached by derivations that all ended and were wrong: the store is erased.
    case erase
    /// The limit was reached, and the policy or an unresolved try demands that the store is kept.
    case lock
}

/// What happened to a wrong try after the login that it belonged to was confirmed.
public enum Returned: Equatable, Sendable {
    case givenBack
    case movedToApart
    /// The try stays on the own count, because the apart count is full.
    case stays
    /// The count was cleared meanwhile.
    case nothingCounted
}

extension Tally {
    /// Counts a try before its derivation.
    public mutating func began(_ kind: TryKind, _ now: Moment) {
        self[kind].began(now)
    }

    /// The derivation ended, and the passcode was wrong. `policy` is the one under which the try
    /// was allowed.
    public mutating func wrong(_ kind: TryKind, _ policy: Policy) -> Aftermath {
        self[kind].wasWrong()
        switch kind {
        case .own:
            guard isFull(own, policy) else { return .left(triesLeft(.own, policy)) }
            // A power cut is not a guess, so unresolved tries never destroy a store.
            if policy.onRetryLimit == .erase, own.wrong >= policy.retryLimit { return .erase }
            lockedForRecovery = true
            return .lock
        // A full apart count slows the person down and never refuses for good, so there is no limit
        // to report.
        case .apart: return .left(isFull(apart, policy) ? nil : triesLeft(.apart, policy))
        case .stranger, .recovery: return .left(triesLeft(kind, policy))
        }
    }

    /// The derivation ended, and the passcode or the recovery key was right. A person who knows the
    /// passcode is not guessing, wherever they are: every count is cleared. Only the recovery key
    /// removes the lock.
    public mutating func right(_ kind: TryKind) {
        switch kind {
        case .own, .apart, .stranger: self = Tally(lockedForRecovery: lockedForRecovery)
        case .recovery: self = Tally()
        }
    }

    /// The derivation never took place: nothing was tried.
    public mutating func notDerived(_ kind: TryKind) {
        self[kind].ended()
    }

    /// The login was confirmed with the same token that was a wrong own try, so it was not a guess
    /// at the passcode.
    public mutating func givenBack(_ policy: Policy) -> Returned {
        guard own.wrong > 0 else { return .nothingCounted }
        own.wrong -= 1
        unlockIfNotFull(policy)
        return .givenBack
    }

    /// The login was confirmed, but it is not known with which token. The try no longer counts as
    /// an own one.
    public mutating func movedToApart(_ policy: Policy) -> Returned {
        guard own.wrong > 0 else { return .nothingCounted }
        guard !isFull(apart, policy) else { return .stays }
        own.wrong -= 1
        apart.wrong = apart.wrong.addingSaturating(1)
        let isLater =
            apart.last.bootID == own.last.bootID
            && apart.last.milliseconds > own.last.milliseconds
        if !isLater { apart.last = own.last }
        unlockIfNotFull(policy)
        return .movedToApart
    }

    /// Root cleared the counts.
    public mutating func cleared() {
        self = Tally()
    }

    func isFull(_ tries: Tries, _ policy: Policy) -> Bool {
        policy.retryLimit > 0 && tries.count >= policy.retryLimit
    }

    // The try that reached the limit has been removed from the count, so the store is no longer
    // locked.
    private mutating func unlockIfNotFull(_ policy: Policy) {
        if policy.retryLimit > 0, !isFull(own, policy) { lockedForRecovery = false }
    }
}
