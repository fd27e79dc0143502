import KeySlots
import Policy
import Posix
import Secrets
import StoreKeeping
import Wire
import Words
import WorkerLinks

/// What is to become of people who log in and have no store: kept until the login is confirmed,
/// because before that nobody knows that the password was right.
@LoopActor
final class Onboarding {
    enum Plan: Sendable {
        /// The store follows the login password, if that meets the rules.
        case follow(login: SecretBox)
        case own(NewPasscode)
        case withoutPasscode(Identity.WithoutPasscode)
        case declined
    }

    struct Waiting: Sendable {
        let person: Person
        let plan: Plan
        var finger: ComingFinger?
    }

    /// Each holds guarded memory; more people than this do not log in for the first time at once.
    nonisolated static let most = 64

    private var entries: [Handle: (waiting: Waiting, timer: UInt64)] = [:]
    private let life: UInt64
    private let declinedPath: String
    /// A journal has no use for the same line at every login.
    private var weak: Set<Person> = []

    init(_ options: Options) {
        life = UInt64(options.deadlines.transaction) * 1000
        declinedPath = options.stateFolder + "/declined"
    }

    var isEmpty: Bool { entries.isEmpty }

    /// One plan for each person; nil where there is no room for another.
    func keep(_ waiting: Waiting) throws(SecretsError) -> Handle? {
        forget(waiting.person)
        guard entries.count < Self.most else { return nil }
        let handle = Handle(bytes: try Random.bytes(Handle.size))
        let timer = EventLoop.shared.at(Clock.bootMilliseconds() + life) {
            EventLoop.shared.task { self.entries[handle] = nil }
        }
        entries[handle] = (waiting, timer)
        return handle
    }

    /// One confirmation each.
    func take(_ handle: Handle) -> Waiting? {
        guard let entry = entries.removeValue(forKey: handle) else { return nil }
        EventLoop.shared.cancel(entry.timer)
        return entry.waiting
    }

    /// What an earlier attempt planned is not what a later one confirms.
    func forget(_ person: Person) {
        for handle in entries.keys where entries[handle]?.waiting.person == person {
            _ = take(handle)
        }
    }

    func forgetPlans() {
        for handle in entries.keys { _ = take(handle) }
    }

    func isFirstWeak(_ person: Person) -> Bool { weak.insert(person).inserted }

    // MARK: who wants none

    private nonisolated static let limit = 1 << 20

    private nonisolated static func line(_ person: Person) -> [UInt8] {
        Array("\(person.uid) ".utf8) + person.name
    }

    /// A list that cannot be read asks nobody: nobody is asked twice.
    func hasDeclined(_ person: Person, _ workers: Workers) async -> Bool {
        let path = declinedPath
        return await workers.disk.run {
            do throws(PosixError) {
                let text = try TextFile.read(at: path, limit: Self.limit)
                return text.split(separator: 0x0A).contains { $0.elementsEqual(Self.line(person)) }
            } catch {
                return !error.isMissing
            }
        }
    }

    func decline(_ person: Person, _ workers: Workers) async {
        guard await !hasDeclined(person, workers) else { return }
        let path = declinedPath
        // Not remembered is asked again, which is no harm.
        await workers.disk.run {
            var text = (try? TextFile.read(at: path, limit: Self.limit)) ?? []
            text += Self.line(person) + [0x0A]
            if text.count <= Self.limit { try? TextFile.replace(at: path, with: text) }
        }
    }
}

extension Service {
    // MARK: auth, behind others

    /// A login password of somebody who has no store. Nothing is made before setcred.
    func onboard(
        _ person: Person, _ token: SecretBox, _ handle: Handle, _ exchange: Exchange
    ) async throws(Interruption) -> Verdict {
        let caller = exchange.caller
        let ignored = Verdict(outcome: .ignore, handle: handle)
        // Only root can confirm, and an account that no person uses needs no question.
        guard caller.isTrusted else { return ignored }
        onboarding.forget(person)
        guard Eligibility.of(uid: person.uid) == .person, !token.isEmpty, isPolicyUsable else {
            return ignored
        }
        let inForce = try await refusingAsync { () async throws(Refusal) in
            try await self.policy(for: person, nil)
        }
        guard inForce.policy.acts(.unlock, at: caller.hello.service) else { return ignored }
        let plan: Onboarding.Plan?
        var finger: ComingFinger?
        switch inForce.policy.onboard {
        case .cli: return ignored
        case .silent: plan = withoutPasscode(inForce) ?? .follow(login: token)
        case .login:
            plan = try await converse(person, token, inForce, exchange)
            switch plan {
            case .follow, .own: finger = try await offerComingFinger(person, nil, exchange)
            case .withoutPasscode, .declined, nil: break
            }
        }
        guard let plan else { return ignored }
        let waiting = Onboarding.Waiting(person: person, plan: plan, finger: finger)
        return Verdict(outcome: .ignore, handle: (try? onboarding.keep(waiting)) ?? handle)
    }

    private var isPolicyUsable: Bool {
        switch policies.standing {
        case .good, .lastGood: true
        case .broken: false
        }
    }

