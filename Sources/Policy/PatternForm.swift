/// A pattern of the simple kind: characters and lists, one after the other, each with the number of
/// its repetitions. A pattern with groups, alternatives or anything unusual is not of that kind,
/// and no statement is made about it.
struct PatternForm {
    struct Part {
        var letters: PatternLetters
        var least = 1
        /// nil is without a limit.
        var most: Int? = 1
    }

    private(set) var parts: [Part] = []
    private(set) var fromStart = false
    private(set) var toEnd = false

    init?(_ pattern: String) {
        var rest = Array(pattern.unicodeScalars)[...]
        if rest.first == "^" {
            fromStart = true
            rest.removeFirst()
        }
        while let next = rest.popFirst() {
            let letters: PatternLetters
            switch next {
            case "$":
                guard rest.isEmpty else { return nil }
                toEnd = true
                return
            case "^", "(", ")", "|", "*", "+", "?", "{": return nil
            case "\\":
                // A backslash before a letter, and before some signs, has a meaning of its own in
                // glibc.
                guard let escaped = rest.popFirst(),
                    "^.[]$()|*+?{}\\/-".unicodeScalars.contains(escaped)
                else { return nil }
                letters = PatternLetters(escaped)
            case ".": letters = .any
            case "[":
                guard let list = Self.list(&rest) else { return nil }
                letters = list
            default: letters = PatternLetters(next)
            }
            guard let part = Self.repeated(letters, &rest) else { return nil }
            parts.append(part)
        }
    }

    /// The letters, with the repetition that follows them.
    private static func repeated(
        _ letters: PatternLetters, _ rest: inout ArraySlice<Unicode.Scalar>
    ) -> Part? {
        var part = Part(letters: letters)
        switch rest.first {
        case "*": (part.least, part.most) = (0, nil)
        case "+": (part.least, part.most) = (1, nil)
        case "?": (part.least, part.most) = (0, 1)
        case "{":
            rest.removeFirst()
            guard let end = rest.firstIndex(of: "}"), let counts = counts(rest[..<end]) else {
                return nil
            }
            (part.least, part.most) = counts
            rest = rest[end...]
        default: return part
        }
        rest.removeFirst()
        // A repetition of a repetition is not simple.
        if let next = rest.first, "*+?{".unicodeScalars.contains(next) { return nil }
        return part
    }

    private static func counts(_ text: ArraySlice<Unicode.Scalar>) -> (Int, Int?)? {
        func number(_ text: ArraySlice<Unicode.Scalar>) -> Int? {
            guard 1...5 ~= text.count, text.allSatisfy({ "0"..."9" ~= $0 }) else { return nil }
            return text.reduce(0) { $0 * 10 + Int($1.value - 0x30) }
        }
        guard let comma = text.firstIndex(of: ",") else { return number(text).map { ($0, $0) } }
        guard let least = number(text[..<comma]) else { return nil }
        let behind = text[(comma + 1)...]
        if behind.isEmpty { return (least, nil) }
        guard let most = number(behind), most >= least else { return nil }
        return (least, most)
    }

    // `rest` begins after the `[`.
    private static func list(_ rest: inout ArraySlice<Unicode.Scalar>) -> PatternLetters? {
        var letters = PatternLetters.none
        let isNegated = rest.first == "^"
        if isNegated { rest.removeFirst() }
        var isFirst = true
        while let next = rest.popFirst() {
            if next == "]", !isFirst { return isNegated ? letters.complement : letters }
            isFirst = false
            if next == "[", let kind = rest.first, kind == ":" || kind == "." || kind == "=" {
                guard kind == ":", let named = named(&rest) else { return nil }
                letters = letters.union(named)
            } else if rest.first == "-", let end = rest.dropFirst().first, end != "]" {
                // Not simple: `[a-[.z.]]`, and ranges that glibc cannot run.
                guard next.isASCII, end.isASCII, end != "[", next <= end else { return nil }
                rest = rest.dropFirst(2)
                letters = letters.union(
                    PatternLetters(UInt8(next.value)...UInt8(end.value)))
            } else {
                letters = letters.union(PatternLetters(next))
            }
        }
        return nil
    }

    // `rest` begins after the `[` of `[:alpha:]`.
    private static func named(_ rest: inout ArraySlice<Unicode.Scalar>) -> PatternLetters? {
        rest.removeFirst()
        guard let end = rest.firstIndex(of: ":") else { return nil }
        var name = String.UnicodeScalarView()
        name.append(contentsOf: rest[..<end])
        rest = rest[(end + 1)...]
        guard rest.popFirst() == "]" else { return nil }
        return PatternLetters.named(String(name))
    }
}
