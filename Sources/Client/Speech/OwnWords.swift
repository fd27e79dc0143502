import ToolTexts
import Wire

/// The tool's own texts, in the person's language. They come from the daemon if it can be asked,
/// with the administrator's replacements. Otherwise, and for programs always, they are English.
package final class OwnWords {
    /// Every text there is, by its id.
    package typealias Texts = [[UInt8]: [UInt8]]

    /// Only the built-in texts.
    package static var english: OwnWords { OwnWords { [:] } }

    private let ask: () -> Texts
    private lazy var texts = ask()

    /// Calls `ask` once, when the first text is needed.
    package init(_ ask: @escaping () -> Texts) {
        self.ask = ask
    }

    static func texts(_ list: TextList) -> Texts {
        Dictionary(
            list.texts.map { ($0.id, Printable.escaped($0.text)) }, uniquingKeysWith: { $1 })
    }

    package func callAsFunction(_ text: ToolText, _ arguments: any TextPiece...) -> [UInt8] {
        Positions.filled(template(text), arguments.map { Text($0).bytes })
    }

    /// As a String, for text that is painted.
    func string(_ text: ToolText, _ arguments: any TextPiece...) -> String {
        String(
            decoding: Positions.filled(template(text), arguments.map { Text($0).bytes }),
            as: UTF8.self)
    }

    private func template(_ text: ToolText) -> [UInt8] {
        texts[Array(text.id.utf8)] ?? Array(text.english.utf8)
    }
}
