import KeySlots
import Policy
import Posix
import Secrets
import StoreKeeping
import Wire
import Words

/// `set_authtok`: the login password, for the keyrings behind a login by finger. It is learned where a password logs in
/// at a service with that option, given where a finger does, and nothing ever asks for it.
@LoopActor
final class Keyrings {
    let desk: Desk
    let transactions: Transactions

    init(desk: Desk, transactions: Transactions) {
        self.desk = desk
        self.transactions = transactions
    }

    /// A root peer's login by somebody whose fingers open the store. Nobody else's login teaches anything, and nobody
    /// else is given anything.
    func setsToken(_ request: Authenticate, _ visit: Visit) -> Bool {
        request.setsToken && visit.caller.isTrusted && !visit.caller.isRemote
            && visit.policy.acts(.login, at: visit.caller.hello.service)
            && visit.policy.allowFingerprint && visit.host.fingerprintIsOn
            && visit.host.hasPasscode
    }

    /// From here to its confirmation the login may teach the password that another module takes.
    func teaching(_ verdict: Verdict, _ visit: Visit) -> Verdict {
        var verdict = verdict
        if verdict.handle.isNone {
            let transaction = Transaction(store: visit.host.id, person: visit.person)
            verdict.handle = (try? transactions.keep(transaction)) ?? .none
        }
        transactions.update(verdict.handle) { $0.lesson = .awaited }
        return verdict
    }

    /// The `unlock` line sees which token the stack ended with.
    func noteLesson(_ token: TypedPasscode, _ handle: Handle, _ visit: Visit) {
        guard visit.caller.isTrusted, visit.policy.acts(.login, at: visit.caller.hello.service)
        else { return }
        transactions.update(handle) { transaction in
            guard transaction.store == visit.host.id, transaction.person == visit.person else {
                return
            }
            switch transaction.lesson {
            case .none: return
            case .awaited, .learned: transaction.lesson = .learned(token)
            }
        }
    }

    /// The login with this token is confirmed. Nothing of it fails a login.
    func learn(_ token: TypedPasscode, _ host: StoreHost, _ person: Person, _ policy: Policy) async
    {
        guard policy.allowFingerprint, let resident = try? host.residentKey(policy) else { return }
        do throws(Refusal) {
            guard try await host.keepKeyringPassword(token, resident) else { return }
            desk.audit.note(
                .change, "the login password is kept for logins by finger",
                store: host.id.description, person: person)
        } catch {
            desk.audit.note(
                .fault, "the login password is not kept: \(error.message.english)",
                store: host.id.description, person: person, code: error.code)
        }
    }

    /// `passwd`: with the store key that the former password gave, or the one that a finger would. Where there is
    /// neither nobody knows whether what is kept is still right: it goes.
    func renewKeyring(
        _ host: StoreHost, from former: TypedPasscode, to new: TypedPasscode, _ opening: Opening?,
        _ person: Person, _ policy: Policy
    ) async {
        guard host.keepsKeyringPassword else { return }
        transactions.forgetLessons(of: host.id)
        do throws(Refusal) {
            if let opening = opening ?? (try? host.residentKey(policy)) {
                guard try await host.renewKeyringPassword(from: former, to: new, opening) else {
                    return
                }
                desk.audit.note(
                    .change, "the login password that is kept changed",
                    store: host.id.description, person: person)
            } else if try await host.forgetKeyringPassword() {
                desk.audit.note(
                    .change, "the login password that was kept is forgotten",
                    store: host.id.description, person: person)
            }
        } catch {
            desk.audit.note(
                .fault, "the login password that is kept did not change: \(error.message.english)",
                store: host.id.description, person: person, code: error.code)
        }
    }

    /// Needs no passcode: it opens nothing to anybody.
    func forgetKeyring(_ target: Target, _ exchange: any Conversation) async throws(Interruption)
        -> Message
    {
        let visit = try await desk.visit(target, exchange)
        try refusing { () throws(Refusal) in try visit.host.requireUsable() }
        transactions.forgetLessons(of: visit.host.id)
        let wasKept = try await refusingAsync { () async throws(Refusal) in
            try await visit.host.forgetKeyringPassword()
        }
        guard wasKept else { return .keyringNotKept }
        desk.auditChange("the login password that was kept is forgotten", visit)
        return .keyringForgotten
    }
}
