import KeySlots
import Policy
import Secrets
import Wire

/// In step with the login password again.
extension Service {
    func resync(_ target: Target, _ exchange: Exchange) async throws(Interruption)
        -> Message
    {
        let person = try await person(target.subject, exchange.caller)
        let host = try requireStore(of: person, target)
        try host.requireUsable()
        guard host.followsLogin, host.hasPasscode else {
            throw .refused(.invalidAction(action: .resync, reason: .notFollowing))
        }
        let now = try await askLoginPassword(exchange)
        let typed = try await exchange.ask(.former, .former)
        guard let former = typed.take(), former.count > 0 else { throw .refused(.cancelled) }
        let standing = await standing(exchange.caller, person)
        let box = SecretBox(former)
        let key = try await refusingAsync { () async throws(Refusal) in
            try await self.openFormer(box, standing.kind, host)
        }
        try await replace(host, key, now, followsLogin: true)
        auditChange("the store follows its owner's login password again", host, person, exchange)
        return .driftMended
    }

    /// A former passcode or the recovery key: the two cannot be mistaken for each other, because
    /// the key carries a check.
    func openFormer(_ typed: SecretBox, _ kind: TryKind, _ host: StoreHost) async throws(Refusal)
        -> SecretBox
    {
        guard let secret = typed.take() else { throw .unknown }
        if host.hasRecovery, (try? RecoveryKey(text: secret)) != nil {
            return try await host.attemptRecovery(SecretBox(secret), policies.policy)
        }
        return try await host.attempt(kind, SecretBox(secret), policies.policy)
    }
}
