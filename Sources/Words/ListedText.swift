import ToolTexts

/// A text that `appvault texts` lists, that catalogues translate and that `[Texts]` replaces. It is
/// one of the daemon's own or one of the command line's. The command line asks the daemon for the
/// list before it shows a text.
package struct ListedText: Sendable {
    package let id: String
    package let english: String
    /// What each position stands for.
    package let positions: [String]

    package init(_ text: TextID) {
        id = text.id
        english = text.english
        positions = text.row.positions
    }

    private init(_ text: ToolText) {
        id = text.id
        english = text.english
        positions = text.row.positions
    }

    package init?(id: String) {
        if let text = TextID(id: id) {
            self.init(text)
        } else if let text = ToolText(id: id) {
            self.init(text)
        } else {
            return nil
        }
    }

    package static var all: [ListedText] {
        TextID.allCases.map { ListedText($0) } + ToolText.allCases.map { ListedText($0) }
    }
}
