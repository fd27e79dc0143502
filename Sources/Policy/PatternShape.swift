/// Finds patterns that are not regular expressions, by their brackets alone. A rule with such a
/// pattern cannot run, and a rule that cannot run refuses every passcode. Other mistakes are found
/// when the rules worker runs the pattern.
enum PatternShape {
    /// What is wrong; nil where that is not certain.
    static func problem(_ pattern: [UInt8]) -> String? {
        var place = 0
        var open = 0
        // There is nothing before this place that could be repeated.
        var begins = true
        while place < pattern.count {
            let byte = pattern[place]
            place += 1
            switch byte {
            case UInt8(ascii: "\\"):
                guard place < pattern.count else { return "the pattern ends in a backslash" }
                place += 1
            case UInt8(ascii: "["):
                guard let end = bracketEnd(pattern, place) else {
                    return "a [ of the pattern is not closed"
                }
                place = end
            case UInt8(ascii: "("): open += 1
            // Without an open bracket it is an ordinary character.
            case UInt8(ascii: ")"): open = max(0, open - 1)
            case UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "?"):
                if begins { return "nothing stands before a \(quoted([byte])) of the pattern" }
            default: break
            }
            begins = byte == UInt8(ascii: "(") || byte == UInt8(ascii: "|")
        }
        return open > 0 ? "a ( of the pattern is not closed" : nil
    }

    // The place after the `]` of a list whose `[` was just read.
    private static func bracketEnd(_ pattern: [UInt8], _ start: Int) -> Int? {
        var place = start
        if place < pattern.count, pattern[place] == UInt8(ascii: "^") { place += 1 }
        var isFirst = true
        while place < pattern.count {
            if pattern[place] == UInt8(ascii: "]"), !isFirst { return place + 1 }
            isFirst = false
            let kind = place + 1 < pattern.count ? pattern[place + 1] : 0
            let isClass = [UInt8(ascii: ":"), UInt8(ascii: "."), UInt8(ascii: "=")].contains(kind)
            if pattern[place] == UInt8(ascii: "["), isClass {
                guard let end = classEnd(pattern, place + 2, kind) else { return nil }
                place = end
            } else {
                place += 1
            }
        }
        return nil
    }

    // The place after a `:]`, `.]` or `=]`.
    private static func classEnd(_ pattern: [UInt8], _ start: Int, _ kind: UInt8) -> Int? {
        var place = start
        while place + 1 < pattern.count {
            if pattern[place] == kind, pattern[place + 1] == UInt8(ascii: "]") { return place + 2 }
            place += 1
        }
        return nil
    }
}
