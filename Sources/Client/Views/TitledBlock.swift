import ToolTexts

/// Lines with a title each; the texts are aligned.
struct TitledBlock {
    private let paint: Voice.Paint
    private let words: OwnWords
    private var rows: [(title: [UInt8], text: [UInt8])] = []

    init(_ paint: Voice.Paint, _ words: OwnWords) {
        self.paint = paint
        self.words = words
    }

    mutating func add(_ title: ToolText, _ text: [UInt8]) {
        rows.append((words(title), text))
    }

    /// Titles in English get the same width in every block. Longer titles of other languages get
    /// what they need.
    var bytes: [UInt8] {
        let width = max(11, (rows.map { Layout.width($0.title) }.max() ?? 0) + 1)
        return rows.reduce(into: []) { block, row in
            let title = paint.painted(String(decoding: row.title, as: UTF8.self), .faint)
            block +=
                Text(title, Layout.spaces(width - Layout.width(row.title)), row.text, "\n").bytes
        }
    }
}
