import KeySlots
import Secrets
import Words

/// What an open store opens besides its own records. It is kept in guarded memory as long as the
/// store is open.
package final class Ring: Sendable, Redacted {
    let following: FollowingKey
    /// Opens what is shared with its owner; nil where their member key is in another store.
    let member: StoreKey?
    package var store: StoreID { following.parent }
    package var opensShared: Bool { member != nil }

    init(_ following: consuming FollowingKey, member: StoreKey?) {
        self.following = following
        self.member = member
    }

    /// As it was left by the daemon before this one.
    convenience init(of store: StoreID, _ left: StoreKey) throws(KeyError) {
        let size = FollowingKey.size
        do throws(SecretsError) {
            let key = try left.bytes.slice(0..<min(size, left.bytes.count))
            let member =
                left.bytes.count > size
                ? StoreKey(try left.bytes.slice(size..<left.bytes.count)) : nil
            self.init(try Self.following(store, key), member: member)
        } catch {
            throw .secrets(error)
        }
    }

    private static func following(
        _ store: StoreID, _ key: borrowing SecretBytes
    ) throws(SecretsError) -> FollowingKey {
        do throws(KeyError) {
            return try FollowingKey(of: store, copying: key)
        } catch {
            throw .wrongSize
        }
    }

    /// For the next daemon.
    var copy: StoreKey? {
        do {
            let key = try following.copy()
            guard let member else { return StoreKey(key) }
            var both = try SecretBytes(count: key.count + member.bytes.count)
            both.withMutableBytes { bytes in
                key.withBytes { Self.put($0, at: 0, into: &bytes) }
                member.bytes.withBytes { Self.put($0, at: key.count, into: &bytes) }
            }
            return StoreKey(both)
        } catch {
            return nil
        }
    }

    private static func put(
        _ part: Span<UInt8>, at start: Int, into bytes: inout MutableSpan<UInt8>
    ) {
        for index in part.indices { bytes[start + index] = part[index] }
    }
}
