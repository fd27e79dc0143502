import KeySlots
import Policy
import Secrets
import Wire

/// `password`, behind pam_unix.
extension Service {
    /// `passwd` behind pam_unix: the store follows. The old slot stays until the next unlock proves
    /// one of the two, because whether the login password really changed is not known here.
    func followPassword(
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
        let policy = try await visit(host, person, exchange).policy
        try await refusingAsync { () async throws(Refusal) in
            let opening: Opening
            do throws(Refusal) {
                opening = try await host.attempt(.apart, old, policy)
            } catch {
                if case .invalidPasscode = error { self.failedTokens.remember(former, of: host) }
                throw error
            }
            try await host.addPasscode(opening, new, self.cost(policy), policy)
        }
        failedTokens.forget(host)
        audit.note(
            .change, "the passcode follows the login password", store: host.id.description,
            person: person,
            service: caller.hello.service)
        return Verdict(outcome: .ignore)
    }
}
