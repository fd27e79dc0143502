import KeySlots
import Policy
import Posix
import Secrets
import StoreKeeping
import Wire
import Words

/// `setcred`: carries out what waited for the login to succeed.
@LoopActor
final class PamConfirm {
    let desk: Desk
    let passcodes: Passcodes
    let keyrings: Keyrings
    let onboarder: Onboarder
    let sessions: LoginSessions
    let enrolment: Enrolment
    let settling: Settling
    let transactions: Transactions
    let failedTokens: FailedTokens

    init(
        desk: Desk, passcodes: Passcodes, keyrings: Keyrings, onboarder: Onboarder,
        sessions: LoginSessions, enrolment: Enrolment, settling: Settling,
        transactions: Transactions,
        failedTokens: FailedTokens
    ) {
        self.desk = desk
        self.passcodes = passcodes
        self.keyrings = keyrings
        self.onboarder = onboarder
        self.sessions = sessions
        self.enrolment = enrolment
        self.settling = settling
        self.transactions = transactions
        self.failedTokens = failedTokens
    }

    /// `auth` succeeded as a whole, so what waited for that happens now.
    func confirm(_ request: Confirm, _ caller: Caller) async throws(Interruption) -> Verdict {
        // Anybody can call setcred in a process of their own. Only root can say that a login
        // succeeded.
        guard caller.isTrusted else {
            // A screen locker runs as the person who unlocks it, and its login has nothing that
            // waits for root.
            let own = transactions.peek(request.handle)?.person.uid
            if own == caller.credentials.uid { return Verdict(outcome: .ignore) }
            throw .refused(.notPermitted(.rootOnly))
        }
        if let waiting = onboarder.onboarding.take(request.handle) {
            return await onboarder.finish(waiting, caller)
        }
        guard var transaction = transactions.take(request.handle),
            let host = desk.vault.host(transaction.store)
        else { return Verdict(outcome: .ignore) }
        let policy = try await refusingAsync { () async throws(Refusal) in
            try await desk.policy(for: transaction.person, host).policy
        }
        try await settleWrong(transaction, host, policy, caller)
        if let rekey = transaction.rekey.take() {
            try await refusingAsync { () async throws(Refusal) in
                try await passcodes.rekey(host, rekey.opening, rekey.token, policy)
            }
            desk.audit.note(
                .change, "the store follows its owner's new login password",
                store: host.id.description,
                person: transaction.person, service: caller.hello.service)
        }
        if let new = transaction.coming.take() {
            do throws(Refusal) {
                try await create(consume new, host, transaction, caller)
            } catch {
                throw .refused(error)
            }
        }
        switch transaction.lesson {
        case .none, .awaited: break
        case .learned(let token): await keyrings.learn(token, host, transaction.person, policy)
        }
        return Verdict(outcome: .ignore)
    }

    /// polkit's helper never calls setcred. The `unlock` line behind the modules that decide is the
    /// last that the daemon learns of its login. Without this, a right login password would use up
    /// the tries when it is typed at a prompt that takes it or the passcode.
    func settleUnconfirmed(_ handle: Handle, _ visit: Visit) async throws(Interruption) {
        guard visit.caller.isTrusted, visit.caller.hello.service == Array("polkit-1".utf8),
            let transaction = transactions.peek(handle), transaction.store == visit.host.id
        else { return }
        transactions.update(handle) { $0.wrongOwn = nil }
        try await settleWrong(transaction, visit.host, visit.policy, visit.caller)
    }

    /// Settles the wrong try of a login that succeeded all the same.
    private func settleWrong(
        _ transaction: Transaction, _ host: StoreHost, _ policy: Policy, _ caller: Caller
    ) async throws(Interruption) {
        guard let wrong = transaction.wrongOwn else { return }
        // Written down first, so that ending the daemon here wins nothing.
        switch failedTokens.settle(wrong, transaction.token, of: host) {
        case .givenBack: try await returning(host) { $0.givenBack(policy) }
        case .moved(.unseen), .moved(.notKept):
            try await returning(host) { $0.movedToApart(policy) }
        case .moved(.spent):
            desk.audit.note(
                .attempt, "a wrong passcode was not given back: another one was in this boot",
                store: host.id.description, person: transaction.person,
                service: caller.hello.service)
            try await returning(host) { $0.movedToApart(policy) }
        case .stays: break
        }
    }

    private func returning(
        _ host: StoreHost, _ change: @escaping @Sendable (inout Tally) -> Returned
    ) async throws(Interruption) {
        try await refusingAsync { () async throws(Refusal) in
            _ = try await host.updateTally(change)
        }
    }

    /// The login with which a new passcode came was confirmed.
    private func create(
        _ new: consuming NewPasscode, _ host: StoreHost, _ transaction: Transaction,
        _ caller: Caller
    ) async throws(Refusal) {
        let inForce = try await desk.policy(for: transaction.person, host)
        // If the policy or the rules have changed meanwhile, the next login decides anew.
        guard !host.hasPasscode, inForce.policy.ruleDigest == new.digest,
            settling.creation(host, inForce) != nil
        else { return }
        let opening = try await host.deviceKey()
        let coming = (consume new).coming
        let replaced = try await host.replacePasscode(
            opening, with: consume coming, desk.cost(inForce.policy), inForce.policy)
        failedTokens.forget(host)
        desk.audit.note(
            .change, "the policy demanded a passcode", store: host.id.description,
            person: transaction.person, service: caller.hello.service)
        if replaced.recoveryIsRevoked {
            desk.audit.note(
                .change, Passcodes.recoveryRevoked, store: host.id.description,
                person: transaction.person, service: caller.hello.service)
        }
        let present = Opening(
            key: opening.key, ground: replaced.ground, departures: opening.departures)
        try await host.open(present)
        await sessions.shutUnlessFollowed(host, transaction.person)
        if let finger = transaction.finger {
            await enrolment.keep(finger, present, host, transaction.person, caller)
        }
    }
}
