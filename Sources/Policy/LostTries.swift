extension Tally {
    /// What counts where the tries cannot be read. They may have been destroyed on purpose, so
    /// nobody has more of them than the fewest that the person can be left with: the last own one,
    /// unless that was had already, and none of strangers'. They count as unresolved, so they lock
    /// the store and never erase it.
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

    /// Whether no own try would be left behind this one.
    public func isLast(_ kind: TryKind, _ policy: Policy) -> Bool {
        kind == .own && triesLeft(.own, policy) == 1
    }

    /// Nothing counts against anybody.
    public var isClear: Bool {
        own.count == 0 && apart.count == 0 && stranger.count == 0 && !lockedForRecovery
    }
}
