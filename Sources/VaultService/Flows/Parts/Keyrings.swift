import KeySlots
import Policy
import Posix
import Secrets
import StoreKeeping
import Wire
import Words

/// `set_authtok`: keeps the login password, so that keyrings open after a login by finger. The
/// daemon learns it when a password logs in at a service with that option, and gives it when a
/// finger does. It never asks for it.
@LoopActor
final class Keyrings {
    let desk: Desk
    let transactions: Transactions

    init(desk: Desk, transactions: Transactions) {
        self.desk = desk
        self.transactions = transactions
    }

    /// Whether this is a login at a peer that is root, of a person whose fingers open the store. No
    /// other login teaches the daemon a password or is given one.
    func setsToken(_ request: Authenticate, _ visit: Visit) -> Bool {
        request.setsToken && visit.caller.isTrusted && !visit.caller.isRemote
            && visit.policy.acts(.login, at: visit.caller.hello.service)
            && visit.policy.allowFingerprint && visit.host.fingerprintIsOn
            && visit.host.hasPasscode
    }

    /// From here to its confirmation, the login may teach the daemon the password that another
    /// module accepts.
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

    /// After `passwd`: replaces the kept login password. This needs the store key that the former
    /// password gave, or the one that a finger would give. Without a key the daemon cannot know
    /// whether the kept password is still right, so it forgets it.
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

    /// Needs no passcode, because it opens nothing for anybody.
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
