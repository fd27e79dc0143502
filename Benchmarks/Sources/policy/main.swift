// The policy's own cost, compiled together with Sources/Policy: nothing between the clock and what is measured.

let rounds = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 31

func microseconds(_ work: () -> Void) -> Double {
    let clock = ContinuousClock()
    let (seconds, attoseconds) = clock.measure(work).components
    return Double(seconds) * 1e6 + Double(attoseconds) * 1e-12
}

func json(_ name: String, _ values: [Double]) -> String {
    "\"\(name)\": [\(values.map { "\($0)" }.joined(separator: ", "))]"
}

// A thousand sections of every kind, five lines each, a tenth of them rules that everybody has.
let kinds = ["user:u", "group:g", "group:h", "store:s"]
let sections = (0..<1000).map { number in
    number % 10 == 9
        ? """
        [Rule r\(number)]
        Display=No run of \(number % 90 + 10) of one letter
        Show=no
        # a word on why
        Reject=(.)\\1{\(number % 90 + 9)}
        """
        : """
        [Passcode \(kinds[number % 4])\(number)]
        MinLength=\(number % 64 + 8)
        RequireDigit=yes
        IdleTimeout=1h 30min
        UnlockServices=login sshd gdm-password LocalServices
        RetryLimit=\(number % 100)
        """
}
let file = PolicyFile(name: "policy.conf", text: Array(sections.joined(separator: "\n\n").utf8))
let person = PolicySubject(
    user: Array("u500".utf8), groups: (0..<100).map { Array("g\($0 * 4 + 1)".utf8) })

var found = 0
var reloads: [Double] = []
var persons: [Double] = []
for _ in 0..<rounds {
    reloads.append(
        microseconds {
            let book = try? PolicyBook(PolicyFiles(administrators: file))
            found += Int(book?.inForce(for: person).policy.minLength ?? 0)
        })
}
guard let book = try? PolicyBook(PolicyFiles(administrators: file)) else { fatalError("not taken") }
for _ in 0..<rounds * 20 {
    persons.append(microseconds { found += Int(book.inForce(for: person).policy.minLength) })
}

// Whatever a policy can ask for at once, of a passcode that meets it.
let strict = """
    [Passcode]
    MinLength=64
    RequireDigit=yes
    RequireLower=yes
    RequireUpper=yes
    RequireSpecial=yes
    MinCharacterGroups=4
    MinUniqueCharacters=40
    ForbidSequences=yes
    HistoryCount=24
    """
let policy =
    (try? PolicyBook(
        PolicyFiles(administrators: PolicyFile(name: "strict", text: Array(strict.utf8)))))?
    .inForce(for: PolicySubject()).policy ?? .builtIn
// In scripts that cost differently; marks have two scalars to a character.
let texts: [(name: String, text: String)] = [
    ("judgeLatin", "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter 42!?-x"),
    ("judgeCyrillic", String((0..<64).map { Character(Unicode.Scalar(0x0410 + $0) ?? "x") })),
    ("judgeHan", String((0..<64).map { Character(Unicode.Scalar(0x4E00 + $0 * 7) ?? "x") })),
    ("judgeMarks", (0..<64).map { "\(Unicode.Scalar(0x0905 + $0 % 32) ?? "x")\u{903}" }.joined()),
    ("judgeEmoji", String((0..<64).map { Character(Unicode.Scalar(0x1F600 + $0) ?? "x") })),
    (
        "judgeDigits",
        String((0..<64).map { Character(Unicode.Scalar(0x0966 + $0 * $0 % 10) ?? "x") })
    ),
]
var judgements: [String] = []
for (name, text) in texts {
    let passcode = Array(text.utf8)
    let took = (0..<rounds * 20).map { _ in
        microseconds { found += PasscodeRules.judge(passcode.span, policy).entries.count }
    }
    judgements.append(json(name, took))
}
guard found > 0 else { fatalError("nothing was done") }
print(
    "{\(json("reload", reloads)), \(json("person", persons)), \(judgements.joined(separator: ", ")), \"bytes\": \(file.text.count)}"
)
