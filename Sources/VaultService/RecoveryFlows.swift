import KeySlots
import Policy
import Secrets
import Wire

/// The recovery key's life.
extension Service {
    func newRecoveryKey(_ target: Target, _ exchange: Exchange) async throws(Interruption)
        -> Message
    {
        let person = try await person(target.subject, exchange.caller)
        let host = try requireStore(of: person, target)
        try host.requireUsable()
        guard exchange.caller.isTerminal else {
            throw .refused(.invalidAction(action: .newRecoveryKey, reason: .terminalOnly))
        }
        guard policies.policy.allowRecoveryKey else {
            throw .refused(.policyDenies(key: "AllowRecoveryKey"))
        }
        let key = try await proveOrDevice(host, person, exchange, .promptCurrent)
        try await showNewRecoveryKey(host, key, exchange)
        auditChange("a new recovery key was made", host, person, exchange)
        return .recoveryKeep
    }

    func showNewRecoveryKey(
        _ host: StoreHost, _ key: SecretBox, _ exchange: Exchange
    ) async throws(Interruption) {
        let new = try await refusingAsync { () async throws(Refusal) in
            try await host.addRecoveryKey(key: key)
        }
        guard let shown = new.text.take() else { throw .refused(.unknown) }
        do throws(Interruption) {
            try await exchange.reveal(.recoveryKeep, shown)
        } catch {
            try? await host.withdraw(new)
            throw error
        }
        try await refusingAsync { () async throws(Refusal) in try await host.settle(new) }
    }

    func recover(_ target: Target, _ exchange: Exchange) async throws(Interruption)
        -> Message
    {
        let person = try await person(target.subject, exchange.caller)
        let host = try requireStore(of: person, target)
        try refusing { () throws(Refusal) in
            try policies.requireUsable()
            try host.mayTry(.recovery, policies.policy)
        }
        guard host.hasRecovery else { throw .refused(.doesNotExist(.recoveryKey)) }
        let typed = try await exchange.ask(.recoveryPrompt, .recoveryKey)
        let key = try await refusingAsync { () async throws(Refusal) in
            try await host.attemptRecovery(typed, self.policies.policy)
        }
        audit.note(
            .attempt, "a recovery key was accepted", store: host.id.description, person: person,
            uid: exchange.caller.credentials.uid)
        // Using the key leads at once to a new passcode; until it is there nothing has changed.
        let follows = host.followsLogin
        let new =
            follows
            ? try await askLoginPassword(exchange)
            : try await askNewPasscode(exchange, current: nil)
        try await replace(host, key, new, followsLogin: follows)
        try await refusingAsync { () async throws(Refusal) in
            _ = try await host.updateTally { $0.right(.recovery) }
        }
        auditChange("the passcode was changed with the recovery key", host, person, exchange)
        return .recovered
    }
}
