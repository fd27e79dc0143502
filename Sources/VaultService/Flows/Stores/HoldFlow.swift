import Policy
import Posix
import StoreKeeping
import Wire
import Words

/// The owner suspends what locks the store by itself, and ends that again.
@LoopActor
final class HoldFlow {
    let desk: Desk
    let proving: Proving

    init(desk: Desk, proving: Proving) {
        self.desk = desk
        self.proving = proving
    }

    func hold(_ request: Hold, _ exchange: any Conversation) async throws(Interruption) -> Message {
        let person = try await desk.person(request.target.subject, exchange.caller)
        guard person.uid == exchange.caller.credentials.uid else {
            throw .refused(.notPermitted(.notYours))
        }
        if request.seconds == 0 { return try resume(request.target, person) }
        // What the policy does not allow is said before the passcode is asked for.
        let visit = try await desk.visit(request.target, exchange)
        guard !visit.host.isShared else {
            throw .refused(.invalidAction(action: .hold, reason: .shared))
        }
        _ = try seconds(request, visit.policy)
        // The passcode is typed for it: a program of the person's could otherwise keep the store
        // open behind a locked screen.
        let (opened, ground) = try await proving.openOwn(request.target, exchange)
        let seconds = try seconds(request, opened.policy)
        try refusing { () throws(Refusal) in
            try opened.host.require(ground)
            guard opened.host.isOpen else { throw .locked }
        }
        opened.host.timekeeper.hold(seconds: seconds)
        desk.auditChange("locking was suspended for \(seconds) s", opened)
        return .held(seconds: Int(seconds))
    }

    private func seconds(_ request: Hold, _ policy: Policy) throws(Interruption) -> UInt32 {
        let most = policy.holdMax
        guard most > 0 else { throw .refused(.policyDenies(key: "HoldMax")) }
        guard request.seconds <= most || request.seconds == Hold.longest else {
            throw .refused(.invalidAction(action: .hold, reason: .holdMost(seconds: Int(most))))
        }
        return min(request.seconds, most)
    }

    /// Needs no passcode: it only locks sooner.
    private func resume(_ target: Target, _ person: Person) throws(Interruption) -> Message {
        let host = try desk.requireStore(of: person, target)
        host.timekeeper.resume()
        return .resumed
    }
}
