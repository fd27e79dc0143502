import Posix

/// What a program that shows dialogs is told, line by line, and what it answers: the other end of
/// `AssuanReplies`. Whoever starts it is believed no more than that: lines are bounded, and every
/// text is only shown.
package struct AssuanQuestion: Equatable, Sendable {
    package enum Form: Equatable, Sendable {
        case secret
        /// Yes or no.
        case choice
        /// One button.
        case message
    }

    package enum Step: Equatable, Sendable {
        /// It was understood, or it does not matter.
        case taken
        /// The question is whole, and a person is asked.
        case asks(Form)
        case over
    }

    package private(set) var text: [UInt8] = []
    package private(set) var error: [UInt8] = []
    package private(set) var prompt: [UInt8] = []
    package private(set) var yes: [UInt8] = []
    package private(set) var no: [UInt8] = []

    package static let greeting = "OK AppVault\n"
    package static let taken = "OK\n"
    /// A remark, as far as pinentry goes.
    package static let shown = "# shown\n"
    package static let cancelled = "ERR 83886179 cancelled\n"
    package static let declined = "ERR 83886194 not confirmed\n"
    /// Of a line, without its end.
    package static let longestLine = AssuanReplies.longestLine

    package init() {}

    /// Its lines, without the breaks for programs that make none by themselves.
    package var lines: [[UInt8]] {
        var lines: [[UInt8]] = []
        var isContinued = false
        for line in text.split(separator: 0x0A) {
            if isContinued { lines[lines.count - 1] += line } else { lines.append(Array(line)) }
            isContinued = line.last == 0x20
        }
        return lines
    }

    package mutating func take(_ line: [UInt8]) -> Step {
        let word = line.prefix { $0 != 0x20 }
        let rest = Array(line.dropFirst(word.count + 1))
        switch String(decoding: word, as: UTF8.self) {
        case "SETDESC": text = Self.read(rest)
        case "SETERROR": error = Self.read(rest)
        case "SETPROMPT": prompt = Self.read(rest)
        case "SETOK": yes = Self.label(rest)
        case "SETCANCEL": no = Self.label(rest)
        case "GETPIN": return .asks(.secret)
        case "CONFIRM": return .asks(rest == Array("--one-button".utf8) ? .message : .choice)
        case "MESSAGE": return .asks(.message)
        case "RESET": self = AssuanQuestion()
        case "BYE": return .over
        default: break
        }
        return .taken
    }

    /// The next question says for itself what was wrong with the last answer.
    package mutating func isAnswered() { error = [] }

    /// An answer as it goes back: in as many lines as it takes, and wiped with the buffer.
    package static func answer(_ secret: Typed) -> Typed {
        let lines = Typed(capacity: 4 * secret.count + 64)
        secret.withSpan { bytes in
            var room = 0
            for index in bytes.indices {
                if room < 3 {
                    lines.append(Array((index == 0 ? "D " : "\nD ").utf8))
                    room = longestLine - 2
                }
                let byte = bytes[index]
                if byte == 0x25 || byte == 0x0A || byte == 0x0D {
                    let digits = Array("0123456789ABCDEF".utf8)
                    lines.append([0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]])
                    room -= 3
                } else {
                    lines.append(bytes.extracting(index..<index + 1))
                    room -= 1
                }
            }
            if !bytes.isEmpty { lines.append([0x0A]) }
        }
        lines.append(Array(taken.utf8))
        return lines
    }

    /// `%0A` is a line's end; what is no escape stands for itself.
    private static func read(_ text: [UInt8]) -> [UInt8] {
        var read: [UInt8] = []
        var rest = text[...]
        while let byte = rest.popFirst() {
            if byte == 0x25, rest.count >= 2,
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                read.append(value)
                rest = rest.dropFirst(2)
            } else {
                read.append(byte)
            }
        }
        return read
    }

    /// A `_` marks the letter that presses the button, and two are one.
    private static func label(_ text: [UInt8]) -> [UInt8] {
        var label: [UInt8] = []
        var rest = read(text)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "_") else {
                label.append(byte)
                continue
            }
            if rest.first == byte { label.append(rest.removeFirst()) }
        }
        return label
    }
}
