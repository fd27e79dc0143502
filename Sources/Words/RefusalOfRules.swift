import Policy

// How a person is told of the policy's rules.

extension Refusal.Rule {
    /// A rule that applies, as a person is told of it before a new passcode is asked for.
    package init(_ rule: PasscodeRule, _ policy: Policy) {
        switch rule {
        case .minLength(let minimum): self = .minLength(Int(minimum))
        case .custom(let name): self = Self.custom(name, policy)
        case .digitsOnly: self = .digitsOnly
        case .digit: self = .digit
        case .upper: self = .upper
        case .lower: self = .lower
        case .special: self = .special
        case .groups(let minimum): self = .groups(Int(minimum))
        case .unique(let minimum): self = .unique(Int(minimum))
        case .sequence: self = .sequence
        case .same: self = .same
        case .history(let count): self = .history(Int(count))
        }
    }

    private static func custom(_ name: String, _ policy: Policy) -> Self {
        guard let rule = policy.customRules.first(where: { $0.name == name }) else {
            return .custom(name: name, display: name)
        }
        switch rule.test {
        case .matches, .rejects: return .custom(name: name, display: rule.display)
        case .dictionary:
            // The rule's name alone does not tell a person what the rule wants.
            let display = rule.display == name ? "" : rule.display
            return .dictionary(name: name, display: display, says: "")
        }
    }

    /// A rule that a passcode does not meet, with the reason if it is known.
    package init(_ entry: Judgement.Entry, _ policy: Policy) {
        let rule = Self(entry.rule, policy)
        switch (entry.finding, rule) {
        case (.unmetBecause(.dictionary(let says)), .dictionary(let name, let display, _)),
            (.unmetBecause(.dictionary(let says)), .custom(let name, let display)):
            self = .dictionary(name: name, display: display, says: says)
        case (.unmetBecause(.cannotRun(let fault)), .custom(let name, _)),
            (.unmetBecause(.cannotRun(let fault)), .dictionary(let name, _, _)):
            self = .notRun(name: name, fault)
        case (.notChecked(.notRun), .custom(let name, _)),
            (.notChecked(.notRun), .dictionary(let name, _, _)):
            self = .notRun(name: name, .notReached)
        case (.satisfied, _), (.unmet, _), (.unmetBecause, _), (.notChecked, _): self = rule
        }
    }
}

extension Refusal {
    /// Why a new passcode is refused; nil if it is accepted.
    package init?(_ judgement: Judgement, _ policy: Policy) {
        guard let obstacle = judgement.obstacle else { return nil }
        if case .notChecked(.notAPasscode(let refusal)) = obstacle.finding {
            self.init(refusal)
            return
        }
        let all = judgement.unmet.isEmpty ? [obstacle.rule] : judgement.unmet
        self = .rule(Rule(obstacle, policy), unmet: all.map(\.id))
    }

    /// A text that cannot be a passcode.
    package init(_ refusal: PasscodeRefusal) {
        switch refusal {
        case .empty: self = .cancelled
        case .tooLong: self = .tooLarge(limit: PasscodeText.maximum)
        case .notUTF8: self = .invalidArgument(.notText)
        case .controlCharacter: self = .invalidArgument(.control)
        }
    }
}

extension NotChecked {
    /// The reason that a checklist shows.
    package var phrase: Phrase {
        switch self {
        case .notAPasscode(.empty): Phrase(.notcheckedEmpty)
        case .notAPasscode(.tooLong): Phrase(.notcheckedTooLong)
        case .notAPasscode(.notUTF8): Phrase(.notcheckedNotText)
        case .notAPasscode(.controlCharacter): Phrase(.notcheckedControl)
        case .outsideAChange: Phrase(.notcheckedInChange)
        case .tooManyCandidates: Phrase(.notcheckedCandidates)
        case .notRun: Phrase(.notcheckedCustom)
        }
    }
}

extension RuleFault {
    package var phrase: Phrase {
        switch self {
        case .noWorker: Phrase(.faultNoWorker)
        case .busy, .crowded: Phrase(.faultBusy)
        case .tooSlow: Phrase(.faultTooSlow)
        case .ended: Phrase(.faultEnded)
        case .notReached: Phrase(.faultNotReached)
        case .nonsense: Phrase(.faultNonsense)
        case .pattern: Phrase(.faultPattern)
        case .dictionary: Phrase(.faultDictionary)
        }
    }
}
