extension Policy {
    /// Seconds without a request after which an open store locks; 0 is never. If the owner has no
    /// session, no last logout will lock the store, so there is always a limit.
    public func idleSeconds(ownerHasSession: Bool) -> UInt32 {
        ownerHasSession || idleTimeout > 0 ? idleTimeout : Self.idleWithoutSession
    }

    private static let idleWithoutSession: UInt32 = 15 * 60
}
