/// What is wrong with files that are each well-formed: a `Rules` line that names a missing rule,
/// too many rules, and policies that no passcode can meet.
enum Contradictions {
    /// In the order of the files and their lines.
    static func errors(_ layer: PolicyLayer, _ files: [ParsedFile]) -> [PolicyProblem] {
        (missingRules(layer, files) + unmeetable(layer) + tooManyRules(layer)).inOrder(
            of: files.map(\.name))
    }

    private static func missingRules(
        _ layer: PolicyLayer, _ files: [ParsedFile]
    ) -> [PolicyProblem] {
        let known = files.reduce(into: Set(layer.rules.map(\.name))) { $0.formUnion($1.ruleNames) }
        return layer.sections.values.joined().flatMap { setting -> [PolicyProblem] in
            guard PolicyKey.all[setting.key].use == .ruleChoice else { return [] }
            switch setting.policy.rules {
            case .all: return []
            case .named(let names):
                return names.filter { !known.contains($0) }.map { name in
                    PolicyProblem(
                        file: setting.file, line: setting.line, key: "Rules",
                        wrong: "no section [Rule \(name)]",
                        right: PolicyKey.all[setting.key].kind.right)
                }
            }
        }
    }

    // This must stay linear in the size of the files, because a person who asks what a file would
    // change sends a file of their own. So the rules are looked at once for each choice of rules,
    // and each section is then only compared with what these rules leave.
    private static func unmeetable(_ layer: PolicyLayer) -> [PolicyProblem] {
        let rules = Unmeetable(layer.rules)
        guard !rules.isEmpty else { return [] }
        var together: [Choice: Unmeetable.Together] = [:]
        var found: [String: PolicyProblem] = [:]
        for subject in layer.subjects {
            let policy = layer.policyWithoutRules(layer.settings(for: subject))
            let choice = Choice(rules: policy.rules, digitsOnly: policy.digitsOnly)
            let left: Unmeetable.Together
            if let known = together[choice] {
                left = known
            } else {
                left = rules.together(choice.rules, digitsOnly: choice.digitsOnly)
                together[choice] = left
            }
            for (rule, wrong) in left.beside(policy) {
                found[rule.name + wrong] = PolicyProblem(
                    file: rule.file, line: rule.line, key: "[Rule \(rule.name)]",
                    wrong: "nobody can meet it: \(wrong)", right: "a rule that some passcode meets")
            }
        }
        return Array(found.values)
    }

    private struct Choice: Hashable {
        let rules: RuleChoice
        let digitsOnly: Bool
    }
}

extension Setting {
    /// The built-in policy with only this setting changed, for code that needs its value.
    var policy: Policy {
        var policy = Policy.builtIn
        change(&policy)
        return policy
    }
}

extension PolicyLayer {
    /// One subject for each section, and one to which only everybody's section applies.
    var subjects: [PolicySubject] {
        [PolicySubject()] + allSections.compactMap(\.scope.subject)
    }
}

extension Scope {
    /// A subject to which only this section applies; nil for everybody's section.
    var subject: PolicySubject? {
        switch self {
        case .everybody: nil
        case .group(let name): PolicySubject(groups: [name])
        case .user(let name): PolicySubject(user: name)
        case .store(let key): PolicySubject(store: key)
        }
    }
}

extension [PolicyProblem] {
    func inOrder(of files: [String]) -> [PolicyProblem] {
        let places = Dictionary(files.enumerated().map { ($1, $0) }) { first, _ in first }
        return sorted { left, right in
            (places[left.file] ?? .max, left.line, left.key, left.wrong)
                < (places[right.file] ?? .max, right.line, right.key, right.wrong)
        }
    }
}
