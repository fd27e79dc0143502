import KeySlots
import Policy
import Posix
import Secrets
import StoreKeeping
import Wire
import Words

/// Makes a store follow the login password again.
@LoopActor
final class ResyncFlow {
    let desk: Desk
    let lookout: Lookout
    let settling: Settling
    let proving: Proving
    let passcodes: Passcodes

    init(
        desk: Desk, lookout: Lookout, settling: Settling, proving: Proving,
        passcodes: Passcodes
    ) {
        self.desk = desk
        self.lookout = lookout
        self.settling = settling
        self.proving = proving
        self.passcodes = passcodes
    }

    func resync(_ target: Target, _ exchange: any Conversation) async throws(Interruption)
        -> Message
    {
        let visit = try await desk.visit(target, exchange)
        try refusing { () throws(Refusal) in try visit.host.requireUsable() }
        guard visit.host.followsLogin, visit.host.hasPasscode else {
            throw .refused(.invalidAction(action: .resync, reason: .notFollowing))
        }
        let now = try await proving.askLoginPassword(exchange)
        let former = try await exchange.secret(.former(.former))
        guard !former.isEmpty else { throw .refused(.cancelled) }
        let standing = await lookout.standing(visit)
        let opening = try await refusingAsync { () async throws(Refusal) in
            try await self.openFormer(try TypedPasscode(former), standing.kind, visit)
        }
        switch try await settling.settle(visit, opening) {
        case .due(let still): throw .refused(still.refusal)
        case .settled(let opening):
            // The policy wants no passcode any more, so there is nothing to keep in step.
            if opening.ground == .device { return .turnedOff }
            try await passcodes.follow(now, visit, opening)
        }
        desk.auditChange("the store follows its owner's login password again", visit)
        return .driftMended
    }

    /// A former passcode or the recovery key: the two cannot be mistaken for each other, because
    /// the key carries a check. What is no passcode is not judged as one.
    func openFormer(_ typed: TypedPasscode, _ kind: TryKind, _ visit: Visit) async throws(Refusal)
        -> Opening
    {
        let policy = try await desk.policy(for: visit.person, visit.host).policy
        if visit.host.hasRecovery, let key = try? StoreHost.recoveryKey(typed.bytes) {
            try RecoveryFlows.requireRecoveryKeys(policy)
            return try await visit.host.attemptRecovery(key, policy)
        }
        return try await visit.host.attempt(kind, typed, policy)
    }
}
