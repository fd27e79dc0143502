import KeySlots
import Policy
import Posix
import Secrets
import Wire

/// What PAM asks for. Nothing here answers success unless the person proved a passcode in this very
/// exchange.
extension Service {
    func pam(_ request: Request, _ exchange: Exchange) async throws(Interruption) -> Verdict {
        switch request {
        case .authenticate(let authenticate, let token):
            return try await self.authenticate(authenticate, token, exchange)
        case .unlock(let unlock, let token):
            return try await self.unlock(unlock, token, exchange)
        case .confirm(let confirm):
            return try await self.confirm(confirm, exchange.caller)
        case .sessionOpen(let session):
            return try await openSession(session, exchange.caller)
        case .sessionClose(let session):
            return try await closeSession(session, exchange.caller)
        case .password(let password, let old, let new):
            return try await followPassword(password, old, new, exchange)
        case .hello, .reply, .abort, .status, .create, .openStore, .lock, .passcode, .recoveryNew,
            .recover,
            .reset, .resync, .triesClear, .chown, .get, .set, .delete, .list, .exportBegin,
            .exportNext,
            .importBegin, .importChunk, .passwordRules, .offerRecovery, .actions, .policyShow,
            .policyCheck, .policyPreview, .texts:
            throw .refused(.protocolError)
        }
    }

    // MARK: auth, as an authenticator

    private func authenticate(
        _ request: Authenticate, _ token: SecretBox, _ exchange: Exchange
    ) async throws(Interruption) -> Verdict {
        let caller = exchange.caller
        let policy = policies.policy
        guard policy.acts(.passcode, at: caller.hello.service) else {
            return Verdict(outcome: .ignore)
        }
        let person = try await person(request.subject, caller)
        guard let host = try vault.store(of: person) else { throw .refused(.doesNotExist(.store)) }
        try host.requireUsable()
        // A store without a passcode proves nothing about anybody: as if there were none, and
        // nothing is asked.
        guard host.hasPasscode else { throw .refused(.doesNotExist(.passcode)) }

        if let given = token.take(), given.count > 0 {
            let isLast = request.tokenOnly || caller.hello.oneSecret
            do throws(Refusal) {
                return try await proveToken(SecretBox(given), host, person, exchange)
            } catch {
                if isLast { throw .refused(error) }
            }
        }
        guard !request.tokenOnly else { throw .refused(.passcodeRequired) }
        return try await provePrompted(request, host, person, exchange)
    }

    /// A token that the stack brought is never known to be verified: an apart try.
    private func proveToken(
        _ token: SecretBox, _ host: StoreHost, _ person: Person, _ exchange: Exchange
    ) async throws(Refusal) -> Verdict {
        // Judged first: what is remembered is no oracle for whoever has no tries left.
        try host.mayTry(.apart, policies.policy)
        let hash = try hash(token, host)
        guard !failedTokens.contains(hash, of: host) else { throw .invalidPasscode(left: nil) }
        do throws(Refusal) {
            let key = try await host.attempt(.apart, token, policies.policy)
            return try await admitted(key, host, person, exchange)
        } catch {
            if case .invalidPasscode = error { failedTokens.remember(hash, of: host) }
            throw error
        }
    }

    private func provePrompted(
        _ request: Authenticate, _ host: StoreHost, _ person: Person, _ exchange: Exchange
    ) async throws(Interruption) -> Verdict {
        let caller = exchange.caller
        let policy = policies.policy
        // What is known before anybody types; the seat is asked while they do.
        let likely = policy.standing(circumstances(caller, person, seat: .atSeat))
        try await refuseEarly(host, likely.kind, exchange)
        try await warnBeforeLast(likely.kind, host, exchange)
        let secret = try await exchange.ask(
            prompt(request.orPassword, likely.kind, host, caller), .passcode)
        guard let typed = secret.take() else { throw .refused(.unknown) }
        guard typed.count > 0 else { throw .refused(.cancelled) }
        let answer = SecretBox(typed)
        let standing = await standing(caller, person)
        let hash = try refusing { () throws(Refusal) in try self.hash(answer, host) }

        let isKnown = request.orPassword && isKnownWrong(hash, standing, host)
        var isCounted = false
        do throws(Refusal) {
            if isKnown {
                try host.mayTry(standing.kind, policy)
                throw .invalidPasscode(left: nil)
            }
            let key = try await host.attempt(standing.kind, answer, policy) { isCounted = true }
            return try await admitted(key, host, person, exchange)
        } catch {
            audit.note(
                error == .retryLimitReached(erased: true) ? .erase : .attempt,
                "a passcode was not accepted", store: host.id.description, person: person,
                service: caller.hello.service, code: error.code, uid: caller.credentials.uid)
            if request.orPassword, case .invalidPasscode(let left) = error {
                // It may well be the login password, which is no mistake to be told of twice.
                if !isKnown, !caller.isRemote {
                    try await exchange.show(.retryOrPassword(left: left))
                }
            } else {
                try await tell(error, host, exchange)
            }
            var handle = Handle.none
            // What was not counted has nothing to be given back.
            if request.orPassword, isCounted {
                switch standing {
                case .own:
                    let transaction = Transaction(store: host.id, person: person, wrongOwn: hash)
                    handle = (try? transactions.keep(transaction)) ?? .none
                case .apart: failedTokens.remember(hash, of: host)
                }
            }
            return Dispatcher.verdict(error, caller, handle: handle)
        }
    }

