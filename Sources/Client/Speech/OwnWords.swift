import ToolTexts
import Wire

/// The tool's own words, in the person's language: a daemon that can be asked has them, replaced by the administrator's
/// where there are such; English otherwise, and for programs always.
final class OwnWords {
    /// Every text there is, by its id.
    typealias Texts = [[UInt8]: [UInt8]]

    /// Built in alone.
    static var english: OwnWords { OwnWords { [:] } }

    private let ask: () -> Texts
    private lazy var texts = ask()

    /// Asked once, and only when there is something to say.
    init(_ ask: @escaping () -> Texts) {
        self.ask = ask
    }

    static func texts(_ list: TextList) -> Texts {
        Dictionary(
            list.texts.map { ($0.id, Printable.escaped($0.text)) }, uniquingKeysWith: { $1 })
    }

    func callAsFunction(_ text: ToolText, _ arguments: any TextPiece...) -> [UInt8] {
        Positions.filled(template(text), arguments.map { Text($0).bytes })
    }

    /// For what is painted.
    func string(_ text: ToolText, _ arguments: any TextPiece...) -> String {
        String(
            decoding: Positions.filled(template(text), arguments.map { Text($0).bytes }),
            as: UTF8.self)
    }

    private func template(_ text: ToolText) -> [UInt8] {
        texts[Array(text.id.utf8)] ?? Array(text.english.utf8)
    }
}
