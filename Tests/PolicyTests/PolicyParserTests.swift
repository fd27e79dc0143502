import Testing

@testable import Policy

func parse(_ text: String, onto base: Policy = .builtIn) -> Result<Policy, PolicyProblem> {
    parse(bytes(text), onto: base)
}

func parse(_ text: [UInt8], onto base: Policy = .builtIn) -> Result<Policy, PolicyProblem> {
    Result { () throws(PolicyProblem) in try PolicyParser.parse(text, file: "f", onto: base) }
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
    BadFile(
        head + "ExpireDays=30",
        "f:2: ExpireDays: not acted on by this release: no line with this key"),
    BadFile(
        "[Texts]\n", "f:1: [Texts]: not acted on by this release: only the section [Passcode]"),
    BadFile(
        "[Passcode user:eve]\n",
        "f:1: [Passcode user:eve]: not acted on by this release: only the section [Passcode]"),
    BadFile(
        "[Rule no-name]\n",
        "f:1: [Rule no-name]: not acted on by this release: only the section [Passcode]"),
    BadFile("[passcode]\n", "f:1: [passcode]: unknown section: [Passcode]"),
    BadFile("[Passcode\n", "f:1: [Passcode: the section has no closing bracket: [Passcode]"),
    BadFile(
        "MinLength=8\n[Passcode]",
        "f:1: MinLength: the key stands before any section: [Passcode] in a line above it"),
    BadFile(
        head + "MinLength 8",
        "f:2: 'MinLength 8' is no section, key or comment: [Passcode], KEY=VALUE, or # before a comment"
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
        ])
    func harmless(text: String) {
        #expect(parse(text) == .success(.builtIn))
    }

    @Test("a line of exactly 4 KiB and a file of exactly 1 MiB are taken")
    func longest() {
        #expect(complaint(bytes("#" + String(repeating: "x", count: 4095))) == nil)
        #expect(complaint([UInt8](repeating: 0x0A, count: 1 << 20)) == nil)
    }

    @Test("the default policy file says what is built in, key by key and completely")
    func defaultFile() throws {
        let file = try contents(of: "config/policy.conf")
        var other = Policy.builtIn
        other.enabled = false
        other.useDefaultPolicy = false
        other.minLength = 99
        other.retryLimit = 99
        other.onRetryLimit = .lock
        other.throttleAfter = 99
        other.throttleMax = 99
        other.localServices = ServiceList(names: [])
        other.passcodeServices = ServiceList(names: [])
        other.unlockServices = ServiceList(names: [])
        other.conversingServices = ServiceList(names: [])
        other.allowNoPasscode = false
        other.allowRecoveryKey = false
        other.derivationMemory = 1 << 30
        other.derivationPasses = 16
        for key in PolicyKey.all { #expect(key.kind.text(other) != key.kind.text(.builtIn)) }
        #expect(parse(file, onto: other) == .success(.builtIn))
    }

    @Test("the built-in values are those of BEHAVIOURS")
    func builtIn() {
        let lockers = "swaylock i3lock xscreensaver kde cinnamon-screensaver mate-screensaver"
        #expect(
            String(decoding: Policy.builtIn.render(), as: UTF8.self) == """
                [Passcode]
                Enabled=yes
                UseDefaultPolicy=yes
                MinLength=8
                RetryLimit=0
                OnRetryLimit=erase
                ThrottleAfter=3
                ThrottleMax=15min
                LocalServices=login gdm-password lightdm sddm greetd sudo sudo-i su su-l polkit-1
                PasscodeServices=LocalServices \(lockers)
                UnlockServices=login sshd gdm-password lightdm sddm greetd \(lockers)
                ConversingServices=login su su-l sudo sudo-i gdm-password lightdm
                AllowNoPasscode=yes
                AllowRecoveryKey=yes
                DerivationMemory=64MiB
                DerivationPasses=3

                """)
    }

    @Test(
        "each bound is taken, and the value beyond it refused",
        arguments: [
            ("MinLength", "1", "0"), ("MinLength", "256", "257"), ("RetryLimit", "100", "101"),
            ("ThrottleAfter", "100", "101"), ("ThrottleMax", "1", "0"),
            ("ThrottleMax", "1s", "0s"), ("ThrottleMax", "24h", "86401"),
            ("ThrottleMax", "1d", "1d 1s"), ("DerivationMemory", "19MiB", "19455KiB"),
            ("DerivationMemory", "1GiB", "1048577KiB"), ("DerivationPasses", "2", "1"),
            ("DerivationPasses", "16", "17"), ("RetryLimit", "0", "-1"),
            ("ThrottleAfter", "0", "-1"),
        ])
    func bounds(key: String, inside: String, outside: String) {
        #expect(complaint(bytes(head + "\(key)=\(inside)")) == nil)
        #expect(complaint(bytes(head + "\(key)=\(outside)"))?.hasPrefix("f:2: \(key): '") == true)
    }

    @Test(
        "times are systemd's",
        arguments: [
            ("90", 90), ("90s", 90), ("2min", 120), ("2m", 120), ("1h 30min", 5400),
            ("1h30min", 5400),
            ("1 h", 3600), ("1 hour 2 minutes 3 seconds", 3723), ("2000ms", 2), ("500ms 500ms", 1),
            ("1d", 86_400),
        ] as [(String, UInt32)])
    func times(text: String, seconds: UInt32) {
        #expect(parse(head + "ThrottleMax=\(text)").map(\.throttleMax) == .success(seconds))
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

    @Test("every key of the whole table is either acted on or refused by name, none twice")
    func wholeTable() {
        let names = PolicyKey.all.map(\.name) + PolicyKey.notActedOn
        #expect(Set(names).count == names.count)
        #expect(names.count == 40)
        for name in PolicyKey.notActedOn {
            #expect(complaint(bytes(head + "\(name)=1"))?.contains("not acted on") == true)
        }
    }

    @Test("the canonical text parses back to the same policy")
    func roundTrip() throws {
        let texts = [
            "", "MinLength=12\nOnRetryLimit=lock\nThrottleMax=61s",
            "ThrottleMax=2min\nRetryLimit=10",
            "DerivationMemory=20001KiB\nDerivationPasses=7",
            "LocalServices=\nPasscodeServices=LocalServices",
            "UnlockServices=a LocalServices b\nEnabled=no",
            "AllowNoPasscode=no\nAllowRecoveryKey=no",
        ]
        for text in texts {
            let policy = try parse(head + text).get()
            var base = Policy.builtIn
            base.minLength = 200
            base.throttleAfter = 50
            #expect(parse(policy.render(), onto: base) == .success(policy))
        }
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
