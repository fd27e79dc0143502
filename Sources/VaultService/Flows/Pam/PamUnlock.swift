import KeySlots
import Policy
import Posix
import Secrets
import StoreKeeping
import Wire
import Words

/// `auth` behind other modules: opens the store with the login password, silently where that is
/// possible.
@LoopActor
final class PamUnlock {
    let desk: Desk
    let lookout: Lookout
    let readers: Readers
    let newPasscodes: NewPasscodes
    let enrolment: Enrolment
    let settling: Settling
    let proving: Proving
    let resyncing: ResyncFlow
    let keyrings: Keyrings
    let onboarder: Onboarder
    let sessions: LoginSessions
    let confirmation: PamConfirm
    let transactions: Transactions
    let failedTokens: FailedTokens

    init(
        desk: Desk, lookout: Lookout, readers: Readers, newPasscodes: NewPasscodes,
        enrolment: Enrolment, settling: Settling, proving: Proving, resyncing: ResyncFlow,
        keyrings: Keyrings, onboarder: Onboarder, sessions: LoginSessions,
        confirmation: PamConfirm, transactions: Transactions, failedTokens: FailedTokens
    ) {
        self.desk = desk
        self.lookout = lookout
        self.readers = readers
        self.newPasscodes = newPasscodes
        self.enrolment = enrolment
        self.settling = settling
        self.proving = proving
        self.resyncing = resyncing
        self.keyrings = keyrings
        self.onboarder = onboarder
        self.sessions = sessions
        self.confirmation = confirmation
        self.transactions = transactions
        self.failedTokens = failedTokens
    }

    func unlock(
        _ request: Unlock, _ token: SecretBox, _ exchange: any Conversation
    ) async throws(Interruption) -> Verdict {
        let caller = exchange.caller
        let ignored = Verdict(outcome: .ignore, handle: request.handle)
        let person = try await desk.person(request.subject, caller)
        guard let host = try desk.ownStore(of: person) else {
            return try await onboarder.onboard(person, token, request.handle, exchange)
        }
        guard !token.isEmpty else { return ignored }
        let token = try refusing { () throws(Refusal) in try TypedPasscode(token) }
        // A token that an earlier attempt left waiting is not this one's.
        transactions.forgetKeys(of: host.id)
        let hash = try refusing { () throws(Refusal) in try failedTokens.hash(token, of: host) }
        noteToken(hash, request.handle, host)
        let visit = try await desk.visit(host, person, exchange)
        try await confirmation.settleUnconfirmed(request.handle, visit)
        keyrings.noteLesson(token, request.handle, visit)
        guard visit.policy.acts(.unlock, at: caller.hello.service), !host.isOpen
        else { return ignored }
        guard host.isUsable else {
            if await lookout.standing(visit).audience == .person {
                try await proving.tellOutOfUse(of: person, exchange)
            }
            return ignored
        }
        guard host.hasPasscode else { return try await createBehindLogin(visit, request.handle) }
        guard host.followsLogin else { return ignored }
        let kind = await lookout.standing(visit, typed: false).kind
        guard !failedTokens.recall(hash, of: host, kind) else {
            failedTokens.note(hasDrifted: true, of: host)
            return try await mendDrift(token, request.handle, visit, .changed)
        }

        let opening: Opening
        do throws(Refusal) {
            opening = try await host.attempt(
                kind, token, visit.policy,
                wrong: { failedTokens.remember(hash, of: host, kind) })
        } catch {
            desk.audit.note(
                .attempt, "a login password did not open the store", store: host.id.description,
                person: person, service: caller.hello.service, code: error.code,
                uid: caller.credentials.uid)
            switch TryRefusal(error) {
            case .wrong?:
                failedTokens.note(hasDrifted: true, of: host)
                return try await mendDrift(token, request.handle, visit, .changed)
            case .limitReached?:
                return try await mendDrift(token, request.handle, visit, .triesUsedUp)
            // The person's count is full: at our own prompt they need not wait as long as a token has to.
            case .throttled? where host.tally(visit.policy).triesLeft(.apart, visit.policy) == 0:
                return try await mendDrift(token, request.handle, visit, .triesUsedUp)
            case .throttled?, nil: return ignored
            }
        }
        failedTokens.note(hasDrifted: false, of: host)
        switch try await settling.settle(visit, opening) {
        case .settled(let opening): try await sessions.openForLogin(opening, visit)
        case .due(let still): try await proving.tellStillDue(still, visit)
        }
        return try keeping(request.handle, visit) { _ in }
    }

