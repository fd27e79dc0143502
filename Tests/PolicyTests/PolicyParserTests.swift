import Testing

@testable import Policy

/// What a file of the administrator's says to everybody.
func parse(_ text: String) -> Result<Policy, PolicyProblem> { parse(bytes(text)) }

func parse(_ text: [UInt8]) -> Result<Policy, PolicyProblem> {
    let file = PolicyFile(name: "f", text: text)
    let layer = PolicyLayer([PolicyParser.parse(file)])
    return Result { () throws(PolicyProblem) in
        _ = try PolicyBook(PolicyFiles(administrators: file))
        return layer.policy(layer.settings(for: PolicySubject()))
    }
}

func complaint(_ text: [UInt8]) -> String? {
    switch parse(text) {
    case .success: nil
    case .failure(let problem): problem.description
    }
}

/// A bad file, and the one line that it earns.
struct BadFile: Sendable, CustomTestStringConvertible {
    let text: [UInt8]
    let line: String

    init(_ text: String, _ line: String) {
        self.init(bytes(text), line)
    }

    init(_ text: [UInt8], _ line: String) {
        self.text = text
        self.line = line
    }

    var testDescription: String { line }
}

private let head = "[Passcode]\n"
private let known = PolicyKey.all.map(\.name).joined(separator: ", ")
private let yesNo = "yes or no"
private let times = "a time from 1s to 24h, such as 90s, 15min or 1h 30min"
private let sizes = "a size from 19MiB to 1GiB, such as 64MiB"
private let services = "PAM service names with spaces between them"
private let servicesToo = "PAM service names with spaces between them, and the word LocalServices"
private let lengths = "a whole number from 1 to 256"
private let sections =
    "[Passcode], [Passcode group:NAME], [Passcode user:NAME], [Passcode store:KEY], [Rule NAME] or [Texts]"
private let keyNames = "1 to 255 bytes, no blanks around them, without : [ and ]"
private let ruleNames =
    "1 to 58 letters, digits, points, hyphens and underscores, and not 'all'"
private let days = "a whole number from 0 (never) to 3650"
private let oneTest = "exactly one of Match=, Reject= and Dictionary=yes"
private let namedRules = "all, or names of [Rule NAME] sections with spaces between"
private let limits = "a whole number from 0 (no limit) to 100"

