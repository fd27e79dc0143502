import KeySlots
import Policy
import Posix
import Secrets
import StoreKeeping
import Wire
import Words
import WorkerLinks

/// `password_rules`, in front of pam_unix: if a person's store follows their login password, a new
/// login password has to meet the passcode rules.
@LoopActor
final class LoginPasswordRules {
    let desk: Desk
    let newPasscodes: NewPasscodes

    init(desk: Desk, newPasscodes: NewPasscodes) {
        self.desk = desk
        self.newPasscodes = newPasscodes
    }

    /// Success: the new password is the last answer for a new passcode, or the token that the stack
    /// had. `authError`: it is refused. Every other verdict leaves the change to the next modules.
    func judgeLoginPassword(
        _ request: PasswordRules, _ former: SecretBox, _ present: SecretBox,
        _ exchange: any Conversation
    ) async throws(Interruption) -> Verdict {
        let caller = exchange.caller
        let ignored = Verdict(outcome: .ignore)
        let person = try await desk.person(request.subject, caller)
        guard let host = try desk.ownStore(of: person), host.isUsable, host.followsLogin,
            host.hasPasscode
        else { return ignored }
        // Rules that cannot be read forbid nothing here: the change works without AppVault.
        try refusing { () throws(Refusal) in try desk.policies.requireUsable() }
        let inForce = try await refusingAsync { () async throws(Refusal) in
            try await desk.policy(for: person, host)
        }
        if case .noPasscodeMode = inForce { return ignored }
        let strictness = Self.strictness(caller, former)
        let known = try refusing { () throws(Refusal) in
            former.isEmpty ? nil : try TypedPasscode(former)
        }
        let change = LoginPasswordChange(
            policy: inForce.policy, exchange: exchange, asker: caller.asker(for: person),
            former: known, strictness: strictness)
        do throws(Interruption) {
            if present.isEmpty {
                try await askLoginPassword(change)
            } else {
                let new = try refusing { () throws(Refusal) in try TypedPasscode(present) }
                try await judgeLoginPassword(new, change)
            }
            return Verdict(outcome: .success)
        } catch {
            guard case .refused(let refusal) = error, refusal.isAboutTheAnswer else { throw error }
            desk.noteRefusal(refusal, caller)
            return Verdict(outcome: .authError, code: refusal.code.rawValue)
        }
    }

    private struct LoginPasswordChange {
        /// The same policy for the whole change.
        let policy: Policy
        let exchange: any Conversation
        let asker: RuleAsker
        /// nil where nobody knew it.
        let former: TypedPasscode?
        let strictness: Strictness
    }

    private enum Strictness {
        case refuses
        case warns
    }

    /// As pam_pwquality without enforce_for_root: root, who sets another person's password, is
    /// warned of the rules and may override them. This is a real uid of 0 without the former
    /// password. At a login that demands a new password, the former one is known, and the person
    /// types the new one.
    private static func strictness(_ caller: Caller, _ former: SecretBox) -> Strictness {
        caller.isTrusted && caller.hello.realUID == 0 && former.isEmpty ? .warns : .refuses
    }

    private func askLoginPassword(_ change: LoginPasswordChange) async throws(Interruption) {
        let exchange = change.exchange
        switch change.strictness {
        case .refuses:
            try await exchange.show(.passwordRules(NewPasscodes.told(change.policy)))
        case .warns: break
        }
        // As often as pam_unix asks.
        var rounds = 3
        while true {
            rounds -= 1
            do throws(Interruption) {
                let new = try await answer(exchange, .newPassword, .newPasscode)
                try await judgeLoginPassword(new, change)
                let again = try await answer(exchange, .confirmPassword, .confirmPasscode)
                // The modules behind us get it byte for byte.
                if new.bytes.matches(again.bytes) { return }
                try await exchange.show(.passwordsDiffer, .error)
                throw .refused(.noMatch)
            } catch {
                guard rounds > 0, case .refused(let refusal) = error, refusal.isAboutTheAnswer,
                    refusal != .cancelled
                else { throw error }
            }
        }
    }

    private func answer(_ exchange: any Conversation, _ message: Message, _ purpose: Ask.Purpose)
        async throws(Interruption) -> TypedPasscode
    {
        let answer = try await exchange.askPasscode(message, purpose)
        guard !answer.isEmpty else { throw .refused(.cancelled) }
        return answer
    }

    /// Says what is missing; throws where that refuses.
    private func judgeLoginPassword(_ new: TypedPasscode, _ change: LoginPasswordChange)
        async throws(Interruption)
    {
        let policy = change.policy
        let refusal: Refusal?
        let line: Message
        do throws(Refusal) {
            let judgement = try await newPasscodes.judge(
                login: new, policy, for: change.asker, former: change.former)
            // The rules cannot run because of the number of other requests: the change works
            // without AppVault.
            if change.strictness == .refuses, judgement.isOnlyCrowded { throw .busy }
            refusal = Refusal(judgement, policy)
            let unmet = judgement.entries.filter { $0.finding.isUnmet }
            line = .missing(unmet.map { Refusal.Rule($0, policy) })
        } catch {
            guard error.isAboutTheAnswer else { throw .refused(error) }
            // The text cannot be a passcode at all.
            (refusal, line) = (error, .refused(error))
        }
        guard let refusal else { return }
        try await change.exchange.show(line, .error)
        switch change.strictness {
        case .warns: break
        case .refuses: throw .refused(refusal)
        }
    }
}

extension Judgement {
    /// The only obstacle is that rules could not run because of the number of other people who are
    /// judged. What waits behind the person's own candidates does not count: otherwise a person who
    /// does not like a rule could keep it from running.
    fileprivate var isOnlyCrowded: Bool {
        let unmet = entries.map(\.finding).filter(\.isUnmet)
        return unmet.contains(.unmetBecause(.cannotRun(.crowded)))
            && unmet.allSatisfy {
                $0 == .unmetBecause(.cannotRun(.crowded))
                    || $0 == .unmetBecause(.cannotRun(.notReached))
            }
    }
}
