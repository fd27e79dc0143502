import Policy
import Posix
import StoreKeeping
import Wire

/// `session`: who is logged in.
extension Service {
    func openSession(_ session: Session, _ caller: Caller) async throws(Interruption)
        -> Verdict
    {
        guard caller.isTrusted else { throw .refused(.notPermitted(.rootOnly)) }
        guard counts(session, caller) else { return Verdict(outcome: .ignore) }
        let person = try await person(session.subject, caller)
        begin(session.id, of: person.uid)
        vault.followed(person)
        audit.note(
            .session, "a session began", person: vault.hasStore(person) ? person : nil,
            service: caller.hello.service)
        return Verdict(outcome: .ignore)
    }

    func closeSession(_ session: Session, _ caller: Caller) async throws(Interruption)
        -> Verdict
    {
        guard caller.isTrusted else { throw .refused(.notPermitted(.rootOnly)) }
        guard counts(session, caller) else { return Verdict(outcome: .ignore) }
        let person = try await person(session.subject, caller)
        if sessions.remove(session.id, of: person.uid) {
            await lastSessionEnded(of: person.uid, person, caller.hello.service)
        }
        return Verdict(outcome: .ignore)
    }

    func lastSessionEnded(of uid: UInt32, _ person: Person?, _ service: [UInt8]) async {
        for host in vault.stores(of: uid) where host.isOpen {
            await host.lock()
            transactions.forgetKeys(of: host.id)
            audit.note(
                .lock, "the last session ended", store: host.id.description, person: person,
                service: service)
        }
    }

    /// logind's sessions of class user count; without logind, those of services that log people in.
    func counts(_ session: Session, _ caller: Caller) -> Bool {
        if session.id.isEmpty {
            return policies.policy.acts(.unlock, at: caller.hello.service)
        }
        return session.sessionClass.isEmpty || session.sessionClass == Array("user".utf8)
    }
}
