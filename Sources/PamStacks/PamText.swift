/// The words of a file's lines.
enum PamText {
    /// The words of each line, and the number at which the line begins. Empty lines and comments
    /// are left out. Nil if the last line ends with a backslash and nothing follows.
    static func lines(_ bytes: [UInt8]) -> [(number: Int, words: [String])]? {
        var lines: [(Int, [String])] = []
        var joined = ""
        var start = 0
        let text = String(decoding: bytes, as: UTF8.self)
        for (index, raw) in text.split(separator: "\n", omittingEmptySubsequences: false)
            .enumerated()
        {
            if joined.isEmpty { start = index + 1 }
            var line = raw.prefix { $0 != "#" }
            let isCut = line.count < raw.count
            while let last = line.last, last.isWhitespace { line.removeLast() }
            if line.last == "\\", !isCut {
                joined += line.dropLast() + " "
                continue
            }
            let words = words(joined + line)
            joined = ""
            if !words.isEmpty { lines.append((start, words)) }
        }
        return joined.isEmpty ? lines : nil
    }

    /// Text in brackets is one word; inside it, \] stands for a bracket.
    private static func words(_ line: String) -> [String] {
        var words: [String] = []
        var word = ""
        var isInside = false
        var isBracketed = false
        var isEscaped = false
        for character in line {
            if isBracketed {
                if isEscaped, character == "]" {
                    word.removeLast()
                    word.append(character)
                } else {
                    word.append(character)
                    if character == "]" {
                        words.append(word)
                        word = ""
                        isBracketed = false
                        isInside = false
                    }
                }
                isEscaped = character == "\\"
            } else if character.isWhitespace {
                if isInside { words.append(word) }
                word = ""
                isInside = false
            } else {
                if !isInside, character == "[" { isBracketed = true }
                isInside = true
                word.append(character)
            }
        }
        if isInside { words.append(word) }
        return words
    }
}
