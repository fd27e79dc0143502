/// What was read from one file.
struct ParsedFile: Sendable {
    let name: String
    var sections: [Scope: [Setting]] = [:]
    var apps: [AppScope: [Setting]] = [:]
    var rules: [CustomRule] = []
    var texts: [(id: String, text: String, line: Int)] = []
    /// In the order of the lines.
    var problems: [PolicyProblem] = []
    /// The names of all rule sections, also of those with errors.
    var ruleNames: Set<String> = []
}

/// Reads a policy file. Nothing is skipped and nothing is guessed. Whatever the parser does not
/// understand is a problem, because a rule that the administrator meant and the parser skipped
/// would not be enforced. The parser goes on after a problem, so that it finds them all.
enum PolicyParser {
    static let mostBytes = 1 << 20
    static let mostBytesInLine = 4096
    static let mostProblems = 1000
    static let longestText = 800
    static let mostRules = 1000

    static func parse(_ file: PolicyFile) -> ParsedFile {
        guard file.text.count <= mostBytes else {
            var parsed = ParsedFile(name: file.name)
            parsed.problems = [
                PolicyProblem(
                    file: file.name, line: file.text[..<mostBytes].count { $0 == 0x0A } + 1,
                    key: "", wrong: "the file is longer than 1 MiB",
                    right: "a file of at most 1 MiB")
            ]
            return parsed
        }
        var reading = Reading(file: file.name)
        var start = 0
        while start < file.text.count, reading.parsed.problems.count < mostProblems {
            let end = file.text[start...].firstIndex(of: 0x0A) ?? file.text.count
            reading.take(file.text[start..<end])
            start = end + 1
        }
        return reading.finish()
    }
}

/// The state of the parser in the middle of a file.
private struct Reading {
    var parsed: ParsedFile
    private var line = 0
    private var section = Section.none
    // The settings of the section that is being read. They are taken out of the file's while they
    // grow.
    private var settings: [Setting] = []
    private var textLines: [String: Int] = [:]
    private var ruleLines: [String: Int] = [:]
    private var rulesSeen: [String: Int] = [:]

    private enum Section {
        case none
        /// The title was refused, so nothing can be said about the lines of the section.
        case unknown
        case keys(Scope)
        case app(AppScope)
        case rule(RuleSection)
        case texts
    }

    init(file: String) {
        parsed = ParsedFile(name: file)
    }

    mutating func take(_ raw: ArraySlice<UInt8>) {
        line += 1
        do throws(PolicyProblem) {
            guard raw.count <= PolicyParser.mostBytesInLine else {
                throw problem("", "the line is longer than 4 KiB", "a line of at most 4 KiB")
            }
            let bytes = trimmed(raw.last == 0x0D ? raw.dropLast() : raw)
            try checkText(bytes)
            switch bytes.first {
            case nil, UInt8(ascii: "#"), UInt8(ascii: ";"): return
            case UInt8(ascii: "["): try takeTitle(Array(bytes))
            default: try takeKey(bytes)
            }
        } catch {
            parsed.problems.append(error)
            if case .rule(var rule) = section {
                rule.isBroken = true
                section = .rule(rule)
            }
        }
    }

    mutating func finish() -> ParsedFile {
        endSection()
        parsed.problems.sort { $0.line < $1.line }
        return parsed
    }

    // Comments are checked, too: in some editors a lone carriage return ends a line, so a comment
    // could hide a rule.
    private func checkText(_ bytes: ArraySlice<UInt8>) throws(PolicyProblem) {
        if line == 1, bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            throw problem("", "the file begins with a byte order mark", "plain UTF-8 without one")
        }
        if let control = bytes.first(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) {
            let name = printable([control])
            throw problem("", "the line has a control character (\(name))", "text")
        }
        if bytes.allSatisfy({ $0 < 0x80 }) { return }
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

    private mutating func takeTitle(_ bytes: [UInt8]) throws(PolicyProblem) {
        endSection()
        section = .unknown
        let title: SectionTitle
        do {
            title = try SectionTitle.read(bytes)
        } catch {
            throw problem(printable(bytes), error.wrong, error.right)
        }
        switch title {
        case .keys(let scope):
            settings = parsed.sections[scope] ?? []
            section = .keys(scope)
        case .app(let scope):
            settings = parsed.apps[scope] ?? []
            section = .app(scope)
        case .texts: section = .texts
        case .rule(let name):
            if let first = rulesSeen[name] {
                throw problem(
                    printable(bytes), "given a second time, after line \(first)",
                    "one section for each rule")
            }
            guard rulesSeen.count < PolicyParser.mostRules else {
                throw problem(
                    printable(bytes), "too many rules",
                    "at most \(PolicyParser.mostRules) in a file")
            }
            rulesSeen[name] = line
            parsed.ruleNames.insert(name)
            ruleLines = [:]
            section = .rule(RuleSection(name: name, line: line))
        }
    }

    private mutating func endSection() {
        switch section {
        case .none, .unknown, .texts: break
        case .keys(let scope): parsed.sections[scope] = settings
        case .app(let scope): parsed.apps[scope] = settings
        case .rule(let rule):
            if let good = rule.rule(file: parsed.name) {
                parsed.rules.append(good)
            } else if !rule.isBroken {
                parsed.problems.append(
                    PolicyProblem(
                        file: parsed.name, line: rule.line, key: "[Rule \(rule.name)]",
                        wrong: "the rule has no test", right: RuleSection.oneTest))
            }
        }
        section = .none
    }

