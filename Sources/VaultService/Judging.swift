import KeySlots
import Policy
import Secrets
import Wire

/// What the rules say of a passcode.
extension Service {
    /// Candidates of one exchange that are held against former passcodes: more would be an oracle.
    private static let mostCandidates = 10

    /// A new one. The current and the former ones have a say only where the current was typed in
    /// this exchange.
    func judge(_ candidate: SecretBox, _ policy: Policy, _ entry: Entry) async throws(Refusal)
        -> Judgement
    {
        let custom = await ruleWorker.judge(candidate, policy.customRules)
        var same = Finding.notChecked(.outsideAChange)
        var history = Finding.notChecked(.outsideAChange)
        if let former = entry.former, let host = entry.host {
            entry.exchange.candidates += 1
            guard entry.exchange.candidates <= Self.mostCandidates else {
                return try Self.judgement(
                    candidate, policy, custom, .notChecked(.tooManyCandidates),
                    .notChecked(.tooManyCandidates))
            }
            same = try Self.isSame(candidate, former.typed) ? .unmet : .satisfied
            let isReused =
                policy.historyCount > 0
                ? try await host.isReused(candidate, former.key, latest: policy.historyCount)
                : false
            history = isReused ? .unmet : .satisfied
        }
        return try Self.judgement(candidate, policy, custom, same, history)
    }

    /// The present one: whether the rules would take it now.
    func compliance(of proof: Proof, _ policy: Policy) async throws(Refusal) -> Compliance {
        try await compliance(
            of: proof.typed, policy, await ruleWorker.judge(proof.typed, policy.customRules))
    }

    private func compliance(
        of typed: SecretBox, _ policy: Policy, _ custom: [Finding]
    ) async throws(Refusal) -> Compliance {
        let judgement = try Self.judgement(
            typed, policy, custom, .notChecked(.outsideAChange),
            .notChecked(.outsideAChange))
        var isDoubtful = false
        for entry in judgement.entries {
            switch entry.finding {
            // A rule that cannot run refuses a new passcode; the one that is there is no worse for it.
            case .unmetBecause(.cannotRun), .notChecked(.notRun): isDoubtful = true
            case .unmet, .unmetBecause(.dictionary): return .fallsShort
            case .satisfied, .notChecked: break
            }
        }
        return isDoubtful ? .notYetKnown : .meetsTheRules
    }

    /// For `status`: whether the login password would do. A login does not wait for custom rules.
    func noteLoginPassword(_ proof: Proof, _ visit: Visit) async {
        guard let found = try? await compliance(of: proof.typed, visit.policy, []) else { return }
        visit.host.noteCompliance(found, visit.policy)
    }

    private static func judgement(
        _ candidate: SecretBox, _ policy: Policy, _ custom: [Finding], _ same: Finding,
        _ history: Finding
    ) throws(Refusal) -> Judgement {
        do throws(SecretsError) {
            let judgement = try candidate.read { (secret) throws(SecretsError) in
                secret.withBytes {
                    PasscodeRules.judge(
                        $0, policy, custom: custom, same: same, history: history)
                }
            }
            guard let judgement else { throw .wrongSize }
            return judgement
        } catch {
            throw .outOfMemory
        }
    }

    // MARK: what a person and a program are told

    func showRules(_ policy: Policy, _ exchange: Exchange)
        async throws(Interruption)
    {
        let rules = Self.told(policy)
        if !rules.isEmpty { try await exchange.show(.rules(rules)) }
    }

    /// What is said of the rules before anything is typed.
    static func told(_ policy: Policy) -> [Refusal.Rule] {
        PasscodeRules.rules(policy).compactMap { rule in
            switch rule {
            // Everybody expects these two; they are said where they are not met.
            case .same, .history: nil
            case .custom(let name):
                policy.customRules.contains { $0.name == name && $0.show }
                    ? Refusal.Rule(rule, policy) : nil
            case .minLength, .digitsOnly, .digit, .upper, .lower, .special, .groups, .unique,
                .sequence:
                Refusal.Rule(rule, policy)
            }
        }
    }

    /// One rule in a sentence of its own; several as a list.
    func showMissing(_ judgement: Judgement, _ policy: Policy, _ exchange: Exchange)
        async throws(Interruption)
    {
        let missing = judgement.entries.filter { $0.finding.isUnmet }.map {
            Refusal.Rule($0, policy)
        }
        guard let first = missing.first else { return }
        try await exchange.show(missing.count == 1 ? .unmet(first) : .missing(missing), .error)
    }
}
