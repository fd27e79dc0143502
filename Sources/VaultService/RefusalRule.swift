import Policy
import Wire

extension Refusal {
    /// A rule as a person is told of it: what it asks for, and that a new passcode falls short of
    /// it.
    enum Rule: Equatable, Sendable {
        case minLength(Int)
        /// The administrator's own, with the text that he gave it.
        case custom(name: String, display: String)
        case dictionary(name: String)
        /// It could not be run, and so nobody knows.
        case notRun(name: String, dictionary: Bool)
        case digitsOnly, digit, upper, lower, special
        case groups(Int)
        case unique(Int)
        case sequence
        case same
        case history(Int)
    }
}

extension Refusal.Rule {
    init(_ rule: PasscodeRule) {
        self =
            switch rule {
            case .minLength(let minimum): .minLength(Int(minimum))
            case .custom(let name): .custom(name: name, display: "")
            case .digitsOnly: .digitsOnly
            case .digit: .digit
            case .upper: .upper
            case .lower: .lower
            case .special: .special
            case .groups(let minimum): .groups(Int(minimum))
            case .unique(let minimum): .unique(Int(minimum))
            case .sequence: .sequence
            case .same: .same
            case .history(let count): .history(Int(count))
            }
    }

    var code: Code {
        switch self {
        case .minLength: .underMinLength
        case .custom, .notRun(_, dictionary: false): .ruleFailed
        case .dictionary, .notRun(_, dictionary: true): .dictionary
        case .digitsOnly: .digitsOnly
        case .digit: .requiresDigit
        case .upper: .requiresUpper
        case .lower: .requiresLower
        case .special: .requiresSpecial
        case .groups: .requiresGroups
        case .unique: .underMinUniqueCharacters
        case .sequence: .sequence
        case .same: .sameAsCurrent
        case .history: .reused
        }
    }

    var parameters: [(name: String, value: String)] {
        switch self {
        case .minLength(let least), .groups(let least), .unique(let least):
            [("minimum", String(least))]
        case .custom(let name, _), .notRun(let name, dictionary: false): [("rule", name)]
        case .dictionary: [("reason", "word")]
        case .notRun(_, dictionary: true): [("reason", "failed")]
        case .history(let count): [("count", String(count))]
        case .digitsOnly, .digit, .upper, .lower, .special, .sequence, .same: []
        }
    }

    /// What it asks for, as one of a list.
    var wish: Phrase {
        switch self {
        case .minLength(let least): Phrase(.wishMinLength, .count(least))
        case .custom(let name, let display):
            Phrase(.wishRule, .text(display.isEmpty ? name : display))
        case .dictionary, .notRun(_, dictionary: true): Phrase(.wishRuleDictionary)
        case .notRun(let name, dictionary: false): Phrase(.wishRule, .text(name))
        case .digitsOnly: Phrase(.wishDigitsOnly)
        case .digit: Phrase(.wishDigit)
        case .upper: Phrase(.wishUpper)
        case .lower: Phrase(.wishLower)
        case .special: Phrase(.wishSpecial)
        case .groups(let least): Phrase(.wishGroups, .count(least))
        case .unique(let least): Phrase(.wishUnique, .count(least))
        case .sequence: Phrase(.wishSequence)
        case .same: Phrase(.wishSame)
        case .history(let count): Phrase(.wishHistory, .count(count))
        }
    }

    /// The line under a new passcode that falls short of it.
    var unmetLine: Phrase {
        switch self {
        case .minLength(let least): Phrase(.unmetMinLength, .count(least))
        case .custom(let name, let display):
            Phrase(.unmetRule, .text(display.isEmpty ? name : display))
        case .dictionary: Phrase(.unmetRuleDictionary)
        case .notRun(let name, _): Phrase(.unmetRuleFailed, .text(name))
        case .digitsOnly: Phrase(.unmetDigitsOnly)
        case .digit: Phrase(.unmetDigit)
        case .upper: Phrase(.unmetUpper)
        case .lower: Phrase(.unmetLower)
        case .special: Phrase(.unmetSpecial)
        case .groups(let least): Phrase(.unmetGroups, .count(least))
        case .unique(let least): Phrase(.unmetUnique, .count(least))
        case .sequence: Phrase(.unmetSequence)
        case .same: Phrase(.unmetSame)
        case .history(let count): Phrase(.unmetHistory, .count(count))
        }
    }

    /// The refusal's own words.
    var refusedText: Phrase {
        switch self {
        case .minLength(let least): Phrase(.refusedUnderMinLength, .count(least))
        case .custom(let name, let display):
            Phrase(.refusedRuleFailed, .text(name), .text(display.isEmpty ? name : display))
        case .dictionary: Phrase(.refusedDictionary)
        case .notRun(let name, dictionary: true): Phrase(.refusedDictionaryFailed, .text(name))
        case .notRun(let name, dictionary: false): Phrase(.refusedRuleFailedFailed, .text(name))
        case .digitsOnly: Phrase(.refusedDigitsOnly)
        case .digit: Phrase(.refusedRequiresDigit)
        case .upper: Phrase(.refusedRequiresUpper)
        case .lower: Phrase(.refusedRequiresLower)
        case .special: Phrase(.refusedRequiresSpecial)
        case .groups(let least): Phrase(.refusedRequiresGroups, .count(least))
        case .unique(let least): Phrase(.refusedUnderMinUniqueCharacters, .count(least))
        case .sequence: Phrase(.refusedSequence)
        case .same: Phrase(.refusedSameAsCurrent)
        case .history(let count): Phrase(.refusedReused, .count(count))
        }
    }
}
