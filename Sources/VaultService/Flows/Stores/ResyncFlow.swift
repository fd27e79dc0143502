import KeySlots
import Policy
import Posix
import Secrets
import StoreKeeping
import Wire
import Words

/// In step with the login password again.
@LoopActor
final class ResyncFlow {
    let desk: Desk
    let lookout: Lookout
    let settling: Settling
    let proving: Proving
    let recovery: RecoveryFlows

    init(
        desk: Desk, lookout: Lookout, settling: Settling, proving: Proving,
        recovery: RecoveryFlows
    ) {
        self.desk = desk
        self.lookout = lookout
        self.settling = settling
        self.proving = proving
        self.recovery = recovery
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
        let typed = try await exchange.ask(.former, .former)
        guard let former = typed.take(), former.count > 0 else { throw .refused(.cancelled) }
        let standing = await lookout.standing(visit)
        let box = SecretBox(former)
        let opening = try await refusingAsync { () async throws(Refusal) in
            try await self.openFormer(box, standing.kind, visit)
        }
        switch try await settling.settle(visit, opening) {
        case .due(let still): throw .refused(still.refusal)
        case .settled(let opening):
            // The policy wants no passcode any more: there is nothing to keep in step.
            if opening.ground == .device { return .turnedOff }
            try await recovery.follow(now, visit, opening)
        }
        desk.auditChange("the store follows its owner's login password again", visit)
        return .driftMended
    }

    /// A former passcode or the recovery key: the two cannot be mistaken for each other, because
    /// the key carries a check. What is no passcode is not judged as one.
    func openFormer(_ typed: SecretBox, _ kind: TryKind, _ visit: Visit) async throws(Refusal)
        -> Opening
    {
        let policy = try await desk.policy(for: visit.person, visit.host).policy
        if visit.host.hasRecovery, Self.isRecoveryKey(typed) {
            try RecoveryFlows.requireRecoveryKeys(policy)
            return try await visit.host.attemptRecovery(typed, policy)
        }
        let (tried, kept) = try typed.doubled()
        return try await visit.host.attempt(kind, tried, policy)
            .with(typed: try PasscodeEntry.prepared(kept))
    }

    private static func isRecoveryKey(_ typed: SecretBox) -> Bool {
        let isKey = try? typed.read { (secret) throws(SecretsError) in
            (try? RecoveryKey(text: secret)) != nil
        }
        return (isKey ?? nil) ?? false
    }
}
