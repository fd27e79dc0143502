/// A rule for new passcodes. The order of the cases is the order of the report.
public enum PasscodeRule: Equatable, Sendable {
    case minLength(minimum: UInt32)
    /// A rule of the administrator's.
    case custom(name: String)
    case digitsOnly
    case digit
    case upper
    case lower
    case special
    case groups(minimum: UInt32)
    case unique(minimum: UInt32)
    case sequence
    case same
    case history(count: UInt32)

    /// The rule's name in reports and on the wire.
    public var id: String {
        switch self {
        case .minLength: "minLength"
        case .custom(let name): "rule." + name
        case .digitsOnly: "digitsOnly"
        case .digit: "digit"
        case .upper: "upper"
        case .lower: "lower"
        case .special: "special"
        case .groups: "groups"
        case .unique: "unique"
        case .sequence: "sequence"
        case .same: "same"
        case .history: "history"
        }
    }
}

/// Why a rule was not checked.
public enum NotChecked: Equatable, Sendable {
    /// The text cannot be a passcode at all.
    case notAPasscode(PasscodeRefusal)
    /// `same` and `history` are judged only where the current passcode was typed, `history` also
    /// for the passcode that is chosen after a recovery. Anywhere else they would reveal the
    /// person's passcodes.
    case outsideAChange
    /// Too many candidates were tried in this exchange: `same` and `history` are no longer judged.
    case tooManyCandidates
    /// The caller did not ask to run the custom rules.
    case notRun
}

/// Why a custom rule is not met, where the rule's own text does not say it all.
public enum UnmetCause: Equatable, Sendable {
    /// The reason that libpwquality gives.
    case dictionary(String)
    /// A rule that cannot run refuses the passcode.
    case cannotRun(RuleFault)
}

/// Why a custom rule could not be run.
public enum RuleFault: Equatable, Sendable, CaseIterable {
    /// No rules worker can be reached.
    case noWorker
    /// Other candidates of the same person are being judged.
    case busy
    /// Too many candidates of other people are being judged.
    case crowded
    /// The worker did not finish within one second.
    case tooSlow
    /// The worker ended before it answered.
    case ended
    /// An earlier rule used up the time or ended the worker.
    case notReached
    /// The worker's answer does not fit the question.
    case nonsense
    /// The pattern is not a regular expression, or needs too much memory.
    case pattern
    /// There is no dictionary, or libpwquality fails.
    case dictionary
}

public enum Finding: Equatable, Sendable {
    case satisfied
    case unmet
    case unmetBecause(UnmetCause)
    case notChecked(NotChecked)

    public var isUnmet: Bool {
        switch self {
        case .unmet, .unmetBecause: true
        case .satisfied, .notChecked: false
        }
    }
}

/// What every rule says about one new passcode, in the order of BEHAVIOURS.md 1.
public struct Judgement: Equatable, Sendable {
    public struct Entry: Equatable, Sendable {
        public var rule: PasscodeRule
        public var finding: Finding
    }

    public var entries: [Entry]

    /// The rule whose code a refusal carries.
    public var firstUnmet: PasscodeRule? {
        entries.first { $0.finding.isUnmet }?.rule
    }

    /// The rules whose ids a refusal carries.
    public var unmet: [PasscodeRule] {
        entries.filter { $0.finding.isUnmet }.map(\.rule)
    }

    /// What keeps the passcode from being set: the first unmet entry, or a rule that was not
    /// checked. `same` and `history` may stay unchecked, because there is no passcode before a
    /// first one.
    public var obstacle: Entry? {
        entries.first { entry in
            switch (entry.finding, entry.rule) {
            case (.satisfied, _): false
            case (.unmet, _), (.unmetBecause, _): true
            case (.notChecked(.outsideAChange), .same),
                (.notChecked(.outsideAChange), .history):
                false
            case (.notChecked, _): true
            }
        }
    }
}

/// Rules judge new passcodes only: no rule can refuse a passcode that opens the store.
public enum PasscodeRules {
    /// Judges a normalised passcode. `custom` has one finding for each of the policy's custom
    /// rules, or none where they were not run.
    public static func judge(
        _ passcode: Span<UInt8>, _ policy: Policy, custom: [Finding] = [],
        same: Finding = .notChecked(.outsideAChange),
        history: Finding = .notChecked(.outsideAChange)
    ) -> Judgement {
        judge(passcode, rules(policy), custom: custom, same: same, history: history)
    }

    static func judge(
        _ passcode: Span<UInt8>, _ rules: [PasscodeRule], custom: [Finding], same: Finding,
        history: Finding
    ) -> Judgement {
        let traits = PasscodeTraits(of: passcode, uniqueUpTo: uniqueMinimum(rules))
        var nextCustom = 0
        return report(rules) { rule in
            switch rule {
            case .minLength(let minimum): found(traits.characters >= Int(minimum))
            case .custom:
                if custom.isEmpty {
                    .notChecked(.notRun)
                } else if nextCustom < custom.count {
                    take(custom, &nextCustom)
                } else {
                    // There are fewer answers than rules. A missing answer is not a good one.
                    .unmetBecause(.cannotRun(.nonsense))
                }
            case .digitsOnly: found(traits.digits == traits.scalars)
            case .digit: found(traits.digits > 0)
            case .upper: found(traits.hasUpper)
            case .lower: found(traits.hasLower)
            case .special: found(traits.hasSpecial)
            case .groups(let minimum): found(traits.groups >= Int(minimum))
            case .unique(let minimum): found(traits.unique >= Int(minimum))
            case .sequence: found(!traits.isSequence)
            case .same: same
            case .history: history
            }
        }
    }

    /// The report on a text that was refused before any rule could be checked.
    public static func notJudged(_ refusal: PasscodeRefusal, _ policy: Policy) -> Judgement {
        report(rules(policy)) { _ in .notChecked(.notAPasscode(refusal)) }
    }

    /// The rules that apply, in the order in which they are shown before a new passcode is asked
    /// for.
    public static func rules(_ policy: Policy) -> [PasscodeRule] {
        var rules: [PasscodeRule] = [.minLength(minimum: policy.minLength)]
        rules += policy.customRules.map { .custom(name: $0.name) }
        if policy.digitsOnly {
            rules.append(.digitsOnly)
        } else {
            if policy.requireDigit { rules.append(.digit) }
            if policy.requireUpper { rules.append(.upper) }
            if policy.requireLower { rules.append(.lower) }
            if policy.requireSpecial { rules.append(.special) }
            let groups = policy.minCharacterGroups
            if groups > 0 { rules.append(.groups(minimum: groups)) }
        }
        let unique = policy.minUniqueCharacters
        if unique > 0 { rules.append(.unique(minimum: unique)) }
        if policy.forbidSequences { rules.append(.sequence) }
        rules.append(.same)
        if policy.historyCount > 0 { rules.append(.history(count: policy.historyCount)) }
        return rules
    }

    private static func report(_ rules: [PasscodeRule], _ find: (PasscodeRule) -> Finding)
        -> Judgement
    {
        Judgement(entries: rules.map { Judgement.Entry(rule: $0, finding: find($0)) })
    }

    private static func found(_ isMet: Bool) -> Finding { isMet ? .satisfied : .unmet }

    private static func take(_ custom: [Finding], _ next: inout Int) -> Finding {
        defer { next += 1 }
        return custom[next]
    }

    private static func uniqueMinimum(_ rules: [PasscodeRule]) -> Int {
        for case .unique(let minimum) in rules { return Int(minimum) }
        return 0
    }
}
