import Posix

/// The questions of people to servers that are under way. Each is a process of the fetching worker's,
/// of which root's own fetch needs one; and nobody is to try out a network, or a password, with them.
@LoopActor
final class ServerAsks {
    /// One that is under way. Root's are not counted.
    struct Ask {
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
    func begin(_ caller: Caller) -> Ask? {
        let now = Clock.bootMilliseconds()
        guard !caller.isTrusted else { return Ask(uid: nil, began: now) }
        let uid = caller.credentials.uid
        guard under.count < Self.mostAtOnce, under.insert(uid).inserted else { return nil }
        return Ask(uid: uid, began: now)
    }

    func end(_ ask: Ask) {
        if let uid = ask.uid { under.remove(uid) }
    }
}
