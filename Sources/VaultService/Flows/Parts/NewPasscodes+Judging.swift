import KeySlots
import Policy
import Posix
import Secrets
import StoreKeeping
import Wire
import Words
import WorkerLinks

/// What a candidate may be compared with.
@LoopActor
private struct Past {
    let host: StoreHost
    let key: StoreKey
    /// nil where nobody typed it; it may stand in the history then.
    let current: TypedPasscode?
    let among: PasscodeHistory.Among
}

extension Entry {
    fileprivate func past(_ stage: Stage) -> Past? {
        guard let host, let opening else { return nil }
        switch (opening.ground, stage) {
        case (.passcode, _):
            guard let typed = opening.typed else { return nil }
            return Past(host: host, key: opening.key, current: typed, among: .former)
        // A person who has only the recovery key must not learn at no cost what the passcode was.
        // So only a candidate that was typed twice is compared: a guess that is not refused becomes
        // the passcode, and drives an entry out of the history. The history of another machine's
        // store cannot be read yet.
        case (.recovery, .chosen):
            return Past(host: host, key: opening.key, current: nil, among: .formerAndPresent)
        case (.recovery, .typed), (.finger, _), (.foreign, _), (.device, _), (.parent, _),
            (.member, _):
            return nil
        }
    }
}

/// Judges passcodes by the rules.
extension NewPasscodes {
    /// How many candidates of one exchange are compared with former passcodes. More would be an
    /// oracle.
    private static let mostCandidates = 10

    /// Judges a new passcode. `Entry.past` decides whether it may be compared with the current one
    /// and with former ones.
    func judge(
        _ candidate: TypedPasscode, _ policy: Policy, _ entry: Entry, _ stage: Entry.Stage
    ) async throws(Refusal) -> Judgement {
        let custom = await ruleWorker.judge(
            candidate, policy.customRules, for: entry.exchange.caller.asker(for: entry.person))
        var same = Finding.notChecked(.outsideAChange)
        var history = Finding.notChecked(.outsideAChange)
        if let past = entry.past(stage) {
            entry.exchange.candidates += 1
            guard entry.exchange.candidates <= Self.mostCandidates else {
                return Self.judgement(
                    candidate, policy, custom, .notChecked(.tooManyCandidates),
                    .notChecked(.tooManyCandidates))
            }
            if let current = past.current {
                same = candidate.matches(current) ? .unmet : .satisfied
            }
            let isReused =
                policy.historyCount > 0
                ? try await past.host.isReused(
                    candidate, past.key, latest: policy.historyCount, past.among)
                : false
            history = isReused ? .unmet : .satisfied
        }
        return Self.judgement(candidate, policy, custom, same, history)
    }

    /// The present one: whether the rules would take it now.
    func compliance(of proof: Proof, _ visit: Visit) async -> Compliance {
        let custom = await ruleWorker.judge(
            proof.typed, visit.policy.customRules, for: visit.caller.asker(for: visit.person))
        return compliance(of: proof.typed, visit.policy, custom)
    }

    private func compliance(
        of typed: TypedPasscode, _ policy: Policy, _ custom: [Finding]
    ) -> Compliance {
        let judgement = Self.judgement(
            typed, policy, custom, .notChecked(.outsideAChange),
            .notChecked(.outsideAChange))
        return Self.compliance(judgement.entries.map(\.finding))
    }

    private static func compliance(_ findings: [Finding]) -> Compliance {
        var isDoubtful = false
        for finding in findings {
            switch finding {
            // A rule that cannot run refuses a new passcode, but says nothing against the present
            // one.
            case .unmetBecause(.cannotRun), .notChecked(.notRun): isDoubtful = true
            case .unmet, .unmetBecause(.dictionary): return .fallsShort
            case .satisfied, .notChecked: break
            }
        }
        return isDoubtful ? .notYetKnown : .meetsTheRules
    }

