import Posix
import StoreKeeping
import Wire
import Words

/// Asks polkit whether a person may do something without the passcode. Who asks is what the kernel
/// says of the connection. The loop waits for no answer, and a person who leaves takes the question
/// back.
@LoopActor
final class Authority {
    let desk: Desk
    private var asking: Set<UInt32> = []
    /// Of all people together: each question is a connection to the bus.
    private static let mostAtOnce = 16

    init(desk: Desk) {
        self.desk = desk
    }

    func allows(_ action: PolkitAction, _ caller: Caller) async throws(Interruption) -> PolkitAnswer
    {
        let uid = caller.credentials.uid
        guard asking.count < Self.mostAtOnce, asking.insert(uid).inserted else { return .absent }
        defer { asking.remove(uid) }
        guard let beginning = await desk.directory.beginning(of: caller.process) else {
            return .absent
        }
        let answer = await desk.directory.edges.polkit(
            action, PolkitSubject(pid: caller.process.pid, beginning: beginning, uid: uid),
            Clock.bootMilliseconds() + UInt64(Limits.personWait)
        ) { !caller.hasHungUp }
        guard !caller.hasHungUp else { throw .gone(.closed) }
        return answer
    }
}
