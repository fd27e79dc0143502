import Posix
import Secrets
import Wire
import Words

/// One screen of a flow: what a person sees at once, and what they can do then. A front end that
/// draws shows it as it is; all others show it as lines and questions.
@LoopActor
struct Sheet {
    /// Its name in `[Texts]` and in style sheets.
    enum ID: String, CaseIterable, Sendable {
        case notice
        case createPasscode = "create.passcode"
        case licence
        case consent
    }

    struct Field {
        let label: Message
        let purpose: Ask.Purpose
        var isJudged = false
    }

    struct Way {
        let button: Button
        let role: Screen.Choice.Role
        let label: Message

        init(
            _ button: Button, _ role: Screen.Choice.Role = .primary, label: Message? = nil
        ) {
            (self.button, self.role) = (button, role)
            self.label = label ?? .button(button)
        }
    }

    struct Answer {
        let button: Button
        /// One for each field.
        var values: [SecretBox] = []
    }

    typealias Line = (role: Screen.Text.Role, message: Message)

    let id: ID
    let kind: Screen.Kind
    var picture = Screen.Picture.none
    /// Which one of a row, and how many there are.
    var step: (UInt8, UInt8) = (0, 0)
    var lines: [Line] = []
    /// What the organisation wrote, which is no text of ours.
    var document: [Screen.Text] = []
    var fields: [Field] = []
    var rules: [Checklist.Entry] = []
    /// What the rules say of what stands in a field that is judged.
    var judge: (@LoopActor (SecretBox) -> [Checklist.Entry])?
    /// The first is the one that Enter takes. Whoever cancels sends an abort, or takes the one for it.
    var ways: [Way]
    /// What is asked where nothing can be drawn: Enter where there is one way, yes or no where there are
    /// two.
    let question: Message

    init(_ id: ID, _ kind: Screen.Kind, ways: [Way], question: Message) {
        (self.id, self.kind, self.ways, self.question) = (id, kind, ways, question)
    }

    /// Reading takes longer than typing.
    var wait: Int32 { document.isEmpty ? Limits.personWait : Limits.exchangeWait }
}

extension Conversation {
    /// A screen as lines and questions.
    func presentByLines(_ sheet: Sheet) async throws(Interruption) -> Sheet.Answer {
        for line in sheet.lines {
            switch line.role {
            case .error: try await show(line.message, .error)
            case .heading, .paragraph, .item, .link, .hint, .page: try await show(line.message)
            }
        }
        for text in sheet.document where text.role != .page {
            for piece in text.pieces { try await show(.written(piece)) }
        }
        var answer = Sheet.Answer(button: sheet.ways[0].button)
        for field in sheet.fields {
            answer.values.append(try await ask(field.label, field.purpose))
        }
        let ways = sheet.ways.filter { $0.role != .cancel }
        if !sheet.fields.isEmpty { return answer }
        guard ways.count > 1 else {
            _ = try await ask(sheet.question, .acknowledge)
            return answer
        }
        switch try await choose(sheet.question) {
        case .yes: return answer
        case .no: return Sheet.Answer(button: ways[1].button)
        case .neither: throw .refused(.cancelled)
        }
    }
}

extension Screen.Text {
    /// In pieces that are as long as a line of a message may be, cut between words.
    var pieces: [[UInt8]] {
        var pieces: [[UInt8]] = []
        var rest = text[...]
        while rest.count > Limits.line {
            let head = rest.prefix(Limits.line)
            let cut = head.lastIndex(of: 0x20) ?? Self.characterEnd(head)
            pieces.append(Array(rest[..<cut]))
            rest = rest[cut...].drop { $0 == 0x20 }
        }
        if !rest.isEmpty { pieces.append(Array(rest)) }
        return pieces
    }

    /// Before a character that this cut goes through.
    private static func characterEnd(_ head: ArraySlice<UInt8>) -> Int {
        head.lastIndex { $0 & 0xC0 != 0x80 }.flatMap { $0 > head.startIndex ? $0 : nil }
            ?? head.endIndex
    }
}
