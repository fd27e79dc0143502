import Testing

@testable import Policy

/// The policy that an administrator's file sets for everybody.
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

/// A bad file, and the one line that describes its problem.
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
private let lengths = "a whole number from 1 to 256"
private let keyNames = "no blanks around them, without : [ and ]"

/// What a vector file cannot or should not contain: bytes that are not text, and long inputs.
private let oddFiles: [BadFile] = [
    BadFile(
        head + "\u{1B}[31m=9", "f:2: the line has a control character (\\x1b): text"),
    BadFile(head + "MinLength=\0", "f:2: the line has a control character (\\x00): text"),
    BadFile(
        head + "# a comment\rMinLength=20\r",
        "f:2: the line has a control character (\\x0d): text"),
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
    BadFile(
        "[Passcode user:\(String(repeating: "k", count: 256))]",
        "f:1: [Passcode user:\(String(repeating: "k", count: 45))...: "
            + "'\(String(repeating: "k", count: 60))...' is not a valid name: "
            + "1 to 255 bytes, \(keyNames)"),
    BadFile(
        "[Passcode store:\(String(repeating: "k", count: 129))]",
        "f:1: [Passcode store:\(String(repeating: "k", count: 44))...: "
            + "'\(String(repeating: "k", count: 60))...' is not a valid name: "
            + "1 to 128 bytes, \(keyNames)"),
    BadFile(
        "[Rule a]\nMatch=a\nDisplay=\(String(repeating: "\u{E4}", count: 201))",
        "f:3: Display: the text is too long: at most 200 characters"),
    BadFile(
        "[Texts]\nmatch.prompt=\(String(repeating: "x", count: 801))",
        "f:2: match.prompt: the text is too long: at most 800 bytes"),
    BadFile(
        "[Texts]\n\(String(repeating: "x", count: 65))=y",
        "f:2: \(String(repeating: "x", count: 60))...: no id of a text: "
            + "an id that 'appvault texts' lists"),
]

/// The cases of Tests/Vectors/policy-wrong.txt.
private let wrongFiles: [BadFile] = {
    guard let file = try? contents(of: "Tests/Vectors/policy-wrong.txt") else { return [] }
    var found: [(line: String, text: [String])] = []
    for line in String(decoding: file, as: UTF8.self).split(separator: "\n") {
        if line.hasPrefix("> ") { found.append((String(line.dropFirst(2)), [])) }
        if line.hasPrefix("|") { found[found.count - 1].text.append(String(line.dropFirst(2))) }
    }
    return found.map { BadFile($0.text.joined(separator: "\n"), $0.line) }
}()

private let badFiles = oddFiles + wrongFiles

@Suite struct PolicyParserTests {
    @Test("a bad file is refused with the line that says what and where", arguments: badFiles)
    func refused(file: BadFile) {
        #expect(complaint(file.text) == file.line)
    }

    @Test("the vector file is there, with at least thirty wrong files")
    func vectors() {
        #expect(wrongFiles.count >= 30)
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
        // PasscodeServices refers to LocalServices, which is empty now.
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