    /// Keeps what the confirmation will need, in the transaction that there is or in a new one.
    private func keeping(
        _ handle: Handle, _ visit: Visit, _ change: (inout Transaction) -> Void
    ) throws(Interruption) -> Verdict {
        if let earlier = transactions.peek(handle), earlier.store == visit.host.id,
            earlier.person == visit.person
        {
            transactions.update(handle, change)
            return Verdict(outcome: .ignore, handle: handle)
        }
        var transaction = Transaction(store: visit.host.id, person: visit.person)
        change(&transaction)
        return Verdict(outcome: .ignore, handle: (try? transactions.keep(transaction)) ?? .none)
    }

    // MARK: a store in state none

    /// The policy wants a passcode, and the store has none. The person is asked, and nothing
    /// happens until the login is confirmed: until then they have proven nothing to AppVault.
    private func createBehindLogin(_ visit: Visit, _ handle: Handle) async throws(Interruption)
        -> Verdict
    {
        let ignored = Verdict(outcome: .ignore, handle: handle)
        await readers.lookForReaders(visit.policy)
        guard let step = settling.creation(visit.host, visit.inForce) else { return ignored }
        try? await visit.host.begin(step)
        guard settling.converses(visit) else {
            try await proving.tellStillDue(StillDue(step: step, why: .notHere), visit)
            return ignored
        }
        visit.exchange.carriesLines = true
        defer { visit.exchange.carriesLines = false }
        do throws(Interruption) {
            try await settling.notify(of: step, visit.exchange)
            // The person should not type a passcode that the policy no longer wants.
            guard settling.creation(visit.host, try await desk.renewed(visit).inForce) != nil else {
                return ignored
            }
            try await visit.exchange.show(.mayCancel)
            let new = try await newPasscodes.askNewPasscode(
                Entry(person: visit.person, host: visit.host, exchange: visit.exchange))
            // The finger is read now, and kept with the passcode when the login is confirmed.
            let finger: ComingFinger? =
                switch step.flow {
                case .createOfferingFingerprint:
                    try await enrolment.offerComingFinger(visit.person, visit.host, visit.exchange)
                case .create, .change, .dropPasscode, .announceFingerprint, .dropFingerprint,
                    .dropBoth:
                    nil
                }
            return try keeping(handle, visit) { transaction in
                transaction.coming = new
                transaction.finger = finger
            }
        } catch {
            switch error {
            case .gone: throw error
            case .refused(let refusal):
                if case .due(let still) = await settling.stillDue(step, refusal, visit) {
                    try await proving.tellStillDue(still, visit)
                }
                return ignored
            }
        }
    }

    // MARK: drift

    /// Why the login password does not open the store.
    enum Drift {
        case changed
        /// Tokens are not tried any more, but what the person types at AppVault's own prompt is.
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

    /// Called for the `unlock` line behind an `or_password` line: it sees which token the stack
    /// ended with.
    func noteToken(_ hash: TokenHash, _ handle: Handle, _ host: StoreHost) {
        transactions.update(handle) { transaction in
            guard transaction.store == host.id, let wrong = transaction.wrongOwn else { return }
            transaction.token = wrong == hash ? .same : .different
        }
    }

    /// The login password changed without AppVault. At a service that converses, the person is
    /// asked once for the former one. The change of the slot waits for the login's confirmation.
    private func mendDrift(
        _ token: TypedPasscode, _ handle: Handle, _ visit: Visit, _ drift: Drift
    ) async throws(Interruption) -> Verdict {
        let exchange = visit.exchange
        let ignored = Verdict(outcome: .ignore, handle: handle)
        guard settling.converses(visit), !visit.caller.isRemote, !visit.caller.hello.silent else {
            return ignored
        }
        let standing = await lookout.standing(visit)
        // A stranger is not told that there is a store, and their wrong recovery keys must not make
        // the person wait.
        guard standing.audience == .person else { return ignored }
        try await exchange.show(drift.notice)
        try await proving.warnBeforeLast(standing.kind, visit)
        let answer = try await exchange.ask(drift.question, .former)
        guard !answer.isEmpty else { return ignored }
        let opening: Opening
        do throws(Refusal) {
            opening = try await resyncing.openFormer(
                try TypedPasscode(answer), standing.kind, visit)
        } catch {
            try await proving.tell(error, visit)
            return ignored
        }
        switch try await settling.settle(visit, opening) {
        case .due(let still):
            try await proving.tellStillDue(still, visit)
            return ignored
        case .settled(let opening):
            try await sessions.openForLogin(opening, visit)
            // The policy wants no passcode any more: nothing is left to be in step.
            if opening.ground == .device { return ignored }
            return try keeping(handle, visit) { transaction in
                transaction.rekey = Transaction.Rekey(opening: opening, token: token)
            }
        }
    }
}
