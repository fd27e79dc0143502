import KeySlots
import Policy
import Posix
import Secrets
import StoreKeeping
import Wire
import Words

/// `auth`, as an authenticator. Nothing here answers success unless the person proved a passcode or a
/// finger in this very exchange.
@LoopActor
final class PamAuthenticate {
    let desk: Desk
    let lookout: Lookout
    let settling: Settling
    let proving: Proving
    let scans: FingerScans
    let keyrings: Keyrings
    let sessions: LoginSessions
    let transactions: Transactions
    let failedTokens: FailedTokens

    init(
        desk: Desk, lookout: Lookout, settling: Settling, proving: Proving, scans: FingerScans,
        keyrings: Keyrings, sessions: LoginSessions, transactions: Transactions,
        failedTokens: FailedTokens
    ) {
        self.desk = desk
        self.lookout = lookout
        self.settling = settling
        self.proving = proving
        self.scans = scans
        self.keyrings = keyrings
        self.sessions = sessions
        self.transactions = transactions
        self.failedTokens = failedTokens
    }

    // MARK: auth, as an authenticator

    func authenticate(
        _ request: Authenticate, _ token: SecretBox, _ exchange: any Conversation
    ) async throws(Interruption) -> Verdict {
        let caller = exchange.caller
        guard let (person, inForce) = try await actor(.passcode, request.subject, caller) else {
            return Verdict(outcome: .ignore)
        }
        let seen = await lookout.sighting(caller, person, inForce.policy)
        let standing = lookout.standing(of: exchange, person, inForce.policy, seen)
        if isHidden(request, caller, seen) { throw .refused(.doesNotExist(.store)) }
        let host: StoreHost
        do throws(Interruption) {
            host = try usableStore(of: person)
            // A person is told why no try can be made now. A stranger is not asked at all.
            if exchange.audience == .stranger {
                try refusing { () throws(Refusal) in try host.mayTry(standing.kind, inForce.policy)
                }
            }
        } catch {
            switch exchange.audience {
            case .person:
                if case .refused(let refusal) = error, refusal.isOutOfUse {
                    try await proving.tellOutOfUse(of: person, exchange)
                }
                throw error
            case .stranger: throw .refused(.doesNotExist(.store))
            }
        }
        let visit = Visit(person: person, host: host, exchange: exchange, inForce: inForce)
        guard keyrings.setsToken(request, visit) else {
            return try await prove(request, token, visit)
        }
        let broughtToken = !token.isEmpty
        do throws(Interruption) {
            let verdict = try await prove(request, token, visit)
            // The token was a passcode of the store's own, and no login password.
            if verdict.outcome == .success, broughtToken, !host.followsLogin { return verdict }
            return keyrings.teaching(verdict, visit)
        } catch {
            switch error {
            case .gone: throw error
            case .refused(let refusal):
                // The next module may accept the answer as the login password.
                desk.noteRefusal(refusal, caller)
                return keyrings.teaching(
                    Verdict(refusing: refusal, to: visit.exchange.audience), visit)
            }
        }
    }

    /// A store without a passcode proves nothing about anybody. So it counts as missing, and
    /// nothing is asked.
    private func usableStore(of person: Person) throws(Interruption) -> StoreHost {
        guard let host = try desk.ownStore(of: person) else {
            throw .refused(.doesNotExist(.store))
        }
        try refusing { () throws(Refusal) in try host.requireUsable() }
        guard host.hasPasscode else { throw .refused(.doesNotExist(.passcode)) }
        return host
    }

    /// Whether another person asks (su, polkit's helper) where the next module decides without
    /// AppVault. They are told what they are told of a person without a store, by the same steps.
    /// Where AppVault is a step of its own, that answer would let them past it. So there they are
    /// asked, and see that there is a store.
    private func isHidden(_ request: Authenticate, _ caller: Caller, _ seen: Sighting) -> Bool {
        request.orPassword && caller.standing == .root && seen.isAnothers
    }

    private func prove(
        _ request: Authenticate, _ token: SecretBox, _ visit: Visit
    ) async throws(Interruption) -> Verdict {
        let caller = visit.caller
        if !token.isEmpty {
            let opening: Opening?
            do throws(Refusal) {
                opening = try await proveToken(try TypedPasscode(token), visit)
            } catch {
                if request.tokenOnly || caller.hello.oneSecret { throw .refused(error) }
                opening = nil
            }
            if let opening { return try await admitted(opening, request, visit) }
        }
        guard !request.tokenOnly else { throw .refused(.passcodeRequired) }
        switch FingerTurn(request.finger, at: caller.hello.service, request.presence) {
        case .never: return try await provePrompted(request, visit, .never)
        case .onEmpty: return try await provePrompted(request, visit, .scan)
        case .first:
            switch try await loginByFinger(request, visit) {
            case .admitted(let verdict): return verdict
            case .passcode: return try await provePrompted(request, visit, .never)
            }
        case .only:
            switch try await loginByFinger(request, visit) {
            case .admitted(let verdict): return verdict
            case .passcode(let outcome):
                switch visit.exchange.audience {
                case .person: throw .refused(Refusal(outcome))
                case .stranger: throw .refused(.doesNotExist(.store))
                }
            }
        }
    }

