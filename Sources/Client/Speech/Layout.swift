/// Lines that fit a terminal.
enum Layout {
    /// How many columns a text takes. If in doubt, it is one too many rather than one too few.
    static func width(_ text: [UInt8]) -> Int {
        String(decoding: text, as: UTF8.self).unicodeScalars.reduce(0) { $0 + width($1) }
    }

    private static func width(_ scalar: Unicode.Scalar) -> Int {
        switch scalar.value {
        case 0x300...0x36F, 0x200B...0x200F: 0
        case 0x1100...0x115F, 0x2E80...0xABFF, 0xAC00...0xD7FF, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0x1F000...:
            2
        default: 1
        }
    }

    /// Breaks at spaces. A word that is too long by itself is not broken.
    static func wrapped(_ text: [UInt8], _ columns: Int) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        var line: [UInt8] = []
        for word in text.split(separator: 0x20) {
            if !line.isEmpty, width(line) + 1 + width(Array(word)) > columns {
                lines.append(line)
                line = []
            }
            if !line.isEmpty { line.append(0x20) }
            line += word
        }
        if !line.isEmpty || lines.isEmpty { lines.append(line) }
        return lines
    }

    /// Wrapped; every line but the first is indented.
    static func hanging(_ text: [UInt8], indent: Int, columns: Int) -> [UInt8] {
        let lines = wrapped(text, max(20, columns - indent))
        return Array(lines.joined(separator: [0x0A] + spaces(indent)))
    }

    static func padded(_ text: [UInt8], _ columns: Int) -> [UInt8] {
        text + spaces(columns - width(text))
    }

    static func spaces(_ count: Int) -> [UInt8] {
        [UInt8](repeating: 0x20, count: max(0, count))
    }

    /// One line of fields for a program: tabs between them, control characters escaped.
    static func fields(_ fields: [[UInt8]]) -> [UInt8] {
        Array(fields.map(Printable.escaped).joined(separator: [0x09])) + [0x0A]
    }
}