    /// The login password, once a login with it was confirmed, is no guess, and what an apart try
    /// showed to be wrong is wrong still: refused without a derivation or a count.
    private func isKnownWrong(_ hash: TokenHash, _ standing: Standing, _ host: StoreHost) -> Bool {
        switch standing {
        case .own: failedTokens.isConfirmed(hash, of: host)
        case .apart: failedTokens.contains(hash, of: host)
        }
    }

    /// Where no line is shown, as at sudo, the question itself says what the last try would bring.
    private func prompt(
        _ orPassword: Bool, _ kind: TryKind, _ host: StoreHost, _ caller: Caller
    ) -> Message {
        let usual: Message = orPassword ? .promptOrPassword : .prompt
        guard caller.hello.silent, !caller.isRemote else { return usual }
        return switch host.stakes(kind, policies.policy) {
        case .nothing, .refusal: usual
        case .lock: .promptLast(orPassword: orPassword, erases: false)
        case .erase: .promptLast(orPassword: orPassword, erases: true)
        }
    }

    /// One line before a try that may be the last.
    func warnBeforeLast(_ kind: TryKind, _ host: StoreHost, _ exchange: Exchange)
        async throws(Interruption)
    {
        guard !exchange.caller.isRemote else { return }
        switch host.stakes(kind, policies.policy) {
        case .nothing, .refusal: break
        case .lock: try await exchange.show(.lastLocks)
        case .erase: try await exchange.show(.lastErases)
        }
    }

    private func admitted(
        _ key: SecretBox, _ host: StoreHost, _ person: Person, _ exchange: Exchange
    ) async throws(Refusal) -> Verdict {
        try await openForLogin(key, host, person)
        audit.note(
            .unlock, "a store was opened", store: host.id.description, person: person,
            service: exchange.caller.hello.service, uid: exchange.caller.credentials.uid)
        let handle = (try? transactions.keep(Transaction(store: host.id, person: person))) ?? .none
        return Verdict(outcome: .success, handle: handle)
    }

    /// Opened by a login, it needs a session to stay open; what was open before stays as it is.
    private func openForLogin(_ key: SecretBox, _ host: StoreHost, _ person: Person)
        async throws(Refusal)
    {
        let wasOpen = host.isOpen
        try await host.open(key)
        if !wasOpen { shutUnlessFollowed(host, person) }
    }

    /// What can be said before anything is typed: no try is possible now.
    private func refuseEarly(
        _ host: StoreHost, _ kind: TryKind, _ exchange: Exchange
    ) async throws(Interruption) {
        do throws(Refusal) {
            try host.mayTry(kind, policies.policy)
        } catch {
            try await tell(error, host, exchange)
            throw .refused(error)
        }
    }

    /// One line, and none to a remote front end.
    private func tell(_ refusal: Refusal, _ host: StoreHost, _ exchange: Exchange)
        async throws(Interruption)
    {
        guard !exchange.caller.isRemote else { return }
        switch refusal {
        case .invalidPasscode(let left): try await exchange.show(.retry(left: left), .error)
        case .retryLimitReached(true): try await exchange.show(.erased, .error)
        case .retryLimitReached(false):
            let isLocked = host.isRetryLocked(policies.policy)
            try await exchange.show(isLocked ? .retryLocked : .elsewhere, .error)
        case .throttled(let seconds): try await exchange.show(.throttled(seconds: seconds), .error)
        default: break
        }
    }

    // MARK: auth, as an unlocker

