extension Tally {
    /// The counts to use if the real ones cannot be read. Somebody may have destroyed them on
    /// purpose, so as few tries are left as possible: the last own one, unless that was made
    /// already, and none for strangers. The tries count as unresolved, so they lock the store and
    /// never erase it.
    public static func lost(_ policy: Policy, areSpent: Bool, since: Moment) -> Tally {
        guard policy.retryLimit > 0 else {
            // Without a limit the throttle is all there is.
            let most = Tries(unresolved: policy.throttleAfter.addingSaturating(32), last: since)
            return Tally(own: most, apart: most, stranger: most)
        }
        let full = Tries(unresolved: policy.retryLimit, last: since)
        return Tally(
            own: Tries(unresolved: policy.retryLimit - 1, last: since), apart: full,
            stranger: full, lockedForRecovery: areSpent)
    }

    /// Whether this is the last own try.
    public func isLast(_ kind: TryKind, _ policy: Policy) -> Bool {
        kind == .own && triesLeft(.own, policy) == 1
    }

    /// All counts of passcode tries are 0, and the store is not locked.
    public var isClear: Bool {
        own.count == 0 && apart.count == 0 && stranger.count == 0 && !lockedForRecovery
    }
}
