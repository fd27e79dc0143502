import Testing

@testable import Policy

private func lint(_ texts: String..., ids: [String: Int] = [:]) -> [String] {
    let files = texts.enumerated().map {
        PolicyFile(name: "\($0.offset + 1)", text: bytes($0.element))
    }
    // As far as these tests go: one digit between braces.
    let texts = ReplaceableTexts(counts: ids) { text in
        Set(text.split(separator: "{").compactMap { $0.first?.wholeNumberValue })
    }
    return PolicyLint.problems(in: files, texts: ids.isEmpty ? nil : texts).map { problem in
        switch problem.severity {
        case .error: "error \(problem)"
        case .warning: "warning \(problem)"
        }
    }
}

/// Keys that are valid one by one, and the warning that they cause together. If one of them is left
/// out, there is no warning.
struct Doubt: Sendable, CustomTestStringConvertible {
    let keys: [String]
    let warning: String

    init(_ keys: String..., says warning: String) {
        self.keys = keys
        self.warning = warning
    }

    var testDescription: String { warning }
}

private let doubts: [Doubt] = [
    Doubt(
        "RequireDigit=yes", "DigitsOnly=yes",
        says: "2: RequireDigit: DigitsOnly=yes sets it aside: one of the two"),
    Doubt(
        "DigitsOnly=yes", "MinCharacterGroups=2",
        says: "3: MinCharacterGroups: DigitsOnly=yes sets it aside: one of the two"),
    Doubt(
        "DigitsOnly=yes", "MinUniqueCharacters=11",
        says: "3: MinUniqueCharacters: more than the ten digits of any script: "
            + "at most 10 where DigitsOnly=yes"),
    Doubt(
        "AllowNoPasscode=no", "NoPasscodeByDefault=yes",
        says: "3: NoPasscodeByDefault: no effect with AllowNoPasscode=no: "
            + "AllowNoPasscode=yes, or no line with this key"),
    Doubt(
        "OnRetryLimit=erase",
        says: "2: OnRetryLimit: no effect without a limit: RetryLimit=N, or no line with this key"),
    Doubt(
        "RetryLimit=0", "OnRetryLimit=lock",
        says: "3: OnRetryLimit: no effect without a limit: RetryLimit=N, or no line with this key"),
    Doubt(
        "AllowRecoveryKey=no", "RetryLimit=5", "OnRetryLimit=lock",
        says:
            "4: OnRetryLimit: without recovery keys only root opens a store again that was locked: "
            + "AllowRecoveryKey=yes, if people are to open it"),
    Doubt(
        "ThrottleAfter=0", "ThrottleMax=1h",
        says: "3: ThrottleMax: no effect with ThrottleAfter=0: "
            + "ThrottleAfter=N, or no line with this key"),
    Doubt(
        "RetryLimit=5", "ThrottleAfter=0",
        says: "3: ThrottleAfter: any passer-by erases a store within seconds: "
            + "ThrottleAfter=N, or OnRetryLimit=lock"),
    Doubt(
        "LocalServices=",
        says: "2: LocalServices: the list is empty: no try is ever the person's own: "
            + "PAM service names"),
    Doubt(
        "PasscodeServices=",
        says: "2: PasscodeServices: the list is empty: nobody is asked for a passcode: "
            + "PAM service names"),
    Doubt(
        "UnlockServices=sshd login sshd",
        says: "2: UnlockServices: 'sshd' stands twice: each name once"),
    Doubt(
        "UseDefaultPolicy=no",
        says: "2: UseDefaultPolicy: no effect with Enabled=yes: no line with this key"),
    Doubt(
        "UseDefaultPolicy=no", "Enabled=no",
        says: "2: UseDefaultPolicy: with Enabled=no there are no passcodes at all: "
            + "UseDefaultPolicy=yes"),
]

@Suite struct PolicyLintTests {
    @Test("keys that say nothing beside each other are told", arguments: doubts)
    func doubt(doubt: Doubt) {
        let text = (["[Passcode]"] + doubt.keys).joined(separator: "\n")
        #expect(lint(text) == ["warning 1:\(doubt.warning)"])
    }

    @Test(
        "and are told once: where they come in, and not again for whoever inherits them",
        arguments: doubts)
    func inherited(doubt: Doubt) {
        let text = (["[Passcode]"] + doubt.keys).joined(separator: "\n")
        let more = "\n[Passcode user:eve]\nMinLength=9\n[Passcode group:g]\nHistoryCount=3"
        #expect(lint(text + more) == ["warning 1:\(doubt.warning)"])
    }