private let badFiles: [BadFile] = [
    BadFile(head + "Enabled=maybe", "f:2: Enabled: 'maybe' is neither yes nor no: \(yesNo)"),
    BadFile(head + "Enabled=Yes", "f:2: Enabled: 'Yes' is neither yes nor no: \(yesNo)"),
    BadFile(head + "Enabled=1", "f:2: Enabled: '1' is neither yes nor no: \(yesNo)"),
    BadFile(head + "Enabled=", "f:2: Enabled: no value: \(yesNo)"),
    BadFile(head + "MinLength=eight", "f:2: MinLength: 'eight' is not a whole number: \(lengths)"),
    BadFile(head + "MinLength=-1", "f:2: MinLength: '-1' is not a whole number: \(lengths)"),
    BadFile(head + "MinLength=8.5", "f:2: MinLength: '8.5' is not a whole number: \(lengths)"),
    BadFile(head + "MinLength=\"8\"", "f:2: MinLength: '\"8\"' is not a whole number: \(lengths)"),
    BadFile(head + "MinLength=0", "f:2: MinLength: '0' is too little: \(lengths)"),
    BadFile(head + "MinLength=257", "f:2: MinLength: '257' is too much: \(lengths)"),
    BadFile(
        head + "MinLength=99999999999999999999999",
        "f:2: MinLength: '99999999999999999999999' is too much: \(lengths)"),
    BadFile(
        head + "\n\n# c\nRetryLimit=101", "f:5: RetryLimit: '101' is too much: \(limits)"),
    BadFile(
        head + "OnRetryLimit=wipe", "f:2: OnRetryLimit: 'wipe' is not known here: erase or lock"),
    BadFile(head + "ThrottleMax=0", "f:2: ThrottleMax: '0' is too little: \(times)"),
    BadFile(head + "ThrottleMax=25h", "f:2: ThrottleMax: '25h' is too much: \(times)"),
    BadFile(
        head + "ThrottleMax=1s 90fortnights",
        "f:2: ThrottleMax: '1s 90fortnights' is not a time: \(times)"),
    BadFile(head + "ThrottleMax=s", "f:2: ThrottleMax: 's' is not a time: \(times)"),
    BadFile(head + "ThrottleMax=1h 5", "f:2: ThrottleMax: '1h 5' is not a time: \(times)"),
    BadFile(
        head + "ThrottleMax=1500ms",
        "f:2: ThrottleMax: '1500ms' is not a whole number of seconds: \(times)"),
    BadFile(head + "ThrottleMax=infinity", "f:2: ThrottleMax: 'infinity' is not a time: \(times)"),
    BadFile(head + "DerivationMemory=64", "f:2: DerivationMemory: '64' has no unit: \(sizes)"),
    BadFile(
        head + "DerivationMemory=64MB",
        "f:2: DerivationMemory: 'MB' is not KiB, MiB or GiB: \(sizes)"),
    BadFile(head + "DerivationMemory=MiB", "f:2: DerivationMemory: 'MiB' is not a size: \(sizes)"),
    BadFile(
        head + "DerivationMemory=18MiB", "f:2: DerivationMemory: '18MiB' is too little: \(sizes)"),
    BadFile(
        head + "DerivationMemory=99999999999GiB",
        "f:2: DerivationMemory: '99999999999GiB' is too much: \(sizes)"),
    BadFile(
        head + "LocalServices=login LocalServices",
        "f:2: LocalServices: the list refers to itself: \(services)"),
    BadFile(
        head + "UnlockServices=login, sshd",
        "f:2: UnlockServices: 'login,' is no service name: \(servicesToo)"),
    BadFile(
        head + "UnlockServices=GDM",
        "f:2: UnlockServices: 'GDM' has capital letters, which no service has: \(servicesToo)"),
    BadFile(
        head + "UnlockServices=-x", "f:2: UnlockServices: '-x' is no service name: \(servicesToo)"),
    BadFile(
        head + "MinLength=8 # short",
        "f:2: MinLength: a comment stands behind the value: a line of its own for the comment"),
    BadFile(
        head + "UnlockServices=login \\\n sshd",
        "f:2: UnlockServices: a line cannot be continued: the whole value in one line"),
    BadFile(
        head + "MinLength=9\nEnabled=yes\nMinLength=9",
        "f:4: MinLength: given a second time, after line 2: one line for each key"),
    BadFile(
        head + "MinLength=9\n[Passcode]\nMinLength=10",
        "f:4: MinLength: given a second time, after line 2: one line for each key"),
    BadFile(head + "MinLenght=9", "f:2: MinLenght: unknown key: perhaps MinLength"),
    BadFile(head + "minlength=9", "f:2: minlength: unknown key: perhaps MinLength"),
    BadFile(head + "RetryLimits=9", "f:2: RetryLimits: unknown key: perhaps RetryLimit"),
    BadFile(head + "Wallpaper=9", "f:2: Wallpaper: unknown key: one of \(known)"),
    BadFile(
        head + "\u{1B}[31m=9", "f:2: the line has a control character (\\x1b): text"),
    BadFile(head + "L\u{E4}nge=9", "f:2: L\\xc3\\xa4nge: unknown key: one of \(known)"),
    BadFile(
        head + String(repeating: "k", count: 70) + "=9",
        "f:2: \(String(repeating: "k", count: 60))...: unknown key: one of \(known)"),
    BadFile(head + "ExpireDays=3651", "f:2: ExpireDays: '3651' is too much: \(days)"),
    BadFile(
        head + "HoldMax=31d",
        "f:2: HoldMax: '31d' is too much: a time from 0 (not at all) to 30d, such as 90s, 15min or 1h 30min"
    ),
    BadFile(
        head + "LockOnBackground=soon",
        "f:2: LockOnBackground: 'soon' is not known here: immediate, timeout or never"),
    BadFile(
        head + "Onboard=yes", "f:2: Onboard: 'yes' is not known here: cli, login or silent"),
    BadFile(
        head + "MinCharacterGroups=5",
        "f:2: MinCharacterGroups: '5' is too much: a whole number from 0 (no rule) to 4"),
    BadFile(head + "Rules=a/b", "f:2: Rules: 'a/b' is no name of a rule: \(namedRules)"),
    BadFile(head + "Rules=all a", "f:2: Rules: 'all' is no name of a rule: \(namedRules)"),
    BadFile(head + "Rules=year", "f:2: Rules: no section [Rule year]: \(namedRules)"),
    BadFile("[passcode]\n", "f:1: [passcode]: unknown section: \(sections)"),
    BadFile("[Passcode groups:x]", "f:1: [Passcode groups:x]: unknown section: \(sections)"),
    BadFile("[Rule]", "f:1: [Rule]: unknown section: \(sections)"),
    BadFile("[]", "f:1: []: unknown section: \(sections)"),
    BadFile("[Passcode\n", "f:1: [Passcode: the section has no closing bracket: \(sections)"),
    BadFile("[", "f:1: [: the section has no closing bracket: \(sections)"),
    BadFile("[Passcode user:]", "f:1: [Passcode user:]: '' is no name: \(keyNames)"),
    BadFile("[Passcode user: eve]", "f:1: [Passcode user: eve]: ' eve' is no name: \(keyNames)"),
    BadFile("[Passcode group:a:b]", "f:1: [Passcode group:a:b]: 'a:b' is no name: \(keyNames)"),
    BadFile(
        "[Passcode store:\(String(repeating: "k", count: 129))]",
        "f:1: [Passcode store:\(String(repeating: "k", count: 44))...: "
            + "'\(String(repeating: "k", count: 60))...' is no name: "
            + "1 to 128 bytes, no blanks around them, without : [ and ]"),
    BadFile(
        head + "[Passcode user:eve]\nMinLength=9\n\n[Passcode]\n[Passcode user:eve]\nMinLength=9",
        "f:7: MinLength: given a second time, after line 3: one line for each key"),
    BadFile("[Rule a b]", "f:1: [Rule a b]: 'a b' is no name of a rule: \(ruleNames)"),
    BadFile("[Rule all]", "f:1: [Rule all]: 'all' is no name of a rule: \(ruleNames)"),
    BadFile("\n[Rule a]\nDisplay=no a\n", "f:2: [Rule a]: the rule has no test: \(oneTest)"),
    BadFile(
        "[Rule a]\nMatch=a\nReject=b",
        "f:3: Reject: a second test, after Match in line 2: \(oneTest)"),
    BadFile(
        "[Rule a]\nDictionary=yes\nMatch=a",
        "f:3: Match: a second test, after Dictionary in line 2: \(oneTest)"),
    BadFile(
        "[Rule a]\nDictionary=no", "f:2: Dictionary: 'no' is not yes: yes, or no line at all"),
    BadFile("[Rule a]\nMatch=", "f:2: Match: no value: a value, or no line at all"),
    BadFile(
        "[Rule a]\nMatch=a\nMatch=b",
        "f:3: Match: given a second time, after line 2: one line for each key"),
    BadFile(
        "[Rule a]\nMatch=a\\\\\\",
        "f:2: Match: the pattern ends in a backslash: a POSIX extended regular expression"),
    BadFile(
        "[Rule a]\nMatch=a\nShow=perhaps",
        "f:3: Show: 'perhaps' is neither yes nor no: yes or no"),
    BadFile(
        "[Rule a]\nMatch=a\nDisplay=\(String(repeating: "\u{E4}", count: 201))",
        "f:3: Display: the text is too long: at most 200 characters"),
    BadFile("[Rule a]\nRegect=x", "f:2: Regect: unknown key: perhaps Reject"),
    BadFile(
        "[Rule a]\nMinLength=8",
        "f:2: MinLength: unknown key: one of Display, Show, Match, Reject, Dictionary"),
    BadFile(
        "[Rule a]\nMatch=x\n[Rule b]\nMatch=x\n[Rule a]",
        "f:5: [Rule a]: given a second time, after line 1: one section for each rule"),
    BadFile(
        "[Rule a]\nMatch=x\n[Rule b]\nReject=x",
        "f:3: [Rule b]: nobody can meet it: [Rule a] wants what it refuses: a rule that some passcode meets"
    ),
    BadFile(
        "[Rule a]\nReject=.*",
        "f:1: [Rule a]: nobody can meet it: every passcode matches: a rule that some passcode meets"
    ),
    BadFile(
        head + "[Rule a]\nMatch=^[a-z]+$\n[Passcode group:pin]\nDigitsOnly=yes",
        "f:2: [Rule a]: nobody can meet it: DigitsOnly allows nothing that matches: a rule that some passcode meets"
    ),
    BadFile(
        "[Texts]\nMinLength=8", "f:2: MinLength: no id of a text: an id that 'appvault texts' lists"
    ),
    BadFile("[Texts]\nmatch.prompt=", "f:2: match.prompt: no value: the text in one line"),
    BadFile(
        "[Texts]\nmatch.prompt=a\nmatch.retry=b\nmatch.prompt=c",
        "f:4: match.prompt: given a second time, after line 2: one line for each key"),
    BadFile(
        "[Texts]\nmatch.prompt=\(String(repeating: "x", count: 801))",
        "f:2: match.prompt: the text is too long: at most 800 bytes"),
    BadFile(
        "[Texts]\nmatch.prompt=a \\",
        "f:2: match.prompt: a line cannot be continued: the whole value in one line"),
    BadFile(
        "MinLength=8\n[Passcode]",
        "f:1: MinLength: the key stands before any section: [Passcode] in a line above it"),
    BadFile(
        head + "MinLength 8",
        "f:2: 'MinLength 8' is no section, key or comment: a section such as [Passcode], KEY=VALUE, or # before a comment"
    ),
    BadFile(head + "= 8", "f:2: no key before the =: KEY=VALUE"),
    BadFile(head + "MinLength=\0", "f:2: the line has a control character (\\x00): text"),
    BadFile(
        head + "# a comment\rMinLength=20\r", "f:2: the line has a control character (\\x0d): text"),
    BadFile(bytes(head) + [0x23, 0xFF, 0x0A], "f:2: the line is not UTF-8: plain UTF-8"),
    BadFile(
        [0xEF, 0xBB, 0xBF] + bytes(head),
        "f:1: the file begins with a byte order mark: plain UTF-8 without one"),
    BadFile(
        head + "\n#" + String(repeating: "x", count: 4096),
        "f:3: the line is longer than 4 KiB: a line of at most 4 KiB"),
    BadFile(
        [UInt8](repeating: 0x0A, count: 1 << 20) + [0x0A],
        "f:1048577: the file is longer than 1 MiB: a file of at most 1 MiB"),
]

