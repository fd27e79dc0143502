import Words

/// When the organisation's server was asked last, and what came of it.
struct LastFetch: Equatable, Sendable {
    /// Seconds since 1970.
    var at: UInt64
    /// Nil where all is well.
    var problem: Phrase?

    static let mostBytes = 16 << 10

    init(at: UInt64, problem: Phrase?) {
        self.at = at
        // Kept as plain texts, each on a line.
        self.problem = problem.map { phrase in
            Phrase(
                phrase.id,
                arguments: phrase.arguments.map { argument in
                    switch argument {
                    case .text(let text), .written(let text): .text(Text.argument(text))
                    case .phrases(let phrases):
                        .text(Text.argument(phrases.map(\.english).joined(separator: ", ")))
                    }
                })
        }
    }

    /// From what was kept; nil where that says nothing, such as a text of another release.
    init?(_ text: [UInt8]) {
        let lines = String(decoding: text, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
        guard let at = UInt64(lines[0]) else { return nil }
        self.at = at
        guard lines.count > 1 else { return }
        guard let id = TextID(id: String(lines[1])) else { return nil }
        problem = Phrase(id, arguments: lines.dropFirst(2).map { .text(String($0)) })
    }

    func render() -> [UInt8] {
        var lines = [String(at)]
        if let problem {
            lines.append(problem.id.id)
            for case .text(let text) in problem.arguments { lines.append(text) }
        }
        return Array(lines.joined(separator: "\n").utf8)
    }
}