    /// Whether an empty answer starts the reader. It does so once in an exchange.
    private enum OnEmpty {
        case scan
        case never
    }

    /// The person and their policy; nil if that policy gives AppVault nothing to do at this
    /// service.
    func actor(_ role: ServiceUse, _ subject: Subject, _ caller: Caller)
        async throws(Interruption) -> (Person, PolicyInForce)?
    {
        let person: Person
        do throws(Interruption) {
            person = try await desk.person(subject, caller)
        } catch {
            guard desk.policies.policy.acts(role, at: caller.hello.service) else { return nil }
            throw error
        }
        let inForce = try await refusingAsync { () async throws(Refusal) in
            try await desk.policy(for: person, self.desk.vault.ownStore(of: person, named: []))
        }
        return inForce.policy.acts(role, at: caller.hello.service) ? (person, inForce) : nil
    }

    /// A token that the stack brought is never known to be verified: an apart try.
    private func proveToken(_ token: TypedPasscode, _ visit: Visit) async throws(Refusal) -> Opening
    {
        let host = visit.host
        let kind = await lookout.standing(visit, typed: false).kind
        // Checked first: what is remembered must not be an oracle for a caller who has no tries
        // left.
        try host.mayTry(kind, visit.policy)
        let hash = try failedTokens.hash(token, of: host)
        guard !failedTokens.recall(hash, of: host, kind) else { throw .invalidPasscode(left: nil) }
        return try await host.attempt(
            kind, token, visit.policy, wrong: { failedTokens.remember(hash, of: host, kind) })
    }

    private func provePrompted(_ request: Authenticate, _ visit: Visit, _ onEmpty: OnEmpty)
        async throws(Interruption) -> Verdict
    {
        let caller = visit.caller
        let policy = visit.policy
        let host = visit.host
        let person = visit.person
        let before = await lookout.standing(visit)
        try await refuseEarly(before.kind, visit)
        if settling.converses(visit), before.audience == .person {
            try await proving.showCancel(visit)
        }
        try await proving.warnBeforeLast(before.kind, visit)
        let secret = try await visit.exchange.ask(
            prompt(request.orPassword, before.kind, visit), .passcode)
        guard !secret.isEmpty else {
            // The next module would ask again, and show by that that there is a store.
            if request.orPassword, before.audience == .stranger {
                try await visit.exchange.give(token: nil)
            }
            switch onEmpty {
            case .never: throw .refused(.cancelled)
            case .scan: return try await proveByFinger(request, visit)
            }
        }
        let answer = try refusing { () throws(Refusal) in try TypedPasscode(secret) }
        let standing = before.and(await lookout.standing(visit))
        visit.exchange.audience = standing.audience
        let hash = try refusing { () throws(Refusal) in try failedTokens.hash(answer, of: host) }

        let isKnown = request.orPassword && isKnownWrong(hash, standing, host)
        var isCounted = false
        let opening: Opening
        do throws(Refusal) {
            if isKnown {
                try host.mayTry(standing.kind, policy)
                throw .invalidPasscode(left: nil)
            }
            opening = try await host.attempt(
                standing.kind, consume answer, policy,
                wrong: {
                    // A wrong own try waits until the login that it belongs to is confirmed.
                    switch standing {
                    case .apart where request.orPassword, .stranger where request.orPassword:
                        failedTokens.remember(hash, of: host, standing.kind)
                    case .own, .apart, .stranger: break
                    }
                },
                counted: { isCounted = true })
        } catch {
            desk.audit.note(
                error == .retryLimitReached(.erased) ? .erase : .attempt,
                "a passcode was not accepted", store: host.id.description, person: person,
                service: caller.hello.service, code: error.code, uid: caller.credentials.uid)
            if request.orPassword, case .invalidPasscode(let left, _) = error {
                // It may be the login password, which is no mistake here. So the person is told
                // only once, and not at a greeter: if it is no login password either, the line
                // would stand above the next question, in the place of the greeter's own.
                if !isKnown, standing.audience == .person, !caller.keepsLastLine {
                    try await visit.exchange.show(.retryOrPassword(left: left))
                }
            } else {
                try await proving.tell(error, visit)
                if case .invalidPasscode = error { try await proving.showForgotten(visit) }
            }
            var handle = Handle.none
            // A try that was not counted cannot be given back.
            if request.orPassword, isCounted, case .own = standing {
                let transaction = Transaction(store: host.id, person: person, wrongOwn: hash)
                handle = (try? transactions.keep(transaction)) ?? .none
            }
            return Verdict(refusing: error, to: visit.exchange.audience, handle: handle)
        }
        // The answer was the login password: the next modules find it, as they would behind
        // pam_unix.
        if request.orPassword, host.followsLogin { try await visit.exchange.give(token: nil) }
        return try await admitted(opening, request, visit)
    }

