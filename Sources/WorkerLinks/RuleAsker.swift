import Posix
import StoreKeeping

/// Whose candidate it is. Each asker has one place with the rule worker. So a person who opens many
/// connections only delays their own requests.
package struct RuleAsker: Hashable, Sendable {
    /// A program of the system asks. It has a line of its own, so that the person's own programs
    /// cannot delay the person's login.
    package let isTrusted: Bool
    package let uid: UInt32

    package init(isTrusted: Bool, uid: UInt32) {
        self.isTrusted = isTrusted
        self.uid = uid
    }

    /// A passcode that is set in a program of the system goes first.
    package var kind: Gate.Class { isTrusted ? .own : .apart }
}
