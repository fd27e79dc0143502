/// What is wrong with files that are each well written: names without a rule, and policies that nobody can meet.
enum Contradictions {
    /// In the order of the files and their lines.
    static func errors(_ layer: PolicyLayer, _ files: [ParsedFile]) -> [PolicyProblem] {
        (missingRules(layer, files) + unmeetable(layer) + tooManyRules(layer)).inOrder(
            of: files.map(\.name))
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

    // Linear in the files: whoever asks what a file would change may send one of their own.
    private static func unmeetable(_ layer: PolicyLayer) -> [PolicyProblem] {
        let suspects = Suspects(layer.rules)
        guard !suspects.isEmpty else { return [] }
        let choices = Set(
            layer.subjects.map { subject in
                let policy = layer.policyWithoutRules(layer.settings(for: subject))
                return Choice(rules: policy.rules, digitsOnly: policy.digitsOnly)
            })
        var found: [String: PolicyProblem] = [:]
        for choice in choices {
            for (rule, wrong) in suspects.cannotBeMet(choice.rules, choice.digitsOnly) {
                found[rule.name + wrong] = PolicyProblem(
                    file: rule.file, line: rule.line, key: "[Rule \(rule.name)]", wrong: wrong,
                    right: "a rule that some passcode meets")
            }
        }
        return Array(found.values)
    }

    private struct Choice: Hashable {
        let rules: RuleChoice
        let digitsOnly: Bool
    }

}

/// Rules that nobody can meet, alone or beside others, as far as that can be told from the text of a pattern.
private struct Suspects {
    private var rules: [String: CustomRule] = [:]
    // The rules that want a pattern.
    private var wanting: [String: [String]] = [:]

    init(_ all: [CustomRule]) {
        for rule in all {
            if case .matches(let pattern) = rule.test {
                wanting[pattern, default: []].append(rule.name)
            }
        }
        for rule in all {
            let isSuspect =
                switch rule.test {
                case .dictionary: false
                case .matches(let pattern): pattern == "^$" || Self.wantsLetters(pattern)
                case .rejects(let pattern):
                    Self.matchAll.contains(pattern) || wanting[pattern] != nil
                }
            if isSuspect { rules[rule.name] = rule }
        }
    }

    var isEmpty: Bool { rules.isEmpty }

    func cannotBeMet(
        _ choice: RuleChoice, _ digitsOnly: Bool
    ) -> [(rule: CustomRule, wrong: String)] {
        let chosen: [CustomRule]
        let isChosen: (String) -> Bool
        switch choice {
        case .all:
            chosen = Array(rules.values)
            isChosen = { _ in true }
        case .named(let names):
            chosen = names.compactMap { rules[$0] }
            let all = Set(chosen.isEmpty ? [] : names)
            isChosen = { all.contains($0) }
        }
        return chosen.compactMap { rule in
            cannotBeMet(rule, digitsOnly, isChosen).map { (rule, "nobody can meet it: \($0)") }
        }
    }

    private func cannotBeMet(
        _ rule: CustomRule, _ digitsOnly: Bool, _ isChosen: (String) -> Bool
    ) -> String? {
        switch rule.test {
        case .dictionary: return nil
        case .rejects(let pattern):
            if Self.matchAll.contains(pattern) { return "every passcode matches" }
            let wanted = wanting[pattern]?.first(where: isChosen)
            return wanted.map { "[Rule \($0)] wants what it refuses" }
        case .matches(let pattern):
            if pattern == "^$" { return "no passcode is empty" }
            return digitsOnly ? "DigitsOnly allows nothing that matches" : nil
        }
    }

    private static let matchAll: Set = [
        ".", ".*", ".+", "^", "$", "^.*", ".*$", "^.*$", "^.+$", "()",
    ]

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
