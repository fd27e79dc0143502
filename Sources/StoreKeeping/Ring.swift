import KeySlots
import Secrets
import Words

/// What an open store opens besides its own records. It is kept in guarded memory as long as the
/// store is open.
package final class Ring: Sendable, Redacted {
    let following: FollowingKey
    var store: StoreID { following.parent }

    init(_ following: consuming FollowingKey) {
        self.following = following
    }

    /// As it was left by the daemon before this one.
    convenience init(of store: StoreID, _ left: StoreKey) throws(KeyError) {
        self.init(try FollowingKey(of: store, copying: left.bytes))
    }

    /// For the next daemon.
    var copy: StoreKey? {
        do { return StoreKey(try following.copy()) } catch { return nil }
    }
}
