import KeySlots
import Policy
import Posix
import Secrets
import Wire

/// `auth` behind others: the login password opens the store, in silence where it can.
extension Service {
    func unlock(
        _ request: Unlock, _ token: SecretBox, _ exchange: Exchange
    ) async throws(Interruption) -> Verdict {
        let caller = exchange.caller
        let policy = policies.policy
        let ignored = Verdict(outcome: .ignore, handle: request.handle)
        let person = try await person(request.subject, caller)
        guard let host = try vault.store(of: person), let given = token.take(), given.count > 0
        else {
            return ignored
        }
        let token = SecretBox(given)
        // A token that an earlier attempt left waiting is not this one's.
        transactions.forgetKeys(of: host.id)
        let hash = try refusing { () throws(Refusal) in try self.hash(token, host) }
        noteToken(hash, request.handle, host)
        guard policy.acts(.unlock, at: caller.hello.service), host.isUsable, host.followsLogin,
            host.hasPasscode, !host.isOpen
        else { return ignored }

        if !failedTokens.contains(hash, of: host) {
            let (tried, kept) = try refusing { () throws(Refusal) in try token.doubled() }
            do throws(Refusal) {
                let key = try await host.attempt(.apart, tried, policy)
                let verdict = try await admitted(key, host, person, exchange)
                return Verdict(
                    outcome: .ignore,
                    handle: request.handle.isNone ? verdict.handle : request.handle)
            } catch {
                audit.note(
                    .attempt, "a login password did not open the store", store: host.id.description,
                    person: person, service: caller.hello.service, code: error.code,
                    uid: caller.credentials.uid)
                if case .invalidPasscode = error {
                    failedTokens.remember(hash, of: host)
                } else if case .retryLimitReached = error {
                    return try await mendDrift(
                        kept, request.handle, host, person, .triesUsedUp, exchange)
                } else {
                    return ignored
                }
            }
            return try await mendDrift(kept, request.handle, host, person, .changed, exchange)
        }
        return try await mendDrift(token, request.handle, host, person, .changed, exchange)
    }

    /// Why the login password does not open the store.
    enum Drift {
        case changed
        /// Tokens are not tried any more; what the person types at our own prompt is.
        case triesUsedUp

        var notice: Message {
            switch self {
            case .changed: .drift
            case .triesUsedUp: .driftElsewhere
            }
        }

        var question: Message {
            switch self {
            case .changed: .former
            case .triesUsedUp: .present
            }
        }
    }

    /// The line behind an `or_password` line sees which token the stack ended with.
    func noteToken(_ hash: TokenHash, _ handle: Handle, _ host: StoreHost) {
        transactions.update(handle) { transaction in
            guard transaction.store == host.id, let wrong = transaction.wrongOwn else { return }
            transaction.token = wrong == hash ? .same : .different
        }
    }

    /// The login password changed behind our back. At a service that converses the person is asked
    /// once for the former one; what is re-keyed waits for the login's confirmation.
    func mendDrift(
        _ token: SecretBox, _ handle: Handle, _ host: StoreHost, _ person: Person,
        _ drift: Drift, _ exchange: Exchange
    ) async throws(Interruption) -> Verdict {
        let caller = exchange.caller
        let policy = policies.policy
        let ignored = Verdict(outcome: .ignore, handle: handle)
        guard
            policy.acts(.converse(onTerminal: !caller.hello.tty.isEmpty), at: caller.hello.service),
            caller.isTrusted, !caller.isRemote,
            !caller.hello.silent, !caller.hello.oneSecret
        else { return ignored }
        let standing = await standing(caller, person)
        try await exchange.show(drift.notice)
        try await warnBeforeLast(standing.kind, host, exchange)
        let answer = try await exchange.ask(drift.question, .former)
        guard let typed = answer.take(), typed.count > 0 else { return ignored }
        do throws(Refusal) {
            let key = try await openFormer(SecretBox(typed), standing.kind, host)
            let (opening, kept) = try key.doubled()
            try await openForLogin(opening, host, person)
            let rekey = Transaction.Rekey(storeKey: kept, token: token)
            if let earlier = transactions.peek(handle), earlier.store == host.id,
                earlier.person == person
            {
                transactions.update(handle) { $0.rekey = rekey }
                return ignored
            }
            let transaction = Transaction(store: host.id, person: person, rekey: rekey)
            return Verdict(outcome: .ignore, handle: (try? transactions.keep(transaction)) ?? .none)
        } catch {
            try await tell(error, host, exchange)
            return ignored
        }
    }
}
