import KeySlots
import Policy
import Secrets
import StoreKeeping
import Wire
import Words

/// In step with the login password again.
extension Service {
    func resync(_ target: Target, _ exchange: Exchange) async throws(Interruption)
        -> Message
    {
        let visit = try await visit(target, exchange)
        try refusing { () throws(Refusal) in try visit.host.requireUsable() }
        guard visit.host.followsLogin, visit.host.hasPasscode else {
            throw .refused(.invalidAction(action: .resync, reason: .notFollowing))
        }
        let now = try await askLoginPassword(exchange)
        let typed = try await exchange.ask(.former, .former)
        guard let former = typed.take(), former.count > 0 else { throw .refused(.cancelled) }
        let standing = await standing(visit)
        let box = SecretBox(former)
        let opening = try await refusingAsync { () async throws(Refusal) in
            try await self.openFormer(box, standing.kind, visit)
        }
        switch try await settle(visit, opening) {
        case .due(let still): throw .refused(still.refusal)
        case .settled(let opening):
            // The policy wants no passcode any more: there is nothing to keep in step.
            if opening.ground == .device { return .turnedOff }
            try await follow(now, visit, opening)
        }
        auditChange("the store follows its owner's login password again", visit)
        return .driftMended
    }

    /// A former passcode or the recovery key: the two cannot be mistaken for each other, because
    /// the key carries a check. What is no passcode is not judged as one.
    func openFormer(_ typed: SecretBox, _ kind: TryKind, _ visit: Visit) async throws(Refusal)
        -> Opening
    {
        let policy = try await self.policy(for: visit.person, visit.host).policy
        if visit.host.hasRecovery, Self.isRecoveryKey(typed) {
            try Self.requireRecoveryKeys(policy)
            return try await visit.host.attemptRecovery(typed, policy)
        }
        let (tried, kept) = try typed.doubled()
        return try await visit.host.attempt(kind, tried, policy)
            .with(typed: try Self.prepared(kept))
    }

    private static func isRecoveryKey(_ typed: SecretBox) -> Bool {
        let isKey = try? typed.read { (secret) throws(SecretsError) in
            (try? RecoveryKey(text: secret)) != nil
        }
        return (isKey ?? nil) ?? false
    }
}
