import KeySlots
import Policy
import Posix
import Words

/// A store that follows another one of the same person: it opens and shuts with it.
extension StoreHost {
    package var isFollower: Bool { identity.kind.parent != nil }

    /// To be shown; empty where that store is gone.
    package var parentName: String {
        isFollower ? parent.map { Text.clean($0.identity.storeName) } ?? "" : ""
    }

    /// The store whose idle time and hold count for this one: that of the store that it follows,
    /// unless it has a policy of its own.
    package var timekeeper: StoreHost { leader ?? self }

    var leader: StoreHost? {
        guard isFollower, let parent, parent.identity.policyKey == identity.policyKey
        else { return nil }
        return parent
    }

    /// Which of the stores that follow this one are locked with it.
    package enum Company: Sendable {
        case all
        /// Not those that have a policy of their own, which says itself what it takes to lock them.
        case ofOnePolicy
    }

    func company(_ company: Company) -> [StoreHost] {
        followers().filter { follower in
            switch company {
            case .all: true
            case .ofOnePolicy: follower.leader === self
            }
        }
    }

    /// What this key opens of the stores that follow this one; nil where none can.
    package func ring(of opening: Opening) async throws(Refusal) -> Ring? {
        guard identity.kind == .own else { return nil }
        try await makeMemberKey(opening)
        do throws(KeyError) {
            let following = try FollowingKey(of: id, storeKey: opening.key.bytes)
            // A member key that is damaged opens nothing, and everything else still opens.
            return Ring(following, member: memberKey(opening))
        } catch {
            throw Self.refusal(error, .unlock)
        }
    }

    private func memberKey(_ opening: Opening) -> StoreKey? {
        do {
            guard let key = snapshot.memberKey else { return nil }
            return StoreKey(try key.open(store: id, storeKey: opening.key.bytes))
        } catch {
            return nil
        }
    }

    /// A person's member key is in their default store, from its first opening on. A disk that
    /// refuses it keeps nobody out.
    private func makeMemberKey(_ opening: Opening) async throws(Refusal) {
        guard snapshot.memberKey == nil, identity.storeName == Vault.defaultName else { return }
        try await inTurn(.own) { () async throws(Refusal) in
            let file = try requireLive()
            try require(opening.ground)
            try? await onDisk(file, .unlock) { (file) throws(KeyError) in
                try file.makeMemberKey(storeKey: opening.key.bytes)
            }
        }
    }

    /// The store key, by what the store that it follows opens. `proven` is what that rests on,
    /// where its person has shown it in this exchange.
    package func opening(
        with ring: Ring, proven: Ground? = nil
    ) async throws(Refusal) -> Opening {
        try await inTurn(.own) { () async throws(Refusal) in
            let file = try requireLive()
            let ground = Ground.parent(proven: proven)
            try require(ground)
            let departures = departures
            let opening = try await onDisk(file, .unlock) { (file) throws(KeyError) in
                Opening(
                    key: StoreKey(try file.openFollowing(ring.following)), ground: ground,
                    departures: departures)
            }
            await mend(file, snapshot.isDamaged)
            return opening
        }
    }

    /// The store that it follows, as long as that can be opened.
    package func requireParent() throws(Refusal) -> StoreHost {
        guard isFollower, let parent, parent.health != .erased else { throw .doesNotExist(.parent) }
        return parent
    }

    /// Opens it with the store that it follows, where that is open. If nobody asks for it, `since`
    /// is how often it had been locked when that one was opened: a lock that came after stays.
    package func openAlong(since closings: UInt64? = nil) async throws(Refusal) {
        guard !isOpen else { return }
        guard closings == nil || closings == records.closings else { throw .locked }
        let parent = try requireParent()
        guard parent.isOpen, let ring = parent.ring else { throw .locked }
        let opening = try await opening(with: ring)
        guard closings == nil || closings == records.closings else { throw .locked }
        // Nobody has shown anything for this: an owner who is away stays away.
        try await open(opening.key, .storeKey, opening.ground, nil)
        guard parent.ring === ring else {
            await lock()
            throw .locked
        }
        // It is about to be locked again.
        guard isOpen else { throw .locked }
    }

    /// The same for a request behind which there may be no person: what was locked since the store
    /// that it follows was opened stays locked.
    package func openAlongUnlessLocked() async throws(Refusal) {
        guard !isOpen else { return }
        // Its idle time is over, and it is about to be locked.
        guard !records.isOpen else { throw .locked }
        guard let closings = closingsBeforeParent else { throw .locked }
        try await openAlong(since: closings)
    }
}
