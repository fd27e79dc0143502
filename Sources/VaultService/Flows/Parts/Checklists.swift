import KeySlots
import Policy
import StoreKeeping
import Wire
import Words
import WorkerLinks

extension Checklist.Entry {
    init(_ entry: Judgement.Entry, _ policy: Policy, _ voice: Voice) {
        self.init(
            id: Text.clean(entry.rule.id), finding: .init(entry.finding),
            wants: voice.bytes(Refusal.Rule(entry.rule, policy).wish),
            reason: entry.finding.reason(voice))
    }
}

extension Checklist.Entry.Finding {
    init(_ finding: Finding) {
        self =
            switch finding {
            case .satisfied: .satisfied
            case .unmet, .unmetBecause: .unmet
            case .notChecked: .notChecked
            }
    }
}

extension Finding {
    /// What there is to say beyond the finding itself.
    func reason(_ voice: Voice) -> [UInt8] {
        switch self {
        case .satisfied, .unmet: []
        case .unmetBecause(.dictionary(let says)): Text.clean(says, limit: Limits.line)
        case .unmetBecause(.cannotRun(let fault)): voice.bytes(fault.phrase)
        case .notChecked(let why): voice.bytes(why.phrase)
        }
    }
}

extension TypedPasscode {
    /// What the rules say of something that nobody sets.
    func judgement(_ policy: Policy, custom: [Finding]) -> Judgement {
        if let refusal { return PasscodeRules.notJudged(refusal, policy) }
        return withNormal { secret in
            secret.withBytes { PasscodeRules.judge($0, policy, custom: custom) }
        }
    }
}