    @Test("also where one stands in everybody's section and the other in a person's")
    func apart() {
        #expect(
            lint("[Passcode]\nDigitsOnly=yes\n[Passcode user:eve]\nRequireDigit=yes") == [
                "warning 1:4: RequireDigit: DigitsOnly=yes sets it aside: one of the two"
            ])
        #expect(
            lint("[Passcode]\nRequireDigit=yes\n[Passcode user:eve]\nDigitsOnly=yes") == [
                "warning 1:4: RequireDigit: DigitsOnly=yes sets it aside: one of the two"
            ])
    }

    @Test("a quota that hardly holds an empty store is told, none and a larger one are not")
    func smallQuota() {
        #expect(
            lint("[Passcode]\nStoreQuota=512KiB") == [
                "warning 1:2: StoreQuota: an empty store alone takes about 200 KiB: "
                    + "1MiB or more, or 0 (no limit)"
            ])
        #expect(lint("[Passcode]\nStoreQuota=0") == [])
        #expect(lint("[Passcode]\nStoreQuota=1MiB") == [])
    }

    @Test(
        "a finger at the first unlock and a timeout that never comes are told with what they lack"
    )
    func notYet() {
        #expect(
            lint("[Passcode]\nFingerprintFirstUnlock=yes\nLockTimeout=5min") == [
                "warning 1:2: FingerprintFirstUnlock: it needs a TPM, "
                    + "which this release does not use: FingerprintFirstUnlock=no",
                "warning 1:2: FingerprintFirstUnlock: not acted on yet by this release: "
                    + "known, and without an effect so far",
                "warning 1:3: LockTimeout: no effect without LockOnBackground=timeout: "
                    + "LockOnBackground=timeout, or no line with this key",
            ])
        #expect(
            lint("[Passcode]\nLockOnBackground=timeout").last
                == "warning 1:2: LockOnBackground: without LockTimeout it never locks: "
                + "LockTimeout=TIME, or LockOnBackground=never")
    }

    @Test("rules that nobody names, and rules without words for people")
    func rules() {
        #expect(
            lint("[Passcode]\nRules=a\n[Rule a]\nMatch=x\nDisplay=An x\n[Rule b]\nMatch=y\nShow=no")
                == [
                    "warning 1:6: [Rule b]: nobody's Rules name it: "
                        + "its name in a line Rules=, or no section"
                ])
        #expect(
            lint("[Rule a]\nMatch=x") == [
                "warning 1:1: [Rule a]: people will read its name: Display=TEXT"
            ])
        #expect(
            lint("[Passcode]\nRules=\n[Passcode user:e]\nRules=a\n[Rule a]\nMatch=x\nShow=no") == []
        )
    }

    @Test("ids of texts are held against the known ones where those are given")
    func texts() {
        let text = "[Texts]\nmatch.prompt=P\nmatch.promt=P\nxyz=P"
        #expect(lint(text) == [])
        #expect(
            lint(text, ids: ["match.prompt": 0, "match.retry": 0]) == [
                "warning 1:3: match.promt: no text has this id: perhaps match.prompt",
                "warning 1:4: xyz: no text has this id: an id that 'appvault texts' lists",
            ])
    }

    @Test("a position that a text does not have is told, with those that it has")
    func positions() {
        let ids = ["none": 0, "one": 1, "three": 3]
        #expect(lint("[Texts]\nnone=P\none=P {1}\nthree=P {3} {1} {0} {x}", ids: ids) == [])
        #expect(
            lint("[Texts]\nnone=P {1}\none=P {9} {2}\nthree=P {3} {4}", ids: ids) == [
                "warning 1:2: none: this text has no {1}: a text without positions",
                "warning 1:3: one: this text has no {2}: {1}",
                "warning 1:4: three: this text has no {4}: {1} to {3}",
            ])
    }

    @Test("what a later file contradicts is told where the later file says so")
    func laterFile() {
        let first = "[Passcode]\nThrottleMax=1h\nThrottleAfter=3"
        #expect(
            lint(first, "[Passcode]\nMinLength=9\nThrottleAfter=0") == [
                "warning 2:3: ThrottleMax: no effect with ThrottleAfter=0: "
                    + "ThrottleAfter=N, or no line with this key"
            ])
    }

    @Test("all problems of all files are told, in the order of the lines")
    func goesOn() {
        let broken = """
            MinLength=1
            [Passcode]
            MinLength=0
            Colour=red
            what
            RetryLimit=5
            Rules=a b
            [Passcode grp:x]
            MinLength=0
            [Rule a]
            Mutch=x
            [Rule c]
            Show=yes
            """
        let found = lint(broken, "[Passcode]\nExpireDays=x\n[Texts]\nA=b")
        let begins = found.map { (line: String) -> String in
            line.split(separator: " ").prefix(2).joined(separator: " ")
        }
        #expect(
            begins == [
                "error 1:1:", "error 1:3:", "error 1:4:", "error 1:5:", "error 1:7:", "error 1:8:",
                "error 1:11:", "error 1:12:", "error 2:2:", "error 2:4:",
            ])
        // The section of rule a exists, although it is broken. Only its own mistake is reported.
        #expect(found.contains { $0.contains("no section [Rule b]") })
        #expect(!found.contains { $0.contains("no section [Rule a]") })
        #expect(found[7].contains("[Rule c]: the rule has no test"))
    }

    @Test("a file of nothing but mistakes is told without end in sight, and in good time")
    func many() {
        let text = "[Passcode]\n" + String(repeating: "x\n", count: 100_000)
        #expect(lint(text).count == PolicyParser.mostProblems)
    }

    @Test("what lint calls an error is what the daemon refuses, no more and no less")
    func sameWord() {
        let texts = [
            "", "[Passcode]\nMinLength=9", "[Passcode]\nMinLength=0", "[Rule a]\nMatch=x",
            "[Passcode]\nRules=b", "[Rule a]\nReject=.", "[Passcode]\nOnRetryLimit=lock",
            "[Rule a]\nMatch=x\n[Rule b]\nReject=x", "[Texts]\nq=1", "[Texts]\nQ=1",
        ]
        for text in texts {
            let file = PolicyFile(name: "f", text: bytes(text))
            let refused = PolicyLint.problems(in: [file]).contains { $0.severity == .error }
            #expect(
                refused == ((try? PolicyBook(PolicyFiles(administrators: file))) == nil), "\(text)")
        }
    }
}
