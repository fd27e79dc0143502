import Wire

/// A person's answer to a yes-or-no question. Enter alone, for example, is neither.
package enum Choice: Equatable, Sendable {
    case yes, no, neither
}

/// The texts and the language in which the daemon speaks to one person. A request takes its voice
/// once, so that all its lines match, even if texts are reloaded meanwhile.
package struct Voice: Sendable {
    package static let english = Voice(texts: Texts(), language: .english)

    package let texts: Texts
    package let language: Language

    package init(texts: Texts, language: Language) {
        self.texts = texts
        self.language = language
    }

    /// The finished text, fit for a terminal.
    package func text(_ phrase: Phrase) -> String {
        String(decoding: bytes(phrase), as: UTF8.self)
    }

    package func bytes(_ phrase: Phrase) -> [UInt8] {
        Text.clean(Texts.fill(texts.template(phrase.id, language).text, arguments(phrase)))
    }

    /// Every text with its positions unfilled: what an administrator can replace.
    package var list: TextList {
        TextList(
            texts: ListedText.all.map { text in
                let template = texts.template(text, language)
                return TextList.Entry(
                    id: Array(text.id.utf8), text: Text.clean(template.text),
                    origin: template.origin)
            })
    }

    /// What an answer to a choice means: a word for yes or no in the person's language or in
    /// English, or something else.
    package func choice(_ answer: Span<UInt8>) -> Choice {
        if isAmong(.answerYes, answer) { return .yes }
        return isAmong(.answerNo, answer) ? .no : .neither
    }

    private func isAmong(_ id: TextID, _ answer: Span<UInt8>) -> Bool {
        [id.english, texts.template(id, language).text].contains { words in
            words.utf8.split(separator: UInt8(ascii: " ")).contains { word in
                word.count == answer.count
                    && zip(word, answer.indices).allSatisfy { byte, index in
                        Self.lower(byte) == Self.lower(answer[index])
                    }
            }
        }
    }

    private static func lower(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    func arguments(_ phrase: Phrase) -> [String] {
        phrase.arguments.map { argument in
            switch argument {
            case .text(let text): Text.argument(text)
            case .written(let text): text
            case .phrases(let phrases): phrases.map { text($0) }.joined(separator: ", ")
            }
        }
    }
}