    private mutating func takeKey(_ bytes: ArraySlice<UInt8>) throws(PolicyProblem) {
        guard let equals = bytes.firstIndex(of: UInt8(ascii: "=")) else {
            throw problem(
                "", "\(quoted(Array(bytes))) is not a section, key or comment",
                "a section such as [Passcode], KEY=VALUE, or # before a comment")
        }
        let name = Array(trimmed(bytes[..<equals]))
        let value = Array(trimmed(bytes[(equals + 1)...]))
        guard !name.isEmpty else { throw problem("", "no key before the =", "KEY=VALUE") }
        switch section {
        case .none:
            section = .unknown
            throw problem(
                printable(name), "the key stands before any section",
                "[Passcode] in a line above it")
        case .unknown: return
        case .keys: try takeSetting(name, value, PolicyKey.place(of: name), of: PolicyKey.all)
        case .app:
            try takeSetting(
                name, value, PolicyKey.placeForApps(of: name), of: PolicyKey.ofApps)
        case .rule(let rule): try takeRuleKey(rule, name, value)
        case .texts: try takeText(name, value)
        }
    }

    private mutating func takeSetting(
        _ name: [UInt8], _ value: [UInt8], _ place: Int?, of table: [PolicyKey]
    ) throws(PolicyProblem) {
        guard let place else {
            throw unknown(name, of: table.map(\.name), "a key of appvault-policy.conf(5)")
        }
        let key = table[place]
        // An error, and the later line does not win: a reader seldom sees both lines, and a person
        // who edits the upper one would change nothing. Between files it is different: there a
        // later one replaces a setting on purpose.
        if let first = settings.first(where: { $0.key == place })?.line {
            throw givenTwice(key.name, first)
        }
        try checkShape(key.name, value)
        if value.isEmpty, !key.kind.mayBeEmpty {
            throw problem(key.name, "no value", key.kind.right)
        }
        do {
            let change = try key.kind.read(value)
            settings.append(
                Setting(key: place, change: change, file: parsed.name, line: line))
        } catch {
            throw problem(key.name, error.wrong, key.kind.right)
        }
    }

    private mutating func takeRuleKey(
        _ rule: RuleSection, _ name: [UInt8], _ value: [UInt8]
    ) throws(PolicyProblem) {
        guard let key = RuleSection.keys.first(where: { $0.utf8.elementsEqual(name) }) else {
            throw unknown(
                name, of: RuleSection.keys, "one of \(RuleSection.keys.joined(separator: ", "))")
        }
        if let first = ruleLines[key] { throw givenTwice(key, first) }
        ruleLines[key] = line
        guard !value.isEmpty else { throw problem(key, "no value", "a value, or no line at all") }
        var rule = rule
        do {
            try rule.take(key, value, line: line)
        } catch {
            throw problem(key, error.wrong, error.right)
        }
        section = .rule(rule)
    }

    private mutating func takeText(_ name: [UInt8], _ value: [UInt8]) throws(PolicyProblem) {
        guard isTextID(name) else {
            throw problem(
                printable(name), "no id of a text", "an id that 'appvault texts' lists")
        }
        let id = String(decoding: name, as: UTF8.self)
        if let first = textLines[id] { throw givenTwice(id, first) }
        textLines[id] = line
        guard !value.isEmpty else { throw problem(id, "no value", "the text in one line") }
        guard value.count <= PolicyParser.longestText else {
            throw problem(
                id, "the text is too long", "at most \(PolicyParser.longestText) bytes")
        }
        if value.last == UInt8(ascii: "\\") { throw continued(id) }
        parsed.texts.append((id, String(decoding: value, as: UTF8.self), line))
    }

    private func isTextID(_ name: [UInt8]) -> Bool {
        guard name.count <= 64, let first = name.first, 0x61...0x7A ~= first else { return false }
        return name.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E: true
            default: false
            }
        }
    }

    // Refuses what other programs allow in such files, and what would otherwise be reported as a
    // strange value.
    private func checkShape(_ key: String, _ value: [UInt8]) throws(PolicyProblem) {
        if value.last == UInt8(ascii: "\\") { throw continued(key) }
        if value.contains(where: { $0 == UInt8(ascii: "#") || $0 == UInt8(ascii: ";") }) {
            throw problem(
                key, "a comment stands behind the value", "a line of its own for the comment")
        }
    }

    private func continued(_ key: String) -> PolicyProblem {
        problem(key, "a line cannot be continued", "the whole value in one line")
    }

    private func givenTwice(_ key: String, _ first: Int) -> PolicyProblem {
        problem(key, "given a second time, after line \(first)", "one line for each key")
    }

    private func unknown(
        _ name: [UInt8], of known: [String], _ all: String
    ) -> PolicyProblem {
        let meant = Nearness.inFile.nearest(to: name, among: known).map { "perhaps \($0)" }
        return problem(printable(name), "unknown key", meant ?? all)
    }

    private func problem(_ key: String, _ wrong: String, _ right: String) -> PolicyProblem {
        PolicyProblem(file: parsed.name, line: line, key: key, wrong: wrong, right: right)
    }
}
