/// The value of an `Exec` key as words. Field codes such as %U stay in them as they stand.
///
/// Words are read as GLib reads them, which also takes what the Desktop Entry Specification forbids:
/// single quotes, reserved characters without quotes. They are written as the specification wants
/// them, so that no desktop hands them to a shell: `a; b` would run b beside AppVault, not behind it.
package struct CommandLine: Equatable, Sendable {
    /// What stands around the words.
    package enum Dialect: Sendable {
        /// A desktop entry: % begins a field code, and the value is escaped once more as a string.
        case menu
        /// A D-Bus service: quotes as in a shell. The two daemons disagree about backslashes.
        case bus
    }

    package var words: [[UInt8]]

    package init(words: [[UInt8]]) { self.words = words }

    package init(_ value: [UInt8], _ dialect: Dialect) throws(EntryProblem) {
        switch dialect {
        case .menu: words = try Self.split(Self.unescaped(value))
        case .bus: words = try Self.split(value)
        }
        guard let program = words.first, !program.isEmpty else { throw .noCommand }
    }

    package func value(_ dialect: Dialect) -> [UInt8] {
        switch dialect {
        case .menu:
            Self.escaped(Array(words.map(Self.doubleQuoted).joined(separator: [0x20])))
        case .bus: Array(words.map(Self.singleQuoted).joined(separator: [0x20]))
        }
    }

    /// A word that no launcher takes for a field code.
    package static func literal(_ word: [UInt8], _ dialect: Dialect) -> [UInt8] {
        switch dialect {
        case .menu: word.flatMap { $0 == percent ? [percent, percent] : [$0] }
        case .bus: word
        }
    }

    /// The opposite, for words of a desktop entry.
    package static func unescapedCodes(_ word: [UInt8]) -> [UInt8] {
        var plain: [UInt8] = []
        var isSecond = false
        for byte in word {
            isSecond = byte == percent && !isSecond
            if byte != percent || isSecond { plain.append(byte) }
        }
        return plain
    }

    private static let backslash = UInt8(ascii: "\\")
    private static let quote = UInt8(ascii: "\"")
    private static let apostrophe = UInt8(ascii: "'")
    private static let percent = UInt8(ascii: "%")

    // MARK: The words

    private static func split(_ text: [UInt8]) throws(EntryProblem) -> [[UInt8]] {
        var words: [[UInt8]] = []
        var word: [UInt8]?
        var index = 0
        /// The next byte, which has to be there.
        func next() throws(EntryProblem) -> UInt8 {
            guard index < text.count, text[index] != 0 else { throw .badCommand }
            defer { index += 1 }
            return text[index]
        }
        while index < text.count {
            switch try next() {
            case 0x20, 0x09, 0x0A:
                if let word { words.append(word) }
                word = nil
            case apostrophe:
                word = word ?? []
                while case let byte = try next(), byte != apostrophe { word?.append(byte) }
            case quote:
                word = word ?? []
                while case let byte = try next(), byte != quote {
                    guard byte == backslash else {
                        word?.append(byte)
                        continue
                    }
                    let escaped = try next()
                    if !isEscapable(escaped) { word?.append(backslash) }
                    word?.append(escaped)
                }
            case backslash: word = (word ?? []) + [try next()]
            case let byte: word = (word ?? []) + [byte]
            }
        }
        if let word { words.append(word) }
        return words
    }

    private static func isEscapable(_ byte: UInt8) -> Bool {
        byte == quote || byte == backslash || byte == UInt8(ascii: "`")
            || byte == UInt8(ascii: "$")
    }

    private static func isPlain(_ word: [UInt8]) -> Bool {
        !word.isEmpty
            && word.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...:
                    true
                default: "%+,-./:=@_".utf8.contains(byte)
                }
            }
    }

    private static func doubleQuoted(_ word: [UInt8]) -> [UInt8] {
        if isPlain(word) { return word }
        return [quote] + word.flatMap { isEscapable($0) ? [backslash, $0] : [$0] } + [quote]
    }

    private static func singleQuoted(_ word: [UInt8]) -> [UInt8] {
        if isPlain(word) { return word }
        let inside = word.flatMap { $0 == apostrophe ? Array(#"'"'"'"#.utf8) : [$0] }
        return [apostrophe] + inside + [apostrophe]
    }

    // MARK: The string around them

    private static let escapes: [(letter: UInt8, byte: UInt8)] = [
        (UInt8(ascii: "s"), 0x20), (UInt8(ascii: "n"), 0x0A), (UInt8(ascii: "t"), 0x09),
        (UInt8(ascii: "r"), 0x0D), (backslash, backslash),
    ]

    /// An escape that does not exist stands for itself.
    private static func unescaped(_ value: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        var index = 0
        while index < value.count {
            if value[index] == backslash, index + 1 < value.count,
                let escape = escapes.first(where: { $0.letter == value[index + 1] })
            {
                text.append(escape.byte)
                index += 2
            } else {
                text.append(value[index])
                index += 1
            }
        }
        return text
    }

    private static func escaped(_ text: [UInt8]) -> [UInt8] {
        text.flatMap { byte -> [UInt8] in
            guard byte != 0x20, let escape = escapes.first(where: { $0.byte == byte }) else {
                return [byte]
            }
            return [backslash, escape.letter]
        }
    }
}
