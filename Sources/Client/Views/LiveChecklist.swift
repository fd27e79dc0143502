import Posix
import ToolTexts
import Wire

/// The checklist that changes while a person types: rules above, the line that is typed below, as dots.
struct LiveChecklist: ~Copyable {
    enum Outcome {
        case judged(Checklist)
        case cancelled
        case tooLong
    }

    private let view: ChecklistView
    private let judge:
        (_ candidate: borrowing SecretBuffer, _ custom: Bool) throws(ClientError) -> Checklist
    private var editor = LineEditor(limit: Limits.secret)
    private var candidate = SecretBuffer(capacity: 8192)
    private var list = Checklist(entries: [])
    /// Lines on the screen above the one with the cursor.
    private var drawn = 0
    private var outcome = Outcome.cancelled

    init(
        _ view: ChecklistView,
        judge: @escaping (borrowing SecretBuffer, Bool) throws(ClientError) -> Checklist
    ) {
        self.view = view
        self.judge = judge
    }

    mutating func run(_ terminal: borrowing Terminal) throws(ClientError) -> Outcome {
        var typed = SecretBuffer(capacity: 4096)
        var failure: ClientError?
        let end = terminal.keys(into: &typed) { event, typed in
            do throws(ClientError) {
                return try handle(event, &typed, terminal)
            } catch {
                failure = error
                return .ends
            }
        }
        if let failure {
            terminal.write([0x0A])
            throw failure
        }
        switch end {
        case .finished: return outcome
        case .endOfInput, .interrupted: return .cancelled
        }
    }

    private mutating func handle(
        _ event: Terminal.Event, _ typed: inout SecretBuffer, _ terminal: borrowing Terminal
    ) throws(ClientError) -> Terminal.Watching {
        switch event {
        case .resumed:
            // Draw below what a shell may have written meanwhile.
            drawn = 0
            candidate.removeAll()
            list = try judge(candidate, false)
        case .disturbed: break
        case .typed:
            defer { typed.removeAll() }
            var changed = false
            for index in 0..<typed.count {
                switch editor.take(typed[index], into: &candidate) {
                case .nothing: continue
                case .changed: changed = true
                case .enter: return try finish(terminal)
                case .end:
                    terminal.write([0x0A])
                    return .ends
                case .full:
                    terminal.write([0x0A])
                    outcome = .tooLong
                    return .ends
                }
            }
            guard changed else { return .goesOn }
            if LineEditor.isWhole(candidate) { list = try judge(candidate, false) }
        }
        draw(terminal)
        return .goesOn
    }

    private mutating func finish(_ terminal: borrowing Terminal) throws(ClientError)
        -> Terminal.Watching
    {
        list = try judge(candidate, true)
        draw(terminal, isFinal: true)
        terminal.write([0x0A])
        outcome = .judged(list)
        return .ends
    }

    // MARK: Drawing

    private mutating func draw(_ terminal: borrowing Terminal, isFinal: Bool = false) {
        let columns = max(20, terminal.columns == 0 ? 80 : terminal.columns)
        let rows = terminal.rows == 0 ? 24 : terminal.rows
        let isBlank = candidate.isEmpty && !isFinal
        var lines = list.entries.flatMap {
            view.lines($0, isBlank: isBlank, columns: columns)
        }
        // Lines that have left the screen at the top cannot be drawn again.
        if lines.count > max(1, rows - 2) {
            let left = lines.count - max(1, rows - 3)
            lines =
                Array(lines.prefix(max(1, rows - 3))) + [
                    Text("  ", view.words(.checkMore, left)).bytes
                ]
        }
        var picture = Text("\r")
        if drawn > 0 { picture += "\u{1B}[\(drawn)A" }
        for line in lines { picture += Text("\u{1B}[K", line, "\r\n") }
        picture += Text("\u{1B}[J", prompt(columns))
        drawn = lines.count
        terminal.write(picture.bytes)
    }

    private func prompt(_ columns: Int) -> [UInt8] {
        let title = view.words(.checkLive)
        let room = columns - Layout.width(title) - 1
        let dots = min(max(1, room), LineEditor.characters(candidate))
        return Text(title, String(repeating: view.marks.dot, count: dots)).bytes
    }
}
