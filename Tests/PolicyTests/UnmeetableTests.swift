import Testing

@testable import Policy
@testable import Posix

private func wrong(_ text: String) -> [String] {
    PolicyLint.problems(in: [PolicyFile(name: "f", text: bytes(text))])
        .filter { $0.severity == .error }
        .map { "\($0.line): \($0.wrong)" }
}

/// Keys of [Passcode], rules a, b, c, and why the named rule cannot be met. Without a reason, all
/// of them can be met.
struct Meeting: Sendable, CustomTestStringConvertible {
    let keys: String
    let rules: [String]
    var why: (rule: String, why: String)?

    init(_ keys: String, _ rules: String..., why: (String, String)? = nil) {
        self.keys = keys
        self.rules = rules
        self.why = why
    }

    var testDescription: String { ([keys] + rules).joined(separator: " ") }

    var text: String {
        let sections = zip(["a", "b", "c"], rules).map { "[Rule \($0)]\n\($1)\n" }
        return sections.joined() + "[Passcode]\n"
            + keys.split(separator: " ").joined(separator: "\n")
    }

    var expected: [String] {
        guard let why else { return [] }
        let line = why.rule == "a" ? 1 : why.rule == "b" ? 3 : 5
        return ["\(line): nobody can meet it: \(why.why)"]
    }
}

private let unmeetable: [Meeting] = [
    Meeting(
        "MinLength=12", "Match=^[0-9]{4}$",
        why: ("a", "4 characters match at most, and MinLength wants more")),
    Meeting(
        "MinLength=9", "Match=^.{0,8}$",
        why: ("a", "8 characters match at most, and MinLength wants more")),
    Meeting(
        "MinLength=2", "Match=^[^a]?$",
        why: ("a", "one character matches at most, and MinLength wants more")),
    Meeting(
        "DigitsOnly=yes MinLength=8", "Match=^[a-z]*[0-9]{4}$",
        why: ("a", "4 characters match at most, and MinLength wants more")),
    Meeting(
        "DigitsOnly=yes", "Match=[A-Z][a-z]", why: ("a", "DigitsOnly allows nothing that matches")),
    Meeting("DigitsOnly=yes", "Match=-", why: ("a", "DigitsOnly allows nothing that matches")),
    Meeting(
        "DigitsOnly=yes", "Match=^[[:punct:]]+$",
        why: ("a", "DigitsOnly allows nothing that matches")),
    Meeting("DigitsOnly=yes", "Reject=[^a-z]", why: ("a", "DigitsOnly allows nothing else")),
    Meeting(
        "RequireSpecial=yes", "Match=^[a-z]+$",
        why: ("a", "it leaves nothing that RequireSpecial wants")),
    Meeting(
        "RequireDigit=yes", "Match=^[a-z._-]+$",
        why: ("a", "it leaves nothing that RequireDigit wants")),
    Meeting(
        "RequireUpper=yes", "Match=.", "Match=^[0-9a-f-]{8,}$",
        why: ("b", "it leaves nothing that RequireUpper wants")),
    Meeting(
        "RequireLower=yes", "Match=^[A-Z0-9!-/]*$",
        why: ("a", "it leaves nothing that RequireLower wants")),
    Meeting(
        "MinCharacterGroups=3", "Match=^[a-z0-9]*$",
        why: ("a", "it leaves fewer groups than MinCharacterGroups wants")),
    Meeting(
        "MinUniqueCharacters=4", "Match=^[abc]*$",
        why: ("a", "it leaves fewer characters than MinUniqueCharacters wants")),
    Meeting(
        "MinUniqueCharacters=9 MinLength=1", "Match=^.{8}$",
        why: ("a", "8 characters match at most, and MinUniqueCharacters wants more")),
    Meeting("", "Reject=[^x]", "Reject=x", why: ("b", "beside other rules no character is left")),
    Meeting(
        "", "Match=^[0-9]+$", "Match=^[a-z]+$",
        why: ("b", "beside other rules no character is left")),
    Meeting(
        "", "Match=^a", "Match=^b", why: ("b", "it requires another beginning than another rule")),
    Meeting(
        "", "Match=^a.c", "Match=^.[0-9]x",
        why: ("b", "it requires another beginning than another rule")),
    Meeting(
        "", "Match=^a", "Reject=^[a-z]+",
        why: ("b", "it requires another beginning than another rule")),
    Meeting(
        "", "Match=[0-9]$", "Match=[a-z]x?y$",
        why: ("b", "it requires another ending than another rule")),
    Meeting(
        "", "Match=[0-9]", "Reject=[[:digit:]]", why: ("a", "other rules refuse what it wants")),
    Meeting(
        "", "Match=^.{10}$", "Match=^.{12,}$", why: ("a", "another rule wants more characters")),
    Meeting("", "Reject=x*", why: ("a", "every passcode matches")),
    Meeting("", "Reject=[^a]*$", why: ("a", "every passcode matches")),
    Meeting("", "Match=^$", why: ("a", "no passcode is empty")),
    Meeting("", "Match=^.{0}$", why: ("a", "no passcode is empty")),
]

