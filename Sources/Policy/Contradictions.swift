/// What is wrong with files that are each well written: names without a rule, and policies that nobody can meet.
enum Contradictions {
    /// In the order of the files and their lines.
    static func errors(_ layer: PolicyLayer, _ files: [ParsedFile]) -> [PolicyProblem] {
        (missingRules(layer, files) + unmeetable(layer)).inOrder(of: files.map(\.name))
    }

    private static func missingRules(
        _ layer: PolicyLayer, _ files: [ParsedFile]
    ) -> [PolicyProblem] {
        let known = files.reduce(into: Set<String>()) { $0.formUnion($1.ruleNames) }
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

    private static func unmeetable(_ layer: PolicyLayer) -> [PolicyProblem] {
        guard layer.rules.contains(where: { isSuspect($0, layer.rules) }) else { return [] }
        var found: [PolicyProblem] = []
        for subject in layer.subjects {
            let policy = layer.policy(layer.settings(for: subject))
            for rule in policy.customRules {
                guard let wrong = cannotBeMet(rule, policy) else { continue }
                let problem = PolicyProblem(
                    file: rule.file, line: rule.line, key: "[Rule \(rule.name)]", wrong: wrong,
                    right: "a rule that some passcode meets")
                if !found.contains(problem) { found.append(problem) }
            }
        }
        return found
    }

    // Whether the rule could be one for anybody: it saves asking for each section.
    private static func isSuspect(_ rule: CustomRule, _ rules: [CustomRule]) -> Bool {
        var everything = Policy.builtIn
        everything.digitsOnly = true
        everything.customRules = rules
        return cannotBeMet(rule, everything) != nil
    }

    // As far as it can be told from the text of a pattern.
    private static func cannotBeMet(_ rule: CustomRule, _ policy: Policy) -> String? {
        switch rule.test {
        case .dictionary: return nil
        case .rejects(let pattern):
            if [".", ".*", ".+", "^", "$", "^.*", ".*$", "^.*$", "^.+$", "()"].contains(pattern) {
                return "nobody can meet it: every passcode matches"
            }
            let wanted = policy.customRules.first { $0.test == .matches(pattern) }
            return wanted.map { "nobody can meet it: [Rule \($0.name)] wants what it refuses" }
        case .matches(let pattern):
            if pattern == "^$" { return "nobody can meet it: no passcode is empty" }
            guard policy.digitsOnly, wantsLetters(pattern) else { return nil }
            return "nobody can meet it: DigitsOnly allows nothing that matches"
        }
    }

    private static func wantsLetters(_ pattern: String) -> Bool {
        var rest = Array(pattern.utf8)[...]
        if rest.first == UInt8(ascii: "^") { rest.removeFirst() }
        if rest.last == UInt8(ascii: "$") { rest.removeLast() }
        if rest.last == UInt8(ascii: "+") { rest.removeLast() }
        let isWord = !rest.isEmpty && rest.allSatisfy { 0x61...0x7A ~= $0 | 0x20 }
        return isWord || lettersOnly.contains { $0.utf8.elementsEqual(rest) }
    }

    private static let lettersOnly = [
        "[a-z]", "[A-Z]", "[a-zA-Z]", "[A-Za-z]", "[[:alpha:]]", "[[:lower:]]", "[[:upper:]]",
        "[[:punct:]]",
    ]
}

extension Setting {
    /// The setting alone, for whoever has to look at its value.
    var policy: Policy {
        var policy = Policy.builtIn
        change(&policy)
        return policy
    }
}

extension PolicyLayer {
    /// Somebody for each section.
    var subjects: [PolicySubject] {
        [PolicySubject()] + sections.keys.compactMap(\.subject)
    }
}

extension Scope {
    /// Somebody for whom the section is, alone; nil for everybody's.
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
