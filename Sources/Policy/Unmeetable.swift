/// Finds rules that no passcode can meet, alone or together with others, as far as the text of a
/// pattern shows.
struct Unmeetable {
    private struct Known {
        let rule: CustomRule
        let place: Int
        let reach: PatternReach?
        let ofDigits: PatternReach?
    }

    private var known: [String: Known] = [:]
    // For each pattern, the rules that require it.
    private var wanting: [String: [String]] = [:]

    init(_ rules: [CustomRule]) {
        for rule in rules {
            guard case .matches(let pattern) = rule.test else { continue }
            wanting[pattern, default: []].append(rule.name)
        }
        for (place, rule) in rules.enumerated() {
            let reach = PatternReach(rule.test, of: .any)
            guard reach != nil || isRefused(rule.test) else { continue }
            known[rule.name] = Known(
                rule: rule, place: place, reach: reach,
                ofDigits: PatternReach(rule.test, of: .digits))
        }
    }

    // Although the form of its pattern is not known, the rule may refuse everything, or what
    // another rule requires.
    private func isRefused(_ test: CustomRule.Test) -> Bool {
        switch test {
        case .dictionary, .matches: false
        case .rejects(let pattern): Self.matchAll.contains(pattern) || wanting[pattern] != nil
        }
    }

    var isEmpty: Bool { known.isEmpty }

    /// A rule, and why no passcode meets it.
    typealias Found = (rule: CustomRule, wrong: String)

    /// What some rules leave together. It is found once, so that checking a policy against it costs
    /// the same with one rule and with a thousand.
    struct Together {
        fileprivate(set) var found: [Found] = []
        fileprivate var letters: PatternLetters
        fileprivate var shortest = 0
        fileprivate var longest: (count: Int, rule: CustomRule)?
        /// Groups of which no character is left, each with the rule that excluded its last one.
        fileprivate var lost: [(group: PatternLetters, rule: CustomRule)] = []
        fileprivate var narrowed: CustomRule?
    }

    func together(_ choice: RuleChoice, digitsOnly: Bool) -> Together {
        let chosen = chosen(choice)
        let isChosen = Set(chosen.map(\.rule.name)).contains
        var together = Together(letters: digitsOnly ? .digits : .any)
        for known in chosen {
            if let wrong = alone(known, isChosen, digitsOnly) {
                together.found.append((known.rule, wrong))
            }
        }
        // If a rule is impossible alone, nothing more needs to be said.
        guard together.found.isEmpty else { return together }
        for known in chosen { together.add(known.rule, digitsOnly ? known.ofDigits : known.reach) }
        guard together.found.isEmpty else { return together }
        let reaches = chosen.compactMap { known in
            (digitsOnly ? known.ofDigits : known.reach).map { (known.rule, $0) }
        }
        for (rule, reach) in reaches where !reach.needs.allSatisfy(together.letters.meets) {
            together.found.append((rule, "other rules refuse what it wants"))
        }
        together.hold(
            reaches.map { ($0, $1.first) }, "it requires another beginning than another rule")
        together.hold(reaches.map { ($0, $1.last) }, "it requires another ending than another rule")
        if let longest = together.longest, longest.count < together.shortest {
            together.found.append((longest.rule, "another rule wants more characters"))
        }
        return together
    }

    private func chosen(_ choice: RuleChoice) -> [Known] {
        switch choice {
        case .all: return known.values.sorted { $0.place < $1.place }
        case .named(let names):
            return Set(names).compactMap { known[$0] }.sorted { $0.place < $1.place }
        }
    }

    private func alone(
        _ known: Known, _ isChosen: (String) -> Bool, _ digitsOnly: Bool
    ) -> String? {
        switch known.rule.test {
        case .dictionary: return nil
        case .rejects(let pattern):
            if known.reach?.isImpossible == true || Self.matchAll.contains(pattern) {
                return "every passcode matches"
            }
            if let wanted = wanting[pattern]?.first(where: isChosen) {
                return "[Rule \(wanted)] wants what it refuses"
            }
            return digitsOnly && known.ofDigits?.isImpossible == true
                ? "DigitsOnly allows nothing else" : nil
        case .matches:
            if known.reach?.longest == 0 { return "no passcode is empty" }
            if known.reach?.isImpossible == true { return "no passcode has such characters" }
            return digitsOnly && known.ofDigits?.isImpossible == true
                ? "DigitsOnly allows nothing that matches" : nil
        }
    }

    private static let matchAll: Set = ["^.*$", "^.+$", "()"]
}

extension Unmeetable.Together {
    fileprivate static let groups: [PatternLetters] = [.digits, .upper, .lower, .special]

    fileprivate mutating func add(_ rule: CustomRule, _ reach: PatternReach?) {
        guard let reach else { return }
        shortest = max(shortest, reach.shortest)
        if let most = reach.longest, most < longest?.count ?? .max { longest = (most, rule) }
        let left = letters.intersection(reach.letters)
        guard left != letters, found.isEmpty else { return }
        if left.isEmpty { found.append((rule, "beside other rules no character is left")) }
        for group in Self.groups where letters.meets(group) && !left.meets(group) {
            lost.append((group, rule))
        }
        letters = left
        narrowed = rule
    }

    fileprivate mutating func hold(
        _ rules: [(rule: CustomRule, places: [PatternLetters])], _ wrong: String
    ) {
        var held: [PatternLetters] = []
        for (rule, places) in rules {
            for (place, letters) in places.enumerated() {
                if place == held.count { held.append(self.letters) }
                held[place] = held[place].intersection(letters)
                guard !held[place].isEmpty else { return found.append((rule, wrong)) }
            }
        }
    }

    /// What is unmeetable together with the keys of a policy.
    func beside(_ policy: Policy) -> [Unmeetable.Found] {
        guard found.isEmpty else { return found }
        var wrong: [Unmeetable.Found] = []
        if let longest, longest.count < Int(policy.minLength) {
            wrong.append((longest.rule, "\(Self.atMost(longest.count)), and MinLength wants more"))
        }
        let unique = Int(policy.minUniqueCharacters)
        if let longest, longest.count < unique {
            wrong.append(
                (longest.rule, "\(Self.atMost(longest.count)), and MinUniqueCharacters wants more"))
        } else if let narrowed, let count = letters.count, count < unique {
            wrong.append((narrowed, "it leaves fewer characters than MinUniqueCharacters wants"))
        }
        // With DigitsOnly the following keys do not count.
        if policy.digitsOnly { return wrong }
        let wanted: [(PatternLetters, Bool, String)] = [
            (.digits, policy.requireDigit, "RequireDigit"),
            (.lower, policy.requireLower, "RequireLower"),
            (.upper, policy.requireUpper, "RequireUpper"),
            (.special, policy.requireSpecial, "RequireSpecial"),
        ]
        for (group, isWanted, key) in wanted where isWanted {
            if let rule = lost.first(where: { $0.group == group })?.rule {
                wrong.append((rule, "it leaves nothing that \(key) wants"))
            }
        }
        if let last = lost.last, Self.groups.count - lost.count < Int(policy.minCharacterGroups) {
            wrong.append((last.rule, "it leaves fewer groups than MinCharacterGroups wants"))
        }
        return wrong
    }

    private static func atMost(_ count: Int) -> String {
        count == 1 ? "one character matches at most" : "\(count) characters match at most"
    }
}
