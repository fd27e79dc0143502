/// The texts that `[Texts]` may replace, as far as a look at policy files needs them.
public struct ReplaceableTexts: Sendable {
    /// How many positions each has, by its id.
    let counts: [String: Int]
    /// The numbers of the positions in a text.
    let positions: @Sendable (String) -> Set<Int>

    public init(counts: [String: Int], positions: @escaping @Sendable (String) -> Set<Int>) {
        self.counts = counts
        self.positions = positions
    }
}

/// Everything that is wrong with policy files, not only the first problem that stops the daemon.
public enum PolicyLint {
    /// The files are laid over each other in the order given, as files of one author. Without
    /// `known`, texts are not checked.
    public static func problems(
        in files: [PolicyFile], texts known: ReplaceableTexts? = nil
    ) -> [PolicyProblem] {
        // Nobody writes more than this by hand.
        if let problem = PolicyBook.tooLong(files) { return [problem] }
        let parsed = files.map(PolicyParser.parse)
        let layer = PolicyLayer(parsed)
        let problems =
            parsed.flatMap(\.problems) + Contradictions.errors(layer, parsed)
            + Doubts(layer).found + textsInDoubt(parsed, known) + rulesInDoubt(layer)
            + AppDoubts.found(layer)
        return problems.inOrder(of: files.map(\.name))
    }

    private static func textsInDoubt(
        _ files: [ParsedFile], _ known: ReplaceableTexts?
    ) -> [PolicyProblem] {
        guard let known else { return [] }
        let names = known.counts.keys.sorted()
        return files.flatMap { file in
            file.texts.compactMap { text -> PolicyProblem? in
                func doubt(_ wrong: String, _ right: String) -> PolicyProblem {
                    PolicyProblem(
                        .warning, file: file.name, line: text.line, key: text.id, wrong: wrong,
                        right: right)
                }
                guard let count = known.counts[text.id] else {
                    let meant = Nearness.inFile.nearest(to: Array(text.id.utf8), among: names)
                    return doubt(
                        "no text has this id",
                        meant.map { "perhaps \($0)" } ?? "an id that 'appvault texts' lists")
                }
                // People would read the braces.
                guard let missing = known.positions(text.text).filter({ $0 > count }).min() else {
                    return nil
                }
                let right =
                    switch count {
                    case 0: "a text without positions"
                    case 1: "{1}"
                    default: "{1} to {\(count)}"
                    }
                return doubt("this text has no {\(missing)}", right)
            }
        }
    }

    private static func rulesInDoubt(_ layer: PolicyLayer) -> [PolicyProblem] {
        var named: Set<String> = []
        for subject in layer.subjects {
            let policy = layer.policy(layer.settings(for: subject))
            named.formUnion(policy.customRules.map(\.name))
        }
        return layer.rules.flatMap { rule -> [PolicyProblem] in
            func doubt(_ wrong: String, _ right: String) -> PolicyProblem {
                PolicyProblem(
                    .warning, file: rule.file, line: rule.line, key: "[Rule \(rule.name)]",
                    wrong: wrong, right: right)
            }
            let unused = doubt("nobody's Rules name it", "its name in a line Rules=, or no section")
            let nameless = doubt("people will read its name", "Display=TEXT")
            return (named.contains(rule.name) ? [] : [unused])
                + (rule.show && rule.display == rule.name ? [nameless] : [])
        }
    }
}