private let meetable: [Meeting] = [
    Meeting("MinLength=4", "Match=^[0-9]{4}$"),
    Meeting("MinLength=12", "Match=[0-9]{4}"),
    Meeting("MinLength=12", "Match=^[0-9]{4}"),
    Meeting("MinLength=12", "Match=[0-9]{4}$"),
    Meeting("MinLength=12", "Match=^[0-9]{4}.*$"),
    Meeting("MinLength=12", "Match=^([0-9]{4})+$"),
    Meeting("MinLength=12", "Match=^[0-9]{4}$|^[a-z]+$"),
    Meeting("MinLength=12", "Match=^[0-9]{4}\\$"),
    Meeting("MinLength=12", "Match=^\\w$"),
    Meeting("DigitsOnly=yes RequireLower=yes MinCharacterGroups=4", "Match=^[0-9]+$"),
    Meeting("DigitsOnly=yes", "Match=[a-z0-9]"),
    Meeting("DigitsOnly=yes", "Match=^[a-z]*[0-9]*$"),
    // Digits of other scripts.
    Meeting("DigitsOnly=yes", "Reject=[0-9]"),
    Meeting("DigitsOnly=yes", "Match=[[:alpha:]]"),
    Meeting("RequireSpecial=yes", "Match=^[ -~]+$"),
    Meeting("RequireSpecial=yes", "Match=[a-z]+"),
    Meeting("RequireUpper=yes", "Match=^[[:alpha:]]+$"),
    Meeting("RequireUpper=yes", "Match=^[a-z\u{E9}]+$"),
    Meeting("RequireDigit=yes", "Match=^[^0-9]+$"),
    Meeting("MinCharacterGroups=2", "Match=^[a-z0-9]*$"),
    Meeting("MinUniqueCharacters=3", "Match=^[abc]*$"),
    Meeting("MinUniqueCharacters=4", "Match=^[^abc]*$"),
    Meeting("", "Reject=[^x]", "Match=x"),
    Meeting("", "Match=^a?", "Match=^b"),
    Meeting("", "Match=^a*b", "Match=^b"),
    Meeting("", "Match=^a.c", "Match=^.[0-9]c"),
    Meeting("", "Match=[0-9]$", "Match=[a-z]x?[0-9]$"),
    Meeting("", "Match=[0-9]$", "Match=^[a-z]"),
    Meeting("", "Match=[0-9]", "Reject=[[:digit:]]{3}"),
    Meeting("", "Match=[0-9]", "Reject=^[[:digit:]]"),
    Meeting("", "Reject=^x*$", "Reject=^x$"),
    Meeting("", "Match=[]a]", "Match=[^]]", "Match=[a-]"),
]

@Suite struct UnmeetableTests {
    @Test(
        "a policy that nobody can meet is told, at the rule that is one too much",
        arguments: unmeetable)
    func told(meeting: Meeting) {
        #expect(wrong(meeting.text) == meeting.expected)
    }

    @Test("and one that somebody can meet is not", arguments: meetable)
    func notTold(meeting: Meeting) {
        #expect(wrong(meeting.text) == [])
    }

    @Test("a key of somebody's section is held against the rules that hold there")
    func sections() {
        let rule = "[Rule pin]\nMatch=^[0-9]{6}$\n"
        #expect(wrong(rule + "[Passcode]\nMinLength=6") == [])
        #expect(
            wrong(rule + "[Passcode]\nMinLength=6\n[Passcode user:eve]\nMinLength=7").count == 1)
        #expect(
            wrong(
                rule + "[Passcode]\nMinLength=6\n[Passcode user:eve]\nMinLength=7\nRules=\n"
                    + "[Passcode group:g]\nRequireLower=yes\nRules=") == [])
    }

    @Test("many rules and many sections are looked at in a time that grows with the files")
    func many() {
        let rules = (0..<1000).map { "[Rule r\($0)]\nReject=^[a-z]{2}[0-9]{3}x\($0)$\n" }.joined()
        let names = (0..<1000).map { "r\($0)" }
        var text = rules + "[Passcode]\nRules=\n"
        for place in 0..<250 {
            text +=
                "[Passcode user:u\(place)]\n"
                + "Rules=\(names.dropFirst(place).prefix(250).joined(separator: " "))\n"
        }
        let began = Clock.threadNanoseconds()
        #expect(wrong(text) == [])
        // This is a debug build. Code that looked at each pattern once for each section would take
        // minutes of a processor.
        #expect(Clock.threadNanoseconds() - began < 20_000_000_000)
    }
}
