import Posix
import Secrets
import StoreKeeping
import Wire
import Words

/// What a person did on a screen.
struct SheetAnswer {
    let button: Button
    /// One for each field.
    var values: [SecretBox] = []
    /// Which of the items, by its place.
    var item: Int?
}

/// What the rules say of what stands in a field that is judged.
typealias SheetJudge = @LoopActor (SecretBox) -> [Checklist.Entry]

extension Sheet {
    /// Reading takes longer than typing.
    var wait: Int32 { document.isEmpty ? Limits.personWait : Limits.exchangeWait }
}

extension Conversation {
    func present(_ sheet: Sheet) async throws(Interruption) -> SheetAnswer {
        try await present(sheet, judging: nil)
    }

    /// What was typed into the only field of a screen.
    func secret(_ sheet: Sheet) async throws(Interruption) -> SecretBox {
        guard let value = try await present(sheet).values.first else {
            throw .gone(.notUnderstood(.unknownValue))
        }
        return value
    }

    /// What was typed into the fields of a screen, one for each.
    func passcodes(
        _ sheet: Sheet, judging judge: SheetJudge? = nil
    ) async throws(Interruption) -> [TypedPasscode] {
        let values = try await present(sheet, judging: judge).values
        guard values.count == sheet.fields.count else {
            throw .gone(.notUnderstood(.unknownValue))
        }
        return try refusing { () throws(Refusal) in
            var typed: [TypedPasscode] = []
            for value in values { typed.append(try TypedPasscode(value, from: caller.source)) }
            return typed
        }
    }

    /// A screen as lines and questions.
    func presentByLines(_ sheet: Sheet) async throws(Interruption) -> SheetAnswer {
        for line in sheet.lines {
            switch line.role {
            case .error: try await show(line.message, .error)
            case .heading, .paragraph, .item, .link, .hint, .page: try await show(line.message)
            }
        }
        for text in sheet.document where text.role != .page {
            for piece in text.pieces { try await show(.written(piece)) }
        }
        var answer = SheetAnswer(button: sheet.ways[0].button)
        for field in sheet.fields {
            answer.values.append(try await ask(field.label, field.purpose))
        }
        if !sheet.items.isEmpty {
            for (number, item) in sheet.items.enumerated() {
                let mark = item.isCurrent ? "* " : ""
                try await show(.written(Array("\(mark)\(number + 1)  ".utf8) + item.title))
            }
            // Only what Enter does: numbers lead to nothing else where nothing is drawn.
            answer.item = try await pick(of: sheet.items.count, sheet.question)
            return answer
        }
        let ways = sheet.ways.filter { $0.role != .cancel }
        if !sheet.fields.isEmpty { return answer }
        // Enter alone removes nothing, and joins nothing.
        guard ways.count > 1 || ways[0].role != .primary else {
            _ = try await ask(sheet.question, .acknowledge)
            return answer
        }
        switch try await choose(sheet.question) {
        case .yes: return answer
        case .no where ways.count > 1: return SheetAnswer(button: ways[1].button)
        case .no, .neither: throw .refused(.cancelled)
        }
    }
}

extension Conversation {
    /// Asks for a number from 1 on; anything else is no choice.
    private func pick(of count: Int, _ question: Message) async throws(Interruption) -> Int {
        let typed = try await ask(question, .choice).take()
        let number = typed?.withBytes { bytes in
            Int(String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self))
        }
        guard let number = number ?? nil, 1...count ~= number else { throw .refused(.cancelled) }
        return number - 1
    }
}

extension Screen.Text {
    /// In pieces that are as long as a line of a message may be, cut between words.
    fileprivate var pieces: [[UInt8]] {
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
