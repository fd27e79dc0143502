/// A `[Rule NAME]` section while it is being read.
struct RuleSection {
    let name: String
    let line: Int
    private var display: String?
    private var show: Bool?
    private var test: (key: String, line: Int, test: CustomRule.Test)?
    /// Something in the section was refused. If it then lacks a test, that is not reported as well.
    var isBroken = false

    static let keys = ["Display", "Show", "Match", "Reject", "Dictionary"]
    static let oneTest = "exactly one of Match=, Reject= and Dictionary=yes"
    static let longestDisplay = 200
    static let longestPattern = 1024

    init(name: String, line: Int) {
        self.name = name
        self.line = line
    }

    mutating func take(_ key: String, _ value: [UInt8], line: Int) throws(BadTitle) {
        let text = String(decoding: value, as: UTF8.self)
        switch key {
        case "Display":
            guard text.unicodeScalars.count <= Self.longestDisplay else {
                throw BadTitle(
                    wrong: "the text is too long",
                    right: "at most \(Self.longestDisplay) characters")
            }
            display = text
        case "Show":
            do { show = try readFlag(value) } catch {
                throw BadTitle(wrong: error.wrong, right: "yes or no")
            }
        case "Match": try add(key, line, .matches(try pattern(text)))
        case "Reject": try add(key, line, .rejects(try pattern(text)))
        default:
            guard text == "yes" else {
                throw BadTitle(
                    wrong: "\(quoted(value)) is not yes", right: "yes, or no line at all")
            }
            try add(key, line, .dictionary)
        }
    }

    /// nil where the section has no test.
    func rule(file: String) -> CustomRule? {
        test.map {
            CustomRule(
                name: name, display: display ?? name, show: show ?? true, test: $0.test, file: file,
                line: line)
        }
    }

    private mutating func add(
        _ key: String, _ line: Int, _ added: CustomRule.Test
    ) throws(BadTitle) {
        if let test {
            throw BadTitle(
                wrong: "a second test, after \(test.key) in line \(test.line)", right: Self.oneTest)
        }
        test = (key, line, added)
    }

    private func pattern(_ text: String) throws(BadTitle) -> String {
        // The length that appvault-rules takes (Wire, RuleLink.pattern).
        guard text.utf8.count <= Self.longestPattern else {
            throw BadTitle(
                wrong: "the pattern is too long", right: "at most \(Self.longestPattern) bytes")
        }
        if let wrong = PatternShape.problem(Array(text.utf8)) {
            throw BadTitle(wrong: wrong, right: "a POSIX extended regular expression")
        }
        return text
    }
}
