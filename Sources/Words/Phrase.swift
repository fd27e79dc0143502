/// A text and what stands at its positions. It gets its words only when it is known who reads it.
package struct Phrase: Equatable, Sendable {
    package enum Argument: Equatable, Sendable {
        case text(String)
        /// Other texts, one after another with commas.
        case phrases([Phrase])
    }

    package let id: TextID
    package let arguments: [Argument]

    package init(_ id: TextID, _ arguments: Argument...) {
        self.id = id
        self.arguments = arguments
    }

    /// As the journal has it: built-in English, whatever anybody's language.
    package var english: String { Voice.english.text(self) }

    /// A wait, as a person says it.
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
