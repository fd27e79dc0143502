/// All counts of one store, and every way they change. Each change is written and synced by the caller: `began`
/// before the derivation, the outcome after it and before anybody hears of it.
public struct Tally: Equatable, Sendable {
    public var own: Tries
    public var apart: Tries
    public var stranger: Tries
    public var recovery: Tries
    /// The retry limit was reached and nothing was erased: only the recovery key or root opens the way again.
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

/// What a try left behind that was wrong.
public enum Aftermath: Equatable, Sendable {
    /// Tries that are left; nil is no limit.
    case left(Int?)
    /// The limit was reached by derivations that all ended and were wrong: the store goes.
    case erase
    /// The limit was reached, and the policy or an unresolved try says to keep the store.
    case lock
}

/// What became of a try after the login it belonged to was confirmed.
public enum Returned: Equatable, Sendable {
    case givenBack
    case movedToApart
    /// It stays where it was: the count apart is full.
    case stays
    /// The count was cleared meanwhile.
    case nothingCounted
}

extension Tally {
    /// Counts a try before its derivation.
    public mutating func began(_ kind: TryKind, _ now: Moment) {
        self[kind].began(now)
    }

    /// The derivation ended, and the passcode was wrong. The policy is the one that the try was allowed under.
    public mutating func wrong(_ kind: TryKind, _ policy: Policy) -> Aftermath {
        self[kind].wasWrong()
        switch kind {
        case .own:
            guard isFull(own, policy) else { return .left(triesLeft(.own, policy)) }
            // A power cut is not a guess: what it left uncounted never destroys a store.
            if policy.onRetryLimit == .erase, own.wrong >= policy.retryLimit { return .erase }
            lockedForRecovery = true
            return .lock
        // The person's full count slows down and refuses nothing for good: there is no limit to name.
        case .apart: return .left(isFull(apart, policy) ? nil : triesLeft(.apart, policy))
        case .stranger, .recovery: return .left(triesLeft(kind, policy))
        }
    }

    /// The derivation ended, and the passcode or the recovery key was right. Whoever knows the passcode, at
    /// whatever place, is no guesser: every count goes. The lock gives way to the recovery key only.
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

    /// The login was confirmed with the very token that was a wrong own try: it was no guess at the passcode.
    public mutating func givenBack(_ policy: Policy) -> Returned {
        guard own.wrong > 0 else { return .nothingCounted }
        own.wrong -= 1
        unlockIfNotFull(policy)
        return .givenBack
    }

    /// The login was confirmed, but nobody can say with which token: the try no longer counts against the person.
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

    /// By root.
    public mutating func cleared() {
        self = Tally()
    }

    func isFull(_ tries: Tries, _ policy: Policy) -> Bool {
        policy.retryLimit > 0 && tries.count >= policy.retryLimit
    }

    // The try that reached the limit is off the count, so the lock it brought has no ground left.
    private mutating func unlockIfNotFull(_ policy: Policy) {
        if policy.retryLimit > 0, !isFull(own, policy) { lockedForRecovery = false }
    }
}
