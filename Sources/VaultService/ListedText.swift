import ToolTexts

/// A text that `appvault texts` lists, that catalogues translate and that `[Texts]` replaces: one of
/// the daemon's own, or of the command line's, which asks for the list before it speaks.
struct ListedText: Sendable {
    let id: String
    let english: String

    init(_ text: TextID) {
        id = text.rawValue
        english = text.english
    }

    private init(_ text: ToolText) {
        id = text.rawValue
        english = text.english
    }

    init?(id: String) {
        if let text = TextID(rawValue: id) {
            self.init(text)
        } else if let text = ToolText(rawValue: id) {
            self.init(text)
        } else {
            return nil
        }
    }

    static var all: [ListedText] {
        TextID.allCases.map { ListedText($0) } + ToolText.allCases.map { ListedText($0) }
    }
}
