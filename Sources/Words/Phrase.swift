/// A text and the arguments for its positions. It becomes words only when it is known who reads it.
package struct Phrase: Equatable, Sendable {
    package enum Argument: Equatable, Sendable {
        case text(String)
        /// What somebody wrote to be read: as long as the line may be.
        case written(String)
        /// Other texts, one after another with commas.
        case phrases([Phrase])
    }

    package let id: TextID
    package let arguments: [Argument]

    package init(_ id: TextID, _ arguments: Argument...) {
        self.init(id, arguments: arguments)
    }

    package init(_ id: TextID, arguments: [Argument]) {
        self.id = id
        self.arguments = arguments
    }

    /// For the journal: the built-in English, whatever language people use.
    package var english: String { Voice.english.text(self) }

    /// A time to wait, in the unit that a person would use.
    package static func span(_ seconds: Int) -> Phrase {
        switch seconds {
        case ..<120: Phrase(.spanSeconds, .count(max(seconds, 1)))
        case ..<7200: Phrase(.spanMinutes, .count((seconds + 59) / 60))
        case ..<172_800: Phrase(.spanHours, .count((seconds + 3599) / 3600))
        default: Phrase(.spanDays, .count((seconds + 86_399) / 86_400))
        }
    }
}

extension Phrase.Argument {
    package static func count(_ number: some BinaryInteger) -> Self { .text(String(number)) }
    package static func phrase(_ phrase: Phrase) -> Self { .phrases([phrase]) }
}
