extension Policy {
    /// Seconds without a request after which an open store locks; 0 is never. Without a session of
    /// the owner there is no last logout that could lock the store, so it always has this end.
    public func idleSeconds(ownerHasSession: Bool) -> UInt32 {
        ownerHasSession || idleTimeout > 0 ? idleTimeout : Self.idleWithoutSession
    }

    private static let idleWithoutSession: UInt32 = 15 * 60
}
