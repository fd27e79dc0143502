import Posix

/// The invitations of people that are being looked for. Each is a process of the fetching worker's,
/// of which root's own fetch needs one; and nobody is to try out a network with them.
@LoopActor
struct JoinSearches {
    /// One that is under way. Root's are not counted.
    struct Search {
        fileprivate let uid: UInt32?
        fileprivate let began: UInt64

        /// So that a person has one in a second.
        @LoopActor
        func wait() async {
            guard uid != nil else { return }
            await EventLoop.sleep(until: began + 1_000)
        }
    }

    private var under: Set<UInt32> = []
    /// Of all people together.
    private static let mostAtOnce = 2

    /// Nil where the person has one already, or others have as many as there may be.
    mutating func begin(_ caller: Caller) -> Search? {
        let now = Clock.bootMilliseconds()
        guard !caller.isTrusted else { return Search(uid: nil, began: now) }
        let uid = caller.credentials.uid
        guard under.count < Self.mostAtOnce, under.insert(uid).inserted else { return nil }
        return Search(uid: uid, began: now)
    }

    mutating func end(_ search: Search) {
        if let uid = search.uid { under.remove(uid) }
    }
}