    /// For `status`: whether the login password would do. It opened the store or was set just now, and
    /// is not kept for this: custom rules get it at once, and nobody waits for what they say.
    func noteLoginPassword(_ typed: TypedPasscode, _ host: StoreHost, _ policy: Policy) {
        guard host.followsLogin, let judging = host.beginJudging(policy) else { return }
        // What cannot be a passcode meets no rules.
        guard typed.refusal == nil else { return host.note(.fallsShort, judging) }
        let taken = policy.customRules.map { _ in Finding.satisfied }
        let builtIn = compliance(of: typed, policy, taken)
        guard !policy.customRules.isEmpty else { return host.note(builtIn, judging) }
        // Asked also where it falls short already: that a worker runs is seen by everybody.
        ruleWorker.judgeAside(typed, policy.customRules) { custom in
            host.note(builtIn == .fallsShort ? builtIn : Self.compliance(custom), judging)
        }
    }

    private static func judgement(
        _ candidate: TypedPasscode, _ policy: Policy, _ custom: [Finding], _ same: Finding,
        _ history: Finding
    ) -> Judgement {
        candidate.withNormal { secret in
            secret.withBytes {
                PasscodeRules.judge($0, policy, custom: custom, same: same, history: history)
            }
        }
    }

    /// Judges a login password by the rules. Whether it is a former passcode is not checked: the
    /// store has seen too few of them.
    func judge(
        login candidate: TypedPasscode, _ policy: Policy, for asker: RuleAsker,
        former: TypedPasscode? = nil
    ) async throws(Refusal) -> Judgement {
        try candidate.requireFit()
        var same = Finding.notChecked(.outsideAChange)
        if let former { same = candidate.matches(former) ? .unmet : .satisfied }
        let custom = await ruleWorker.judge(candidate, policy.customRules, for: asker)
        return candidate.withNormal { secret in
            secret.withBytes { PasscodeRules.judge($0, policy, custom: custom, same: same) }
        }
    }

    // MARK: what a person and a program are told

    func showRules(_ policy: Policy, _ exchange: any Conversation)
        async throws(Interruption)
    {
        let rules = Self.told(policy)
        if !rules.isEmpty { try await exchange.show(.rules(rules)) }
    }

    /// The rules that are shown before anything is typed.
    static func told(_ policy: Policy) -> [Refusal.Rule] {
        PasscodeRules.rules(policy).compactMap { rule in
            isTold(rule, policy) ? Refusal.Rule(rule, policy) : nil
        }
    }

    private static func isTold(_ rule: PasscodeRule, _ policy: Policy) -> Bool {
        switch rule {
        // Everybody expects these two, so they are shown only where they are not met.
        case .same, .history: false
        case .custom(let name): policy.customRules.contains { $0.name == name && $0.show }
        case .minLength, .digitsOnly, .digit, .upper, .lower, .special, .groups, .unique,
            .sequence:
            true
        }
    }

    /// What the passcode lacks: one rule in a sentence of its own, several as a list.
    static func missing(_ judgement: Judgement, _ policy: Policy) -> Message? {
        let missing = judgement.entries.filter { $0.finding.isUnmet }.map {
            Refusal.Rule($0, policy)
        }
        guard let first = missing.first else { return nil }
        return missing.count == 1 ? .unmet(first) : .missing(missing)
    }

    /// The rules that are shown, before anything was typed.
    static func unjudged(_ policy: Policy, _ voice: Voice) -> [Checklist.Entry] {
        PasscodeRules.rules(policy).compactMap { rule in
            guard isTold(rule, policy) else { return nil }
            return Checklist.Entry(
                id: Text.clean(rule.id), finding: .notChecked,
                wants: voice.bytes(Refusal.Rule(rule, policy).wish))
        }
    }

    /// What they say while somebody types. Rules that need a process are not asked for each key, and
    /// former passcodes not at all: these would be an oracle.
    static func findings(
        on draft: SecretBox, _ policy: Policy, _ voice: Voice
    ) -> [Checklist.Entry] {
        guard let typed = try? TypedPasscode(draft) else { return unjudged(policy, voice) }
        return typed.judgement(policy, custom: []).entries.compactMap { entry in
            isTold(entry.rule, policy) ? Checklist.Entry(entry, policy, voice) : nil
        }
    }
}
