import Posix
import Wire

/// How the tool speaks: lower case, one line, what happened, then what to do.
struct Voice {
    enum Colour: String {
        case red = "31"
        case green = "32"
        case yellow = "33"
        case cyan = "36"
        case bold = "1"
        case faint = "2"
    }

    enum Paint {
        case coloured
        case plain

        func painted(_ text: String, _ colour: Colour) -> String {
            switch self {
            case .plain: text
            case .coloured: "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m"
            }
        }
    }

    private let output: Environment.Stream
    private let errors: Environment.Stream
    let outputPaint: Paint
    private let errorPaint: Paint
    private let canMoveCursor: Bool

    init(_ environment: Environment) {
        output = environment.output
        errors = environment.errors
        let wanted =
            (environment.variable("NO_COLOR") ?? []).isEmpty
            && environment.variable("TERM") != Array("dumb".utf8)
        canMoveCursor = environment.variable("TERM") != Array("dumb".utf8)
        outputPaint = wanted && output.isTerminal ? .coloured : .plain
        errorPaint = wanted && errors.isTerminal ? .coloured : .plain
    }

    func error(_ message: [UInt8]) {
        say(Printable.escaped(message), behind: "appvault: ", .red)
    }

    func hint(_ hint: [UInt8]) {
        guard !hint.isEmpty else { return }
        say(Printable.escaped(hint), behind: "hint: ", .cyan)
    }

    func refusal(_ refused: Refused, _ words: OwnWords) {
        let complete = refused.complete(words)
        error(complete.message)
        hint(complete.hint)
    }

    /// Shows a line of a conversation, or one beside it.
    func info(_ line: [UInt8]) {
        guard !line.isEmpty else { return }
        say(Printable.escaped(line), behind: "", .faint)
    }

    /// What a screen is about.
    func heading(_ line: [UInt8]) {
        let text = String(decoding: Printable.escaped(line), as: UTF8.self)
        printError(Text(errorPaint.painted(text, .bold), "\n").bytes)
    }

    func checklist(_ entries: [Checklist.Entry], _ marks: Marks) {
        let view = RuleLines(marks: marks, paint: errorPaint)
        let columns = errors.isTerminal ? ToolIO.columns(errors.descriptor) : 0
        for line in entries.flatMap({
            view.lines($0, isBlank: false, columns: columns > 0 ? columns : 80)
        }) {
            printError(line + [0x0A])
        }
    }

    /// The columns of standard error if a line on it can be drawn again; nil if it cannot.
    var redrawnColumns: Int? {
        guard errors.isTerminal, canMoveCursor else { return nil }
        let columns = ToolIO.columns(errors.descriptor)
        return columns > 0 ? columns : 80
    }

    /// Tells the person what a verb did.
    func done(_ line: [UInt8]) {
        guard !line.isEmpty else { return }
        print(Text(Printable.escaped(line), "\n").bytes)
    }

    /// Writes to standard output as it is.
    func print(_ bytes: [UInt8]) {
        try? ToolIO.write(output.descriptor, bytes.span)
    }

    /// Writes to standard error as it is.
    func printError(_ bytes: [UInt8]) {
        try? ToolIO.write(errors.descriptor, bytes.span)
    }

    func print(_ bytes: borrowing SecretBuffer) {
        bytes.withSpan { try? ToolIO.write(output.descriptor, $0) }
    }

    /// Throws if the value could not be written completely: its receiver must learn of that.
    func output(_ bytes: borrowing SecretBuffer) throws(PosixError) {
        try bytes.withSpan { span throws(PosixError) in
            try ToolIO.write(output.descriptor, span)
        }
    }

    /// Writes one line; on a terminal it is broken between words.
    private func say(_ line: [UInt8], behind title: String, _ colour: Colour) {
        var shown = line
        let columns = errors.isTerminal ? ToolIO.columns(errors.descriptor) : 0
        let width = title.utf8.count
        if columns > 20, width + Layout.width(line) > columns {
            // The title counts when the line is broken. It is painted afterwards.
            let lines = Layout.wrapped([UInt8](repeating: 0x78, count: width) + line, columns)
            shown = Array(lines.joined(separator: [0x0A]).dropFirst(width))
        }
        let painted =
            title.isEmpty ? "" : errorPaint.painted(String(title.dropLast()), colour) + " "
        try? ToolIO.write(errors.descriptor, Text(painted, shown, "\n").bytes.span)
    }
}
