import Posix
import StoreKeeping

/// Whose candidate it is. Each has one place with the rule worker, so that whoever opens many
/// connections waits for themselves alone.
package struct RuleAsker: Hashable, Sendable {
    /// Not the line in which the person's own programs stand: those cannot hold up their login.
    package let isTrusted: Bool
    package let uid: UInt32

    package init(isTrusted: Bool, uid: UInt32) {
        self.isTrusted = isTrusted
        self.uid = uid
    }

    /// Who sets a passcode at a program of the system's goes first.
    package var kind: Gate.Class { isTrusted ? .own : .apart }
}