    private func withoutPasscode(_ inForce: PolicyInForce) -> Onboarding.Plan? {
        switch inForce {
        case .noPasscodeMode: .withoutPasscode(.inNoPasscodeMode)
        case .administrators(let policy), .standard(let policy):
            policy.noPasscodeByDefault && policy.allowNoPasscode
                ? .withoutPasscode(.byPolicyDefault) : nil
        }
    }

    /// The person's own words on it; nil where there are none, and the next login asks again.
    private func converse(
        _ person: Person, _ token: SecretBox, _ inForce: PolicyInForce, _ exchange: Exchange
    ) async throws(Interruption) -> Onboarding.Plan? {
        let hello = exchange.caller.hello
        let policy = inForce.policy
        guard policy.acts(.converse(onTerminal: !hello.tty.isEmpty), at: hello.service),
            !exchange.caller.isRemote, !hello.silent, !hello.oneSecret,
            await directory.eligibility(of: person) == .person,
            await !onboarding.hasDeclined(person, vault.workers)
        else { return nil }
        do throws(Interruption) {
            try await exchange.show(.onboardTitle)
            try await exchange.show(.onboardBody)
            // Where a passcode is not the person's to refuse, the question is not put.
            if policy.allowNoPasscode {
                guard try await exchange.choose(.onboardOffer) else {
                    try await exchange.show(.onboardLater)
                    return .declined
                }
            }
            if let plan = withoutPasscode(inForce) { return plan }
            let asker = exchange.caller.asker(for: person)
            let judged = try await refusingAsync { () async throws(Refusal) in
                try await self.judged(token, policy, asker)
            }
            if judged == .meetsTheRules, try await exchange.choose(.onboardFollow) {
                return .follow(login: token)
            }
            let entry = Entry(
                person: person, host: nil, exchange: exchange, maySkip: policy.allowNoPasscode)
            return .own(try await askNewPasscode(entry))
        } catch {
            switch error {
            case .gone: throw error
            case .refused(.skipped): return .withoutPasscode(.byChoice)
            case .refused: return nil
            }
        }
    }

    // MARK: setcred

    /// How long a login waits for the store that it makes; it is made all the same.
    private static let onboardingPatience: UInt64 = 5_000

    /// The login succeeded: what was planned happens now. Nothing of it fails a login.
    func finish(_ waiting: Onboarding.Waiting, _ caller: Caller) async -> Verdict {
        let made = First<Void>()
        let end = Clock.bootMilliseconds() + Self.onboardingPatience
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
            guard await directory.eligibility(of: person) == .person, hasRoomForStore(of: person)
            else { return }
            let policy = try await policy(for: person, nil).policy
            let start: StoreStart
            switch waiting.plan {
            case .declined: return await onboarding.decline(person, vault.workers)
            case .withoutPasscode(let why): start = .without(why)
            case .own(let new): start = .with(.own(new.secret, digest: new.digest))
            case .follow(let login):
                switch try await judged(login, policy, caller.asker(for: person)) {
                case .meetsTheRules: start = .with(.login(login))
                case .fallsShort: return noteWeak(person, caller)
                case .notJudged(let why): throw why
                }
            }
            let made = try await vault.create(for: person, named: [], start, cost(policy), policy)
            shutUnlessFollowed(made.host, person)
            if let finger = waiting.finger, start.coming != nil {
                await keep(finger, made.opening, made.host, person, caller)
            }
            // It would not be there otherwise.
            if case .follow = waiting.plan, let judging = made.host.beginJudging(policy) {
                made.host.note(.meetsTheRules, judging)
            }
            audit.note(
                .create, "a store was created at a login", store: made.host.id.description,
                person: person, service: caller.hello.service, uid: caller.credentials.uid)
        } catch {
            // Another login of the same person was faster.
            guard error != .alreadyExists else { return }
            audit.note(
                .fault, "no store was made at the login: \(error.message.english)", person: person,
                service: caller.hello.service, code: error.code, uid: caller.credentials.uid)
        }
    }

    private enum JudgedLogin: Equatable {
        case meetsTheRules
        case fallsShort
        /// A rule did not run, and it falls short of no other.
        case notJudged(Refusal)
    }

    /// What cannot be a passcode meets no rules.
    private func judged(_ login: SecretBox, _ policy: Policy, _ asker: RuleAsker)
        async throws(Refusal) -> JudgedLogin
    {
        let judgement: Judgement
        do throws(Refusal) {
            judgement = try await judge(login: login, policy, for: asker)
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

    /// Not over a store of theirs in whatever state it is, and not beside one of which nobody knows
    /// whose it is.
    private func hasRoomForStore(of person: Person) -> Bool {
        guard !vault.hasStoreOfNobody else { return false }
        do throws(Interruption) { return try ownStore(of: person) == nil } catch {
            return false
        }
    }

    /// Which rules it falls short of stays out of the journal: that would describe the password.
    private func noteWeak(_ person: Person, _ caller: Caller) {
        guard onboarding.isFirstWeak(person) else { return }
        audit.note(
            .policy, "no store was made: the login password does not meet the passcode rules",
            person: person, service: caller.hello.service, uid: caller.credentials.uid)
    }
}
