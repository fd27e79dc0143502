/// A rule for new passcodes. The order of the cases is the order of the report.
public enum PasscodeRule: Equatable, Sendable {
    case minLength(minimum: UInt32)

    /// The rule's name in reports and on the wire.
    public var id: String {
        switch self {
        case .minLength: "minLength"
        }
    }
}

/// Why a rule was not looked at.
public enum NotChecked: Equatable, Sendable {
    /// The text cannot be a passcode at all.
    case notAPasscode(PasscodeRefusal)
}

public enum Finding: Equatable, Sendable {
    case satisfied
    case unmet
    case notChecked(NotChecked)
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
        entries.first { $0.finding == .unmet }?.rule
    }

    /// The rules whose ids a refusal carries.
    public var unmet: [PasscodeRule] {
        entries.filter { $0.finding == .unmet }.map(\.rule)
    }
}

/// Rules judge new passcodes only: none of them can refuse one that opens.
public enum PasscodeRules {
    /// Judges a normalised passcode.
    public static func judge(_ passcode: Span<UInt8>, _ policy: Policy) -> Judgement {
        let length = PasscodeText.characters(passcode)
        return report(policy) { rule in
            switch rule {
            case .minLength(let minimum): length >= Int(minimum) ? .satisfied : .unmet
            }
        }
    }

    /// The report on a text that was refused before any rule could be looked at.
    public static func notJudged(_ refusal: PasscodeRefusal, _ policy: Policy) -> Judgement {
        report(policy) { _ in .notChecked(.notAPasscode(refusal)) }
    }

    /// The rules that apply, in order: what is shown before a new passcode is asked for.
    public static func rules(_ policy: Policy) -> [PasscodeRule] {
        [.minLength(minimum: policy.minLength)]
    }

    private static func report(_ policy: Policy, _ find: (PasscodeRule) -> Finding) -> Judgement {
        Judgement(entries: rules(policy).map { Judgement.Entry(rule: $0, finding: find($0)) })
    }
}
