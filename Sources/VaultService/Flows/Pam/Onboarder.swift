import KeySlots
import Policy
import Posix
import Secrets
import StoreKeeping
import Wire
import Words
import WorkerLinks

/// Makes a store for a person who logs in and has none.
@LoopActor
final class Onboarder {
    let desk: Desk
    let newPasscodes: NewPasscodes
    let enrolment: Enrolment
    let sessions: LoginSessions
    let onboarding: Onboarding
    /// Seconds that a login waits for the store that it makes.
    let patience: Int

    init(
        desk: Desk, newPasscodes: NewPasscodes, enrolment: Enrolment, sessions: LoginSessions,
        onboarding: Onboarding, patience: Int
    ) {
        self.desk = desk
        self.newPasscodes = newPasscodes
        self.enrolment = enrolment
        self.sessions = sessions
        self.onboarding = onboarding
        self.patience = patience
    }

    // MARK: auth, behind others

    /// Plans a store for a person who has none and has typed their login password. Nothing is made
    /// before setcred.
    func onboard(
        _ person: Person, _ token: SecretBox, _ handle: Handle, _ exchange: any Conversation
    ) async throws(Interruption) -> Verdict {
        let caller = exchange.caller
        let ignored = Verdict(outcome: .ignore, handle: handle)
        // Only root can confirm, and an account that no person uses needs no question.
        guard caller.isTrusted else { return ignored }
        onboarding.forget(person)
        guard Eligibility.of(uid: person.uid) == .person, !token.isEmpty, isPolicyUsable,
            desk.orders.bar(of: person) == nil
        else {
            return ignored
        }
        let inForce = try await refusingAsync { () async throws(Refusal) in
            try await desk.policy(for: person, nil)
        }
        guard inForce.policy.acts(.unlock, at: caller.hello.service),
            let login = try? TypedPasscode(token)
        else { return ignored }
        let plan: Onboarding.Plan?
        var finger: ComingFinger?
        switch inForce.policy.onboard {
        case .cli: return ignored
        case .silent: plan = withoutPasscode(inForce) ?? .follow(login: login)
        case .login:
            plan = try await converse(person, login, inForce, exchange)
            switch plan {
            case .follow, .own:
                finger = try await enrolment.offerComingFinger(person, nil, exchange)
            case .withoutPasscode, .declined, nil: break
            }
        }
        guard let plan else { return ignored }
        let waiting = Onboarding.Waiting(person: person, plan: plan, finger: finger)
        return Verdict(outcome: .ignore, handle: (try? onboarding.keep(waiting)) ?? handle)
    }

    private var isPolicyUsable: Bool {
        switch desk.policies.standing {
        case .good, .lastGood: true
        case .broken: false
        }
    }

    private func withoutPasscode(_ inForce: PolicyInForce) -> Onboarding.Plan? {
        switch inForce {
        case .noPasscodeMode: .withoutPasscode(.inNoPasscodeMode)
        case .administrators(let policy), .standard(let policy):
            policy.startsWithoutPasscode ? .withoutPasscode(.byPolicyDefault) : nil
        }
    }

    /// Asks the person. Nil if they gave no answer; then the next login asks again.
    private func converse(
        _ person: Person, _ login: TypedPasscode, _ inForce: PolicyInForce,
        _ exchange: any Conversation
    ) async throws(Interruption) -> Onboarding.Plan? {
        let hello = exchange.caller.hello
        let policy = inForce.policy
        guard policy.acts(.converse(onTerminal: !hello.tty.isEmpty), at: hello.service),
            !exchange.caller.isRemote, !hello.silent, !hello.oneSecret,
            await desk.directory.eligibility(of: person) == .person,
            await !onboarding.hasDeclined(person, desk.vault.workers)
        else { return nil }
        do throws(Interruption) {
            try await exchange.show(.onboardTitle)
            try await exchange.show(.onboardBody)
            // If the person may not refuse a passcode, the question is not asked.
            if policy.allowNoPasscode {
                guard try await exchange.choose(.onboardOffer) == .yes else {
                    try await exchange.show(.onboardLater)
                    return .declined
                }
            }
            if let plan = withoutPasscode(inForce) { return plan }
            let asker = exchange.caller.asker(for: person)
            let judged = try await refusingAsync { () async throws(Refusal) in
                try await self.judged(login, policy, asker)
            }
            if judged == .meetsTheRules, try await exchange.choose(.onboardFollow) == .yes {
                return .follow(login: login)
            }
            let entry = Entry(
                person: person, host: nil, exchange: exchange, maySkip: policy.allowNoPasscode)
            return .own(try await newPasscodes.askNewPasscode(entry))
        } catch {
            switch error {
            case .gone: throw error
            case .refused(.skipped): return .withoutPasscode(.byChoice)
            case .refused: return nil
            }
        }
    }

