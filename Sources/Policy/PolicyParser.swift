/// Reads a policy file. Nothing is skipped and nothing is guessed: the first thing that is not understood is the
/// file's end, because a rule that was meant and not read is one that nobody enforces.
public enum PolicyParser {
    public static let mostBytes = 1 << 20
    public static let mostBytesInLine = 4096

    /// The file's keys laid over a policy.
    public static func parse(
        _ text: [UInt8], file: String, onto base: Policy
    ) throws(PolicyProblem) -> Policy {
        guard text.count <= mostBytes else {
            throw PolicyProblem(
                file: file, line: text[..<mostBytes].count { $0 == 0x0A } + 1, key: "",
                wrong: "the file is longer than 1 MiB", right: "a file of at most 1 MiB")
        }
        var reading = Reading(file: file, policy: base)
        var start = 0
        while start < text.count {
            let end = text[start...].firstIndex(of: 0x0A) ?? text.count
            try reading.take(text[start..<end])
            start = end + 1
        }
        return reading.policy
    }
}

/// What is known in the middle of a file.
private struct Reading {
    let file: String
    var policy: Policy
    var line = 0
    var inSection = false
    // A key that stands twice in one file is an error, and not won by the later line: the two are seldom seen
    // together, and whoever edits the upper one would change nothing. Files lie over each other on purpose.
    var seen: [String: Int] = [:]

    init(file: String, policy: Policy) {
        self.file = file
        self.policy = policy
    }

    mutating func take(_ raw: ArraySlice<UInt8>) throws(PolicyProblem) {
        line += 1
        guard raw.count <= PolicyParser.mostBytesInLine else {
            throw problem("", "the line is longer than 4 KiB", "a line of at most 4 KiB")
        }
        let bytes = trimmed(raw.last == 0x0D ? raw.dropLast() : raw)
        try checkText(bytes)
        switch bytes.first {
        case nil, UInt8(ascii: "#"), UInt8(ascii: ";"): return
        case UInt8(ascii: "["): try takeSection(bytes)
        default: try takeKey(bytes)
        }
    }

    // Also of comments: a lone carriage return ends a line in some editors, and would hide a rule in one.
    private func checkText(_ bytes: ArraySlice<UInt8>) throws(PolicyProblem) {
        if line == 1, bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            throw problem("", "the file begins with a byte order mark", "plain UTF-8 without one")
        }
        if let control = bytes.first(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) {
            let name = printable([control])
            throw problem("", "the line has a control character (\(name))", "text")
        }
        var decoder = ScalarDecoder()
        let text = Array(bytes)
        while true {
            switch decoder.next(text.span) {
            case .end: return
            case .scalar: continue
            case .invalid: throw problem("", "the line is not UTF-8", "plain UTF-8")
            }
        }
    }

    private mutating func takeSection(_ bytes: ArraySlice<UInt8>) throws(PolicyProblem) {
        let title = Array(bytes)
        if title.elementsEqual("[Passcode]".utf8) {
            inSection = true
            return
        }
        let name = printable(title)
        guard bytes.last == UInt8(ascii: "]") else {
            throw problem(name, "the section has no closing bracket", "[Passcode]")
        }
        let later = [
            "[Passcode group:", "[Passcode user:", "[Passcode store:", "[Rule ", "[Texts]",
        ]
        guard !later.contains(where: { title.starts(with: $0.utf8) }) else {
            throw problem(name, "not acted on by this release", "only the section [Passcode]")
        }
        throw problem(name, "unknown section", "[Passcode]")
    }

    private mutating func takeKey(_ bytes: ArraySlice<UInt8>) throws(PolicyProblem) {
        guard let equals = bytes.firstIndex(of: UInt8(ascii: "=")) else {
            throw problem(
                "", "\(quoted(Array(bytes))) is no section, key or comment",
                "[Passcode], KEY=VALUE, or # before a comment")
        }
        let name = Array(trimmed(bytes[..<equals]))
        let value = Array(trimmed(bytes[(equals + 1)...]))
        guard !name.isEmpty else { throw problem("", "no key before the =", "KEY=VALUE") }
        guard let key = PolicyKey.named(name) else { throw unknown(name) }
        guard inSection else {
            throw problem(
                key.name, "the key stands before any section", "[Passcode] in a line above it")
        }
        if let first = seen[key.name] {
            throw problem(
                key.name, "given a second time, after line \(first)", "one line for each key")
        }
        seen[key.name] = line
        try checkShape(key, value)
        do {
            try key.kind.read(value, into: &policy)
        } catch {
            throw problem(key.name, error.wrong, key.kind.right)
        }
    }

    // What other readers of such files allow, and what would otherwise be told as a strange value.
    private func checkShape(_ key: PolicyKey, _ value: [UInt8]) throws(PolicyProblem) {
        if value.last == UInt8(ascii: "\\") {
            throw problem(key.name, "a line cannot be continued", "the whole value in one line")
        }
        if value.contains(where: { $0 == UInt8(ascii: "#") || $0 == UInt8(ascii: ";") }) {
            throw problem(
                key.name, "a comment stands behind the value", "a line of its own for the comment")
        }
        switch key.kind {
        case .services: return
        case .flag, .number, .time, .size, .retryLimitAction:
            if value.isEmpty { throw problem(key.name, "no value", key.kind.right) }
        }
    }

    private func unknown(_ name: [UInt8]) -> PolicyProblem {
        let text = printable(name)
        if PolicyKey.notActedOn.contains(text) {
            return problem(text, "not acted on by this release", "no line with this key")
        }
        guard let nearest = PolicyKey.nearest(name) else {
            let known = PolicyKey.all.map(\.name).joined(separator: ", ")
            return problem(text, "unknown key", "one of \(known)")
        }
        return problem(text, "unknown key", "perhaps \(nearest)")
    }

    private func problem(_ key: String, _ wrong: String, _ right: String) -> PolicyProblem {
        PolicyProblem(file: file, line: line, key: key, wrong: wrong, right: right)
    }
}

private func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
    guard let last = bytes.lastIndex(where: { !isBlank($0) }) else { return [] }
    return bytes[...last].drop(while: isBlank)
}
