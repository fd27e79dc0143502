extension CustomRule {
    /// As many as one question to appvault-rules holds. More could not be judged, so that every passcode would be refused.
    public static let mostForOne = 255
}

extension Contradictions {
    /// Where more rules hold for one person than can be judged. `Rules` is one key: each value of it stands alone.
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
