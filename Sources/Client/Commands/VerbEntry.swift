/// What is written about one verb. Parsing, help and the manual page use it.
package struct VerbEntry: Equatable, Sendable {
    package enum Group: String, CaseIterable, Sendable {
        case store = "your store"
        case people = "several people"
        case fingers = "your fingers"
        case records = "what is in it"
        case apps = "your applications"
        case policy = "the rules"
        case fleet = "your organisation"
        case mending = "mending"
        case tool = "this tool"
    }

    package struct Example: Equatable, Sendable {
        package var command: String
        package var meaning: String
    }

    /// One field of what --json prints; `list[].name` stands in each object of a list.
    package struct Field: Equatable, Sendable {
        package var name: String
        package var meaning: String

        init(_ name: String, _ meaning: String) {
            self.name = name
            self.meaning = meaning
        }
    }

    package var words: [String]
    package var group: Group
    /// The operands, with [] around optional ones and ... after one that may be repeated.
    package var operands: [String]
    package var options: [Option] = []
    package var summary: String
    package var text: [String]
    package var json: [Field] = VerbEntry.done
    package var examples: [Example] = []

    package var name: String { words.joined(separator: " ") }
    var fewest: Int { operands.count { !$0.hasPrefix("[") } }
    var most: Int { operands.last?.hasSuffix("...") == true ? .max : operands.count }

    package var synopsis: String {
        var parts = ["appvault", name]
        var shown: Set<Option> = [.user]
        for option in options where !shown.contains(option) {
            let choice = Option.exclusive.first { $0.contains(option) } ?? [option]
            shown.formUnion(choice)
            parts.append("[" + choice.map(\.entry.usage).joined(separator: "|") + "]")
        }
        return (parts + operands).joined(separator: " ")
    }

    /// The fields of a verb that reports only what it did.
    package static let done = [
        Field("action", "the verb"),
        Field("result", "`done`"),
        Field("message", "the line that a person would read"),
    ]
}

extension [VerbEntry] {
    /// The verb of exactly these words.
    func named(_ words: [String]) -> VerbEntry? {
        first { $0.words == words }
    }

    /// The verbs of two words whose first word is this one.
    func beginning(with word: String) -> [VerbEntry] {
        filter { $0.words.count > 1 && $0.words[0] == word }
    }
}
