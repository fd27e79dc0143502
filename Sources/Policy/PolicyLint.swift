/// Everything that is wrong with policy files, not only the first problem that stops the daemon.
public enum PolicyLint {
    /// The files are laid over each other in the order given, as files of one author. With the ids
    /// of all texts in `known`, texts with other ids are reported; without, they are not checked.
    public static func problems(
        in files: [PolicyFile], texts known: Set<String> = []
    ) -> [PolicyProblem] {
        // Nobody writes more than this by hand.
        if let problem = PolicyBook.tooLong(files) { return [problem] }
        let parsed = files.map(PolicyParser.parse)
        let layer = PolicyLayer(parsed)
        let problems =
            parsed.flatMap(\.problems) + Contradictions.errors(layer, parsed)
            + Doubts(layer).found + unknownTexts(parsed, known) + rulesInDoubt(layer)
        return problems.inOrder(of: files.map(\.name))
    }

    private static func unknownTexts(
        _ files: [ParsedFile], _ known: Set<String>
    ) -> [PolicyProblem] {
        guard !known.isEmpty else { return [] }
        let names = known.sorted()
        return files.flatMap { file in
            file.texts.filter { !known.contains($0.id) }.map { text in
                let meant = Nearness.inFile.nearest(to: Array(text.id.utf8), among: names).map {
                    "perhaps \($0)"
                }
                return PolicyProblem(
                    .warning, file: file.name, line: text.line, key: text.id,
                    wrong: "no text has this id",
                    right: meant ?? "an id that 'appvault texts' lists")
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
