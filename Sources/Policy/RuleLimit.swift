extension CustomRule {
    /// The most rules that fit into one question to appvault-rules. With more, every passcode would
    /// be refused, because they could not be judged.
    public static let mostForOne = 255
}

extension Contradictions {
    /// Finds people for whom more rules hold than can be judged. A value of the key `Rules`
    /// replaces an earlier one as a whole, so each value is checked by itself.
    static func tooManyRules(_ layer: PolicyLayer) -> [PolicyProblem] {
        let most = CustomRule.mostForOne
        guard layer.rules.count > most else { return [] }
        let existing = Set(layer.rules.map(\.name))
        var seen: Set<RuleChoice> = []
        var found: [PolicyProblem] = []
        for subject in layer.subjects {
            let settings = layer.settings(for: subject)
            let choice = layer.policyWithoutRules(settings).rules
            guard seen.insert(choice).inserted else { continue }
            switch choice {
            case .all:
                let first = layer.rules[most]
                found.append(
                    problem(first.file, first.line, "[Rule \(first.name)]", layer.rules.count))
            case .named(let names):
                let count = existing.intersection(names).count
                let setting = settings.first { PolicyKey.all[$0.key].use == .ruleChoice }
                guard count > most, let setting else { continue }
                found.append(problem(setting.file, setting.line, "Rules", count))
            }
        }
        return found
    }

    private static func problem(
        _ file: String, _ line: Int, _ key: String, _ count: Int
    ) -> PolicyProblem {
        PolicyProblem(
            file: file, line: line, key: key, wrong: "\(count) rules for one person",
            right: "at most \(CustomRule.mostForOne) of them apply to one person")
    }
}
