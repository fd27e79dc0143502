import Posix

/// All that pinentry is told for one dialog. The last line opens it.
struct DialogScript: Equatable {
    enum Form: Equatable {
        case secret(prompt: [UInt8], cancel: [UInt8])
        /// Two buttons: pinentry-gnome3 has no third one.
        case choice(yes: [UInt8], no: [UInt8])
        /// One button.
        case message(button: [UInt8])
    }

    var form: Form
    var text: [UInt8]
    /// What was wrong with the last answer.
    var error: [UInt8] = []

    /// A line of Assuan has at most 1000 bytes, and the longest word before a text has 9.
    static let longestText = 980

    var lines: [[UInt8]] {
        var lines = [Self.line("SETTITLE", Array("AppVault".utf8))]
        lines.append(Self.line("SETDESC", text))
        if !error.isEmpty { lines.append(Self.line("SETERROR", error)) }
        switch form {
        case .secret(let prompt, let cancel):
            lines.append(Self.line("SETPROMPT", prompt))
            lines.append(Self.line("SETCANCEL", Self.label(cancel)))
            lines.append(Array("GETPIN".utf8))
        case .choice(let yes, let no):
            lines.append(Self.heading)
            lines.append(Self.line("SETOK", Self.label(yes)))
            lines.append(Self.line("SETCANCEL", Self.label(no)))
            lines.append(Array("CONFIRM".utf8))
        case .message(let button):
            lines.append(Self.heading)
            lines.append(Self.line("SETOK", Self.label(button)))
            lines.append(Array("CONFIRM --one-button".utf8))
        }
        return lines
    }

    var takesPasscode: Bool {
        switch form {
        case .secret: true
        case .choice, .message: false
        }
    }

    /// pinentry-gnome3 shows it above the text, and else "Message".
    private static var heading: [UInt8] { line("SETPROMPT", Array("AppVault".utf8)) }

    private static func line(_ command: String, _ text: [UInt8]) -> [UInt8] {
        Text(command, " ", escaped(text)).bytes
    }

    /// In a label `_` marks the letter that presses the button.
    private static func label(_ text: [UInt8]) -> [UInt8] {
        text.flatMap { $0 == UInt8(ascii: "_") ? [$0, $0] : [$0] }
    }

    /// As Assuan wants it, cut before a character that does not fit.
    static func escaped(_ text: [UInt8], limit: Int = longestText) -> [UInt8] {
        var result: [UInt8] = []
        for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
            let next: [UInt8] =
                switch scalar {
                case "%": Array("%25".utf8)
                case "\n": Array("%0A".utf8)
                case "\r": Array("%0D".utf8)
                default: Array(String(scalar).utf8)
                }
            guard result.count + next.count <= limit else { break }
            result += next
        }
        return result
    }

    /// A line that may be shown. Qt takes a text for HTML if a tag is in its first line, and breaks
    /// no lines by itself. A space before the break tells our own window that it may do that.
    static func shown(_ line: [UInt8]) -> [UInt8] {
        let safe = Printable.escaped(line).flatMap {
            $0 == UInt8(ascii: "<") ? Array("\u{2039}".utf8) : [$0]
        }
        return Array(Layout.wrapped(safe, columns).joined(separator: [0x20, 0x0A]))
    }

    /// GTK breaks longer lines itself.
    private static let columns = 50

    /// Lines on as few pages as they fit on.
    static func pages(_ lines: [[UInt8]]) -> [[UInt8]] {
        var pages: [[UInt8]] = []
        for line in lines {
            if let longer = pages.last.map({ $0 + [0x0A] + line }),
                escaped(longer, limit: .max).count <= longestText
            {
                pages[pages.count - 1] = longer
            } else {
                pages.append(line)
            }
        }
        return pages
    }
}