    // MARK: setcred

    /// Carries out the plan after the login succeeded. A failure here never fails the login.
    func finish(_ waiting: Onboarding.Waiting, _ caller: Caller) async -> Verdict {
        let made = First<Void>()
        let end = Clock.bootMilliseconds() + UInt64(patience) * 1_000
        let timer = EventLoop.shared.at(end) { EventLoop.shared.task { made.settle(()) } }
        EventLoop.shared.task {
            await self.carryOut(waiting, caller)
            made.settle(())
        }
        await made.value()
        EventLoop.shared.cancel(timer)
        return Verdict(outcome: .ignore)
    }

    private func carryOut(_ waiting: Onboarding.Waiting, _ caller: Caller) async {
        let person = waiting.person
        do throws(Refusal) {
            guard await desk.directory.eligibility(of: person) == .person,
                hasRoomForStore(of: person)
            else { return }
            let policy = try await desk.policy(for: person, nil).policy
            guard let start = try await start(waiting, policy, caller) else { return }
            let (hasPasscode, follows) = (start.coming != nil, start.login != nil)
            let made = try await desk.vault.create(
                for: person, Vault.Label([]), consume start, desk.cost(policy), policy)
            await sessions.shutUnlessFollowed(made.host, person)
            if let finger = waiting.finger, hasPasscode {
                await enrolment.keep(finger, made.opening, made.host, person, caller)
            }
            // It would not be there otherwise.
            if follows, let judging = made.host.beginJudging(policy) {
                made.host.note(.meetsTheRules, judging)
            }
            desk.audit.note(
                .create, "a store was created at a login", store: made.host.id.description,
                person: person, service: caller.hello.service, uid: caller.credentials.uid)
        } catch {
            // Another login of the same person was faster.
            guard error != .alreadyExists else { return }
            desk.audit.note(
                .fault, "no store was made at the login: \(error.message.english)", person: person,
                service: caller.hello.service, code: error.code, uid: caller.credentials.uid)
        }
    }

    /// nil where no store is made.
    private func start(
        _ waiting: Onboarding.Waiting, _ policy: Policy, _ caller: Caller
    ) async throws(Refusal) -> StoreStart? {
        let person = waiting.person
        switch waiting.takePlan() {
        case .declined:
            await onboarding.decline(person, desk.vault.workers)
            return nil
        case .withoutPasscode(let why): return .without(why)
        case .own(let new): return .with(new.coming)
        case .follow(let login):
            switch try await judged(login, policy, caller.asker(for: person)) {
            case .meetsTheRules: return .with(.login(login))
            case .fallsShort:
                noteWeak(person, caller)
                return nil
            case .notJudged(let why): throw why
            }
        case nil: return nil
        }
    }

    private enum JudgedLogin: Equatable {
        case meetsTheRules
        case fallsShort
        /// A rule did not run, and the password falls short of no other.
        case notJudged(Refusal)
    }

    /// What cannot be a passcode meets no rules.
    private func judged(_ login: TypedPasscode, _ policy: Policy, _ asker: RuleAsker)
        async throws(Refusal) -> JudgedLogin
    {
        let judgement: Judgement
        do throws(Refusal) {
            judgement = try await newPasscodes.judge(login: login, policy, for: asker)
        } catch {
            if error.isAboutTheAnswer { return .fallsShort }
            throw error
        }
        guard judgement.obstacle != nil else { return .meetsTheRules }
        let isShort = judgement.entries.contains { entry in
            switch entry.finding {
            case .unmet, .unmetBecause(.dictionary): true
            case .satisfied, .notChecked, .unmetBecause(.cannotRun): false
            }
        }
        guard !isShort, let refusal = Refusal(judgement, policy) else { return .fallsShort }
        return .notJudged(refusal)
    }

    /// False if the person has a store, in whatever state it is.
    private func hasRoomForStore(of person: Person) -> Bool {
        do throws(Interruption) { return try desk.ownStore(of: person) == nil } catch {
            return false
        }
    }

    /// The journal does not say which rules the password falls short of: that would describe it.
    private func noteWeak(_ person: Person, _ caller: Caller) {
        guard onboarding.isFirstWeak(person) else { return }
        desk.audit.note(
            .policy, "no store was made: the login password does not meet the passcode rules",
            person: person, service: caller.hello.service, uid: caller.credentials.uid)
    }
}
