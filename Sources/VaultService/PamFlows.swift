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

    func authenticate(
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
    func proveToken(
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

    func provePrompted(
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
    func isKnownWrong(_ hash: TokenHash, _ standing: Standing, _ host: StoreHost) -> Bool {
        switch standing {
        case .own: failedTokens.isConfirmed(hash, of: host)
        case .apart: failedTokens.contains(hash, of: host)
        }
    }

    /// Where no line is shown, as at sudo, the question itself says what the last try would bring.
    func prompt(
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

    func admitted(
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
    func openForLogin(_ key: SecretBox, _ host: StoreHost, _ person: Person)
        async throws(Refusal)
    {
        let wasOpen = host.isOpen
        try await host.open(key)
        if !wasOpen { shutUnlessFollowed(host, person) }
    }

    /// What can be said before anything is typed: no try is possible now.
    func refuseEarly(
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
    func tell(_ refusal: Refusal, _ host: StoreHost, _ exchange: Exchange)
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
}
