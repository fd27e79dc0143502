import Posix

/// Whose candidate it is. Each has one place with the rule worker, so that whoever opens many
/// connections waits for themselves alone.
struct RuleAsker: Hashable, Sendable {
    /// Not the line in which the person's own programs stand: those cannot hold up their login.
    let isTrusted: Bool
    let uid: UInt32

    /// Who sets a passcode at a program of the system's goes first.
    var kind: Gate.Class { isTrusted ? .own : .apart }
}

extension Caller {
    /// Root's programs speak for whoever started them; those that nobody started, for the person.
    func asker(for person: Person) -> RuleAsker {
        guard isTrusted else { return RuleAsker(isTrusted: false, uid: credentials.uid) }
        return RuleAsker(
            isTrusted: true, uid: hello.realUID != 0 ? hello.realUID : person.uid)
    }
}
