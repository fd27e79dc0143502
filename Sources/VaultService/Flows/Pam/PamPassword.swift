import KeySlots
import Policy
import Posix
import Secrets
import StoreKeeping
import Wire
import Words

/// `password`, behind pam_unix.
@LoopActor
final class PamPassword {
    let desk: Desk
    let lookout: Lookout
    let keyrings: Keyrings
    let failedTokens: FailedTokens

    init(desk: Desk, lookout: Lookout, keyrings: Keyrings, failedTokens: FailedTokens) {
        self.desk = desk
        self.lookout = lookout
        self.keyrings = keyrings
        self.failedTokens = failedTokens
    }

    /// `passwd` behind pam_unix: makes the store follow the new password. The old slot stays until
    /// the next unlock proves one of the two, because it is not known here whether the login
    /// password really changed.
    func followPassword(
        _ request: Password, _ old: SecretBox, _ new: SecretBox, _ exchange: any Conversation
    ) async throws(Interruption) -> Verdict {
        let caller = exchange.caller
        let person = try await desk.person(request.subject, caller)
        try refusing { () throws(Refusal) in try desk.policies.requireUsable() }
        guard let host = try desk.ownStore(of: person), host.isUsable, host.hasPasscode,
            !old.isEmpty,
            !new.isEmpty
        else { return Verdict(outcome: .ignore) }
        let (former, new) = try refusing { () throws(Refusal) in
            (try TypedPasscode(old), try TypedPasscode(new))
        }
        let opening: Opening?
        var failure: Interruption?
        do throws(Interruption) {
            opening = try await follow(host, former, new, person, exchange)
        } catch {
            opening = nil
            failure = error
        }
        if caller.isTrusted {
            let policy = try await desk.visit(host, person, exchange).policy
            await keyrings.renewKeyring(
                host, from: former, to: new, opening, person, policy)
        }
        if let failure { throw failure }
        return Verdict(outcome: .ignore)
    }

    /// Returns what opens the store; nil if it does not follow.
    private func follow(
        _ host: StoreHost, _ old: TypedPasscode, _ new: TypedPasscode, _ person: Person,
        _ exchange: any Conversation
    ) async throws(Interruption) -> Opening? {
        let caller = exchange.caller
        guard host.followsLogin else { return nil }
        // A former password that is known not to open the store costs no second try.
        let former = try refusing { () throws(Refusal) in try failedTokens.hash(old, of: host) }
        let visit = try await desk.visit(host, person, exchange)
        let policy = visit.policy
        let kind = await lookout.standing(visit, typed: false).kind
        guard !failedTokens.recall(former, of: host, kind) else { return nil }
        let opening = try await refusingAsync { () async throws(Refusal) in
            let opening = try await host.attempt(
                kind, old, policy, wrong: { self.failedTokens.remember(former, of: host, kind) })
            try await host.addPasscode(opening, new, desk.cost(policy), policy)
            return opening
        }
        failedTokens.forget(host)
        desk.audit.note(
            .change, "the passcode follows the login password", store: host.id.description,
            person: person,
            service: caller.hello.service)
        return opening
    }
}
