/// A rule for new passcodes. The order of the cases is the order of the report.
public enum PasscodeRule: Equatable, Sendable {
    case minLength(minimum: UInt32)
    /// One of the administrator's own.
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

/// Why a rule was not looked at.
public enum NotChecked: Equatable, Sendable {
    /// The text cannot be a passcode at all.
    case notAPasscode(PasscodeRefusal)
    /// `same` and `history` are judged only where the current passcode was typed: anywhere else
    /// they would tell what it is.
    case outsideAChange
    /// So many candidates were tried in this exchange that `same` and `history` say no more.
    case tooManyCandidates
    /// Nobody asked for the custom rules to be run.
    case notRun
}

/// Why a custom rule says no, where its own wording is not all of it.
public enum UnmetCause: Equatable, Sendable {
    /// What libpwquality says.
    case dictionary(String)
    /// A rule that cannot run refuses the passcode.
    case cannotRun(RuleFault)
}

/// Why a custom rule could not be run.
public enum RuleFault: Equatable, Sendable, CaseIterable {
    /// Nobody serves the rules.
    case noWorker
    /// Other candidates of the same person are being judged.
    case busy
    /// Too many candidates of others are.
    case crowded
    /// Not done within its second.
    case tooSlow
    /// Its worker ended before it had answered.
    case ended
    /// A rule before it took the time or the worker.
    case notReached
    /// Its worker answered something else than what was asked.
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

    /// What keeps the passcode from being set: the first unmet entry, or a rule that nobody looked
    /// at. `same` and `history` may stay unchecked, because a first passcode has none before it.
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

/// Rules judge new passcodes only: none of them can refuse one that opens.
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
                    // Fewer answers than rules: no answer is not a good one.
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

    /// The report on a text that was refused before any rule could be looked at.
    public static func notJudged(_ refusal: PasscodeRefusal, _ policy: Policy) -> Judgement {
        report(rules(policy)) { _ in .notChecked(.notAPasscode(refusal)) }
    }

    /// The rules that apply, in order: what is shown before a new passcode is asked for.
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
