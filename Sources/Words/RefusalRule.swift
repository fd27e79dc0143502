import Policy
import Wire

extension Refusal {
    /// A rule as a person is told of it: what it asks for, and that a new passcode does not meet
    /// it.
    package enum Rule: Equatable, Sendable {
        case minLength(Int)
        /// A rule of the administrator's, with the administrator's text for it.
        case custom(name: String, display: String)
        /// `says` is libpwquality's reason.
        case dictionary(name: String, display: String, says: String)
        /// The rule could not be run, so it is not known whether the passcode meets it.
        case notRun(name: String, RuleFault)
        case digitsOnly, digit, upper, lower, special
        case groups(Int)
        case unique(Int)
        case sequence
        case same
        case history(Int)
    }
}

extension Refusal.Rule {
    package var code: Code {
        switch self {
        case .minLength: .underMinLength
        case .dictionary, .notRun(_, .dictionary): .dictionary
        case .custom, .notRun: .ruleFailed
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

    package var parameters: [(name: String, value: String)] {
        switch self {
        case .minLength(let least), .groups(let least), .unique(let least):
            [("minimum", String(least))]
        case .dictionary(_, _, let says): [("reason", says)]
        case .notRun(_, .dictionary): [("reason", RuleFault.dictionary.phrase.id.tail)]
        case .custom(let name, _), .notRun(let name, _): [("rule", name)]
        case .history(let count): [("count", String(count))]
        case .digitsOnly, .digit, .upper, .lower, .special, .sequence, .same: []
        }
    }

    /// What the rule asks for, as an item of a list.
    package var wish: Phrase {
        switch self {
        case .minLength(let least): Phrase(.wishMinLength, .count(least))
        case .custom(let name, let display):
            Phrase(.wishRule, .text(display.isEmpty ? name : display))
        case .dictionary(_, "", _): Phrase(.wishRuleDictionary)
        case .dictionary(_, let display, _): Phrase(.wishRule, .text(display))
        case .notRun(let name, _): Phrase(.wishRule, .text(name))
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

    /// The line that is shown when a new passcode does not meet the rule.
    package var unmetLine: Phrase {
        switch self {
        case .minLength(let least): Phrase(.unmetMinLength, .count(least))
        case .custom(let name, let display):
            Phrase(.unmetRule, .text(display.isEmpty ? name : display))
        case .dictionary: Phrase(.unmetRuleDictionary)
        case .notRun(let name, let fault):
            Phrase(.unmetRuleFailed, .text(name), .phrase(fault.phrase))
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

    /// The text of a refusal because of this rule.
    package var refusedText: Phrase {
        switch self {
        case .minLength(let least): Phrase(.refusedUnderMinLength, .count(least))
        case .custom(let name, let display):
            Phrase(.refusedRuleFailed, .text(name), .text(display.isEmpty ? name : display))
        case .dictionary: Phrase(.refusedDictionary)
        case .notRun(let name, .dictionary):
            Phrase(.refusedDictionaryFailed, .text(name), .phrase(RuleFault.dictionary.phrase))
        case .notRun(let name, let fault):
            Phrase(.refusedRuleFailedFailed, .text(name), .phrase(fault.phrase))
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