    private func unlock(
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
    private enum Drift {
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
    private func noteToken(_ hash: TokenHash, _ handle: Handle, _ host: StoreHost) {
        transactions.update(handle) { transaction in
            guard transaction.store == host.id, let wrong = transaction.wrongOwn else { return }
            transaction.token = wrong == hash ? .same : .different
        }
    }

    /// The login password changed behind our back. At a service that converses the person is asked
    /// once for the former one; what is re-keyed waits for the login's confirmation.
    private func mendDrift(
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

    // MARK: setcred

    /// `auth` as a whole succeeded: what waited for that happens now.
    private func confirm(_ request: Confirm, _ caller: Caller) async throws(Interruption) -> Verdict
    {
        // Anybody can call setcred in a process of their own; only root's word says that a login
        // succeeded.
        guard caller.isTrusted else { throw .refused(.notPermitted(.rootOnly)) }
        guard let transaction = transactions.take(request.handle),
            let host = vault.host(transaction.store)
        else { return Verdict(outcome: .ignore) }
        let policy = policies.policy
        if let wrong = transaction.wrongOwn {
            switch transaction.token {
            case .same:
                failedTokens.confirm(wrong, of: host)
                try await returning(host) { $0.givenBack(policy) }
            case .unseen:
                // Wrong it was, whoever typed it: the same again is not counted again.
                failedTokens.confirm(wrong, of: host)
                try await returning(host) { $0.movedToApart(policy) }
            case .different: break
            }
        }
        if let rekey = transaction.rekey {
            try await refusingAsync { () async throws(Refusal) in
                try await host.replacePasscode(
                    key: rekey.storeKey, with: rekey.token, self.cost, followsLogin: true)
            }
            failedTokens.forget(host)
            audit.note(
                .change, "the store follows its owner's new login password",
                store: host.id.description,
                person: transaction.person, service: caller.hello.service)
        }
        return Verdict(outcome: .ignore)
    }

    private func returning(
        _ host: StoreHost, _ change: @escaping @Sendable (inout Tally) -> Returned
    ) async throws(Interruption) {
        try await refusingAsync { () async throws(Refusal) in
            _ = try await host.updateTally(change)
        }
    }

    // MARK: session

    private func openSession(_ session: Session, _ caller: Caller) async throws(Interruption)
        -> Verdict
    {
        guard caller.isTrusted else { throw .refused(.notPermitted(.rootOnly)) }
        guard counts(session, caller) else { return Verdict(outcome: .ignore) }
        let person = try await person(session.subject, caller)
        sessions.add(session.id, of: person.uid)
        vault.followed(person)
        audit.note(
            .session, "a session began", person: vault.hasStore(person) ? person : nil,
            service: caller.hello.service)
        return Verdict(outcome: .ignore)
    }

    private func closeSession(_ session: Session, _ caller: Caller) async throws(Interruption)
        -> Verdict
    {
        guard caller.isTrusted else { throw .refused(.notPermitted(.rootOnly)) }
        guard counts(session, caller) else { return Verdict(outcome: .ignore) }
        let person = try await person(session.subject, caller)
        if sessions.remove(session.id, of: person.uid) {
            for host in vault.stores(of: person.uid) where host.isOpen {
                await host.lock()
                transactions.forgetKeys(of: host.id)
                audit.note(
                    .lock, "the last session ended", store: host.id.description, person: person,
                    service: caller.hello.service)
            }
        }
        return Verdict(outcome: .ignore)
    }

    /// logind's sessions of class user count; without logind, those of services that log people in.
    private func counts(_ session: Session, _ caller: Caller) -> Bool {
        if session.id.isEmpty {
            return policies.policy.acts(.unlock, at: caller.hello.service)
        }
        return session.sessionClass.isEmpty || session.sessionClass == Array("user".utf8)
    }

    // MARK: password

    /// `passwd` behind pam_unix: the store follows. The old slot stays until the next unlock proves
    /// one of the two, because whether the login password really changed is not known here.
    private func followPassword(
        _ request: Password, _ old: SecretBox, _ new: SecretBox, _ exchange: Exchange
    ) async throws(Interruption) -> Verdict {
        let caller = exchange.caller
        let person = try await person(request.subject, caller)
        try refusing { () throws(Refusal) in try policies.requireUsable() }
        guard let host = try vault.store(of: person), host.isUsable, host.followsLogin,
            host.hasPasscode, !old.isEmpty, !new.isEmpty
        else { return Verdict(outcome: .ignore) }
        // A password that is known to have drifted away costs no second try.
        let former = try refusing { () throws(Refusal) in try self.hash(old, host) }
        guard !failedTokens.contains(former, of: host) else { return Verdict(outcome: .ignore) }
        try await refusingAsync { () async throws(Refusal) in
            let key: SecretBox
            do throws(Refusal) {
                key = try await host.attempt(.apart, old, self.policies.policy)
            } catch {
                if case .invalidPasscode = error { self.failedTokens.remember(former, of: host) }
                throw error
            }
            try await host.addPasscode(key: key, new, self.cost)
        }
        failedTokens.forget(host)
        audit.note(
            .change, "the passcode follows the login password", store: host.id.description,
            person: person,
            service: caller.hello.service)
        return Verdict(outcome: .ignore)
    }
}
