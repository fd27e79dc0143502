/// Whose share of the daemon a connection uses.
enum Party: Hashable, Sendable {
    /// The real uid 0, and the owner of a private daemon.
    case root
    /// A uid that has an account; also root's programs that say they act for it.
    case person(UInt32)
    /// All uids without an account together, because one person may have 65,536 of them.
    case accountless
    /// Uids of which the directory service has not said yet whether they have an account.
    case unresolved
}