@Suite struct PolicyParserTests {
    @Test("a bad file is refused with the line that says what and where", arguments: badFiles)
    func refused(file: BadFile) {
        #expect(complaint(file.text) == file.line)
    }

    @Test("a refusal carries its parts as values")
    func parts() {
        #expect(
            parse(head + "\nMinLength=0")
                == .failure(
                    PolicyProblem(
                        file: "f", line: 3, key: "MinLength", wrong: "'0' is too little",
                        right: lengths)))
    }

    @Test(
        "harmless shapes are taken",
        arguments: [
            "", "\n\n", "# only a comment", "; another\n", "[Passcode]",
            "[Passcode]\r\nMinLength=8\r\n",
            "  [Passcode]  \n\t MinLength \t=  8 ", "[Passcode]\n[Passcode]\nMinLength=008",
            "# caf\u{E9} \u{1F600}\n[Passcode]", "[Passcode]\n#MinLength=nonsense",
            "[Texts]\nsome.text=a; b # c",
            "[Passcode user:eve]\nMinLength=9", "[Passcode group:domain users]\nMinLength=9",
            "[Passcode group:\u{E9}quipe]\nMinLength=9", "[Passcode store:x]\nMinLength=9",
        ])
    func harmless(text: String) {
        #expect(parse(text) == .success(.builtIn))
    }

    @Test("a line of exactly 4 KiB and a file of exactly 1 MiB are taken")
    func longest() {
        #expect(complaint(bytes("#" + String(repeating: "x", count: 4095))) == nil)
        #expect(complaint([UInt8](repeating: 0x0A, count: 1 << 20)) == nil)
    }

    @Test("an empty list is no service at all")
    func emptyList() throws {
        let policy = try parse(head + "LocalServices=\nUnlockServices=").get()
        #expect(!policy.acts(.local, at: bytes("login")))
        #expect(!policy.acts(.unlock, at: bytes("login")))
        // LocalServices in PasscodeServices is what LocalServices has become.
        #expect(!policy.acts(.passcode, at: bytes("login")))
        #expect(policy.acts(.passcode, at: bytes("i3lock")))
    }

    @Test("the word LocalServices stands for that list wherever it is written")
    func references() throws {
        let policy = try parse(head + "UnlockServices=sshd LocalServices\nLocalServices=kiosk")
            .get()
        #expect(policy.acts(.unlock, at: bytes("kiosk")))
        #expect(policy.acts(.passcode, at: bytes("kiosk")))
        #expect(!policy.acts(.unlock, at: bytes("login")))
        #expect(!policy.acts(.unlock, at: bytes("LocalServices")))
        #expect(!policy.acts(.converse(onTerminal: true), at: bytes("kiosk")))
    }

    @Test("the default lists name what BEHAVIOURS names")
    func lists() {
        func uses(_ service: String) -> [Bool] {
            [.local, .passcode, .unlock, .converse(onTerminal: true), .converse(onTerminal: false)]
                .map { Policy.builtIn.acts($0, at: bytes(service)) }
        }
        #expect(uses("login") == [true, true, true, true, true])
        #expect(uses("sudo") == [true, true, false, true, false])
        #expect(uses("su-l") == [true, true, false, true, false])
        #expect(uses("polkit-1") == [true, true, false, false, false])
        #expect(uses("swaylock") == [false, true, true, false, false])
        #expect(uses("sshd") == [false, false, true, false, false])
        #expect(uses("lightdm") == [true, true, true, true, true])
        #expect(uses("cron") == [false, false, false, false, false])
        #expect(uses("") == [false, false, false, false, false])
    }

    @Test("whatever stands in a file, the parser answers, and in one printable line")
    func anything() {
        var chance = Chance(seed: 2)
        let pieces = badFiles.map { Array($0.text.prefix(200)) }
        for _ in 0..<3000 {
            var text = pieces[Int(chance.next() % UInt64(pieces.count))]
            for _ in 0..<chance.next() % 6 where !text.isEmpty {
                let place = Int(chance.next() % UInt64(text.count))
                switch chance.next() % 3 {
                case 0: text[place] = UInt8(truncatingIfNeeded: chance.next())
                case 1: text.remove(at: place)
                default:
                    text.insert(
                        contentsOf: pieces[Int(chance.next() % UInt64(pieces.count))], at: place)
                }
            }
            if let line = complaint(text) {
                #expect(line.utf8.allSatisfy { 0x20...0x7E ~= $0 }, "\(line)")
            }
        }
    }
}

/// The same numbers every time (splitmix64).
struct Chance: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