    /// Called when the person typed nothing instead of a passcode.
    private func proveByFinger(_ request: Authenticate, _ visit: Visit)
        async throws(Interruption) -> Verdict
    {
        switch try await loginByFinger(request, visit) {
        case .admitted(let verdict): return verdict
        case .passcode(.notAsked), .passcode(.matched): throw .refused(.cancelled)
        case .passcode(.ended(let failure)):
            // A front end that can ask only one question has asked it.
            guard settling.converses(visit) else { throw .refused(Refusal(failure)) }
            return try await provePrompted(request, visit, .never)
        }
    }

    /// Whether a token is refused without a derivation and without a count. The login password,
    /// once a login with it was confirmed, is no guess. And what an apart try showed to be wrong is
    /// still wrong.
    func isKnownWrong(_ hash: TokenHash, _ standing: Standing, _ host: StoreHost) -> Bool {
        switch standing {
        case .own: failedTokens.isConfirmed(hash, of: host)
        case .apart, .stranger: failedTokens.recall(hash, of: host, standing.kind)
        }
    }

    /// Where no line is shown, as at sudo, the question itself says what the last try would bring.
    func prompt(_ orPassword: Bool, _ kind: TryKind, _ visit: Visit) -> Message {
        let usual: Message
        switch (orPassword, visit.exchange.audience) {
        case (true, .person): usual = .promptOrPassword
        // In pam_unix's words: without a store, pam_unix would ask next.
        case (true, .stranger): usual = .promptPlain
        case (false, _): usual = .prompt
        }
        guard visit.caller.hello.silent, visit.exchange.audience == .person else { return usual }
        return switch visit.host.stakes(kind, visit.policy) {
        case .nothing, .refusal: usual
        case .lock: .promptLast(orPassword: orPassword, erases: false)
        case .erase: .promptLast(orPassword: orPassword, erases: true)
        }
    }

    /// The passcode was right, so the login succeeds, whatever the policy demands of the store
    /// first. Only `enforce` refuses it then.
    private func admitted(_ opening: Opening, _ request: Authenticate, _ visit: Visit)
        async throws(Interruption) -> Verdict
    {
        let code: UInt16
        switch try await settling.settle(visit, opening) {
        case .settled(let opening):
            try await sessions.openForLogin(opening, visit)
            // A passcode of the store's own opens no keyring.
            if keyrings.setsToken(request, visit), !visit.host.followsLogin,
                let kept = await visit.host.keyringPassword(opening)
            {
                try await visit.exchange.give(token: kept)
            }
            code = 0
        case .due(let still):
            try await proving.tellStillDue(still, visit)
            code = Refusal.changeRequired(still.step).code.rawValue
        }
        if code != 0, request.enforce { return Verdict(outcome: .authError, code: code) }
        let transaction = Transaction(store: visit.host.id, person: visit.person)
        return Verdict(
            outcome: .success, code: code,
            handle: (try? transactions.keep(transaction)) ?? .none)
    }

    /// Says before anything is typed that no try is possible now.
    private func refuseEarly(_ kind: TryKind, _ visit: Visit) async throws(Interruption) {
        do throws(Refusal) {
            try visit.host.mayTry(kind, visit.policy)
        } catch {
            try await proving.tell(error, visit)
            throw .refused(error)
        }
    }

    // MARK: by a finger

    /// Logs in by finger, which is worth as much as the passcode. It is asked for once in an
    /// exchange. If it does not match, or is not asked for, the passcode decides.
    func loginByFinger(_ request: Authenticate, _ visit: Visit) async throws(Interruption)
        -> FingerLogin
    {
        var kept: SecretBox?
        let outcome = try await scans.scanFinger(
            .open, visit, isSwitchedOff: request.finger == .off, seconds: request.fingerSeconds
        ) { opening throws(Interruption) in
            try await sessions.openForLogin(opening, visit)
            if keyrings.setsToken(request, visit) {
                kept = await visit.host.keyringPassword(opening)
            }
        }
        switch outcome {
        case .matched:
            if let kept { try await visit.exchange.give(token: kept) }
            let transaction = Transaction(store: visit.host.id, person: visit.person)
            return .admitted(
                Verdict(outcome: .success, handle: (try? transactions.keep(transaction)) ?? .none))
        case .notAsked, .ended: return .passcode(outcome)
        }
    }
}
