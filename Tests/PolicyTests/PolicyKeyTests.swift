import Testing

@testable import Policy

private let head = "[Passcode]\n"

/// A key's whole range: values that are taken, and those just below and above it.
struct Bounds: Sendable, CustomTestStringConvertible {
    let key: String
    let taken: [String]
    let refused: [String]

    init(_ key: String, _ taken: [String], _ refused: [String]) {
        self.key = key
        self.taken = taken
        self.refused = refused
    }

    var testDescription: String { key }
}

private func flag(_ key: String) -> Bounds {
    Bounds(key, ["yes", "no"], ["Yes", "true", "1", "on", ""])
}

private func number(_ key: String, _ least: Int, _ most: Int) -> Bounds {
    let inside = [least, least + 1, most - 1, most].map { "\($0)" }
    return Bounds(key, inside, ["\(least - 1)", "\(most + 1)", "-1", "", "1.0", "0x1", "1 2"])
}

private func time(_ key: String, _ least: Int, _ most: Int, _ days: String) -> Bounds {
    let inside = ["\(least)", "\(least)s", "\(most - 1)", "\(most)", days]
    let outside = ["\(most + 1)", "\(days) 1s", "-1s", "never", "infinity", "", "1500ms"]
    return Bounds(key, inside, outside + (least > 0 ? ["0", "0s", "\(least - 1)"] : []))
}

private func choice(_ key: String, _ words: String...) -> Bounds {
    Bounds(key, words, words.map { $0.uppercased() } + ["", "yes", words.joined(separator: " ")])
}

private func services(_ key: String, refersToLocal: Bool) -> Bounds {
    let both = ["", "login", "login sshd", "a+b-c.d@e_f9", String(repeating: "x", count: 64)]
    let neither = ["login,sshd", "-x", "Login", "a/b", String(repeating: "x", count: 65)]
    return refersToLocal
        ? Bounds(key, both + ["LocalServices", "sshd LocalServices"], neither)
        : Bounds(key, both, neither + ["LocalServices"])
}

/// The table of BEHAVIOURS 1, in its order.
private let table: [Bounds] = [
    flag("Enabled"), flag("UseDefaultPolicy"), number("MinLength", 1, 256), flag("RequireDigit"),
    flag("RequireLower"), flag("RequireUpper"), flag("RequireSpecial"),
    number("MinCharacterGroups", 0, 4), flag("DigitsOnly"), number("MinUniqueCharacters", 0, 256),
    flag("ForbidSequences"),
    Bounds("Rules", ["all", ""], ["All,", "a b c/d", "all all"]),
    number("ExpireDays", 0, 3650), number("HistoryCount", 0, 24), number("RetryLimit", 0, 100),
    choice("OnRetryLimit", "erase", "lock"), number("ThrottleAfter", 0, 100),
    time("ThrottleMax", 1, 86_400, "1d"), services("LocalServices", refersToLocal: false),
    services("PasscodeServices", refersToLocal: true),
    services("UnlockServices", refersToLocal: true),
    services("ConversingServices", refersToLocal: true), flag("AllowNoPasscode"),
    flag("NoPasscodeByDefault"), flag("AllowRecoveryKey"),
    time("LockTimeout", 0, 7 * 86_400, "1w"),
    choice("LockOnBackground", "immediate", "timeout", "never"),
    time("IdleTimeout", 0, 7 * 86_400, "7d"), time("HoldMax", 0, 30 * 86_400, "30d"),
    time("LockGrace", 0, 300, "5min"),
    Bounds(
        "FingerprintAfterLock", ["yes", "no", "1s", "12h", "7d"],
        ["0", "8d", "maybe", "", "Yes"]),
    Bounds(
        "LoginUnits", ["", "getty@*", "my-door@*.service my\\x2ddoor gdm*"],
        ["*", "*getty", "a/b", "a%b", String(repeating: "a", count: 129), "é"]),
    Bounds(
        "StoreQuota", ["0", "0KiB", "1KiB", "255MiB", "1GiB", "1TiB", "1024GiB"],
        ["1", "1025GiB", "2TiB", "1TB", "-1", ""]),
    flag("AllowFingerprint"), flag("FingerprintFirstUnlock"),
    choice("FingerprintReaders", "internal", "any"), number("FingerprintMaxFailures", 1, 20),
    time("PasscodeEvery", 0, 30 * 86_400, "30d"),
    choice("ChangeOnUpdate", "always", "noncompliant"), flag("ShowReset"), flag("ShowCancel"),
    choice("Onboard", "cli", "login", "silent"),
    Bounds(
        "DerivationMemory", ["19MiB", "19457KiB", "1023MiB", "1GiB", "1024 MiB"],
        ["19455KiB", "18MiB", "1048577KiB", "2GiB", "64", "64MB", "", "MiB"]),
    number("DerivationPasses", 2, 16),
]

@Suite struct PolicyKeyTests {
    @Test("the table has every key of BEHAVIOURS, in its order")
    func names() {
        #expect(PolicyKey.all.map(\.name) == table.map(\.key))
        #expect(PolicyKey.all.count == 44)
    }

    @Test("each value within the bounds is taken and written as it is read", arguments: table)
    func inside(bounds: Bounds) throws {
        for value in bounds.taken {
            let policy = try parse(head + "\(bounds.key)=\(value)").get()
            let kind = try #require(
                PolicyKey.place(of: bytes(bounds.key)).map { PolicyKey.all[$0].kind })
            #expect(try parse(head + "\(bounds.key)=\(kind.text(policy))").get() == policy)
        }
    }

    @Test("each value beyond the bounds is refused, with what would be right", arguments: table)
    func outside(bounds: Bounds) throws {
        let place = try #require(PolicyKey.place(of: bytes(bounds.key)))
        for value in bounds.refused {
            let line = complaint(bytes(head + "\(bounds.key)=\(value)")) ?? "taken: \(value)"
            #expect(line.hasPrefix("f:2: \(bounds.key): "))
            #expect(line.hasSuffix(": \(PolicyKey.all[place].kind.right)"))
        }
    }

    @Test("each key changes a value of its own, and no other", arguments: table)
    func ownPlace(bounds: Bounds) throws {
        var changed: Set<String> = []
        for value in bounds.taken + (bounds.key == "Rules" ? ["r"] : []) {
            let policy = try parse(head + "\(bounds.key)=\(value)\n[Rule r]\nMatch=[0-9]").get()
            for key in PolicyKey.all where key.kind.text(policy) != key.kind.text(.builtIn) {
                changed.insert(key.name)
            }
        }
        // DigitsOnly also changes the default of ForbidSequences.
        #expect(
            changed
                == (bounds.key == "DigitsOnly" ? ["DigitsOnly", "ForbidSequences"] : [bounds.key]))
    }

    @Test(
        "times are systemd's",
        arguments: [
            ("90", 90), ("90s", 90), ("2min", 120), ("2m", 120), ("1h 30min", 5400),
            ("1h30min", 5400),
            ("1 h", 3600), ("1 hour 2 minutes 3 seconds", 3723), ("2000ms", 2), ("500ms 500ms", 1),
            ("1d", 86_400), ("1w", 604_800),
        ] as [(String, UInt32)])
    func times(text: String, seconds: UInt32) {
        #expect(parse(head + "IdleTimeout=\(text)").map(\.idleTimeout) == .success(seconds))
    }

    @Test("sequences are forbidden where digits are all there is, unless it is written otherwise")
    func sequences() throws {
        for (text, forbidden) in [
            ("", false), ("DigitsOnly=yes", true), ("DigitsOnly=no", false),
            ("ForbidSequences=yes", true), ("DigitsOnly=yes\nForbidSequences=no", false),
            ("ForbidSequences=no\nDigitsOnly=yes", false),
            ("ForbidSequences=yes\nDigitsOnly=no", true),
        ] {
            #expect(parse(head + text).map(\.forbidSequences) == .success(forbidden), "\(text)")
        }
    }

    @Test("the built-in values are those of BEHAVIOURS")
    func builtIn() {
        let lockers =
            "swaylock i3lock xscreensaver kde cinnamon-screensaver mate-screensaver "
            + "xfce4-screensaver gtklock hyprlock vlock physlock"
        let lines = PolicyBook.builtIn.values(for: PolicySubject()).map { "\($0.key)=\($0.value)" }
        #expect(
            lines.joined(separator: "\n") == """
                Enabled=yes
                UseDefaultPolicy=yes
                MinLength=8
                RequireDigit=no
                RequireLower=no
                RequireUpper=no
                RequireSpecial=no
                MinCharacterGroups=0
                DigitsOnly=no
                MinUniqueCharacters=0
                ForbidSequences=no
                Rules=all
                ExpireDays=0
                HistoryCount=0
                RetryLimit=0
                OnRetryLimit=erase
                ThrottleAfter=3
                ThrottleMax=15min
                LocalServices=login gdm-password lightdm sddm greetd sudo sudo-i su su-l polkit-1
                PasscodeServices=LocalServices \(lockers)
                UnlockServices=login sshd gdm-password lightdm sddm greetd \(lockers)
                ConversingServices=login su su-l sudo sudo-i gdm-password lightdm
                AllowNoPasscode=yes
                NoPasscodeByDefault=no
                AllowRecoveryKey=yes
                LockTimeout=0
                LockOnBackground=immediate
                IdleTimeout=0
                HoldMax=8h
                LockGrace=5s
                FingerprintAfterLock=12h
                LoginUnits=getty@* serial-getty@* console-getty* container-getty@* gdm* lightdm* \
                sddm* greetd* ly* xdm* lxdm* slim* nodm*
                StoreQuota=256MiB
                AllowFingerprint=yes
                FingerprintFirstUnlock=no
                FingerprintReaders=internal
                FingerprintMaxFailures=5
                PasscodeEvery=0
                ChangeOnUpdate=always
                ShowReset=yes
                ShowCancel=no
                Onboard=silent
                DerivationMemory=64MiB
                DerivationPasses=3
                """)
    }

    @Test(
        "keys without an effect in this release are known, where they would change something"
    )
    func notActedOn() throws {
        func idle(_ book: PolicyBook) -> [String] {
            book.values(for: PolicySubject()).filter { !$0.isActedOn }.map(\.key)
        }
        #expect(idle(.builtIn) == [])
        #expect(
            PolicyKeyFacts.all.filter { !$0.isActedOn }.map(\.name) == ["FingerprintFirstUnlock"])
        var files = PolicyFiles()
        for (value, named) in [("no", []), ("yes", ["FingerprintFirstUnlock"])] {
            files.administrators = PolicyFile(
                name: "f", text: Array("[Passcode]\nFingerprintFirstUnlock=\(value)\n".utf8))
            #expect(idle(try PolicyBook(files)) == named)
        }
    }

    @Test("the default policy file says what is built in, key by key and completely")
    func defaultFile() throws {
        let file = PolicyFile(name: "f", text: try contents(of: "config/policy.conf"))
        let parsed = PolicyParser.parse(file)
        #expect(parsed.problems == [])
        #expect(PolicyLint.problems(in: [file]) == [])
        let written = try #require(parsed.sections[.everybody]).map { PolicyKey.all[$0.key].name }
        // The file leaves ForbidSequences out: if it were written, it would no longer follow
        // DigitsOnly.
        #expect(written == table.map(\.key).filter { $0 != "ForbidSequences" })
        #expect(parse(file.text) == .success(.builtIn))
        let text = String(decoding: file.text, as: UTF8.self)
        #expect(text.contains("\n#ForbidSequences=no\n"))
        for key in PolicyKey.ofApps {
            let value = key.name == "Store" ? "default" : key.kind.text(.builtIn)
            #expect(text.contains("\n#\(key.name)=\(value)\n"), "\(key.name)")
        }
    }

    @Test(
        "rule keys, and they alone, change the text that passcodes are judged by", arguments: table)
    func ruleText(bounds: Bounds) throws {
        let isRule = [
            "MinLength", "RequireDigit", "RequireLower", "RequireUpper", "RequireSpecial",
            "MinCharacterGroups", "DigitsOnly", "MinUniqueCharacters", "ForbidSequences", "Rules",
        ].contains(bounds.key)
        let rule = "\n[Rule a]\nMatch=[0-9]\n[Passcode]\n"
        let before = try parse(rule).get()
        for value in bounds.taken {
            let after = try parse("\(rule)\(bounds.key)=\(value)").get()
            let key = try #require(PolicyKey.place(of: bytes(bounds.key)))
            let differs =
                PolicyKey.all[key].kind.text(before) != PolicyKey.all[key].kind.text(after)
            #expect((before.ruleText != after.ruleText) == (isRule && differs), "\(value)")
        }
    }

    @Test("a rule's name and test are what a passcode is judged by; what is shown of it is not")
    func ruleTextOfRules() throws {
        func text(_ rules: String) throws -> [UInt8] { try parse(rules).get().ruleText }
        let one = try text("[Rule a]\nMatch=x")
        #expect(try one == text("[Rule a]\nDisplay=An x\nShow=no\n\nMatch=x"))
        #expect(try one == text("[Rule a]\nMatch=x\n[Rule b]\nMatch=y\n[Passcode]\nRules=a"))
        #expect(try one == text("[Passcode]\nRules=a\n[Rule a]\nMatch=x"))
        #expect(
            try text("[Rule a]\nMatch=x\n[Rule b]\nMatch=y")
                == text("[Rule b]\nMatch=y\n[Rule a]\nMatch=x"))
        for other in [
            "", "[Rule b]\nMatch=x", "[Rule a]\nReject=x", "[Rule a]\nMatch=X",
            "[Rule a]\nMatch=xx",
            "[Rule a]\nDictionary=yes", "[Rule a]\nMatch=x\n[Passcode]\nRules=",
            "[Rule a]\nMatch=x\n[Rule b]\nMatch=y",
        ] {
            #expect(try one != text(other), "\(other)")
        }
    }

    @Test(
        "no update of the package changes what a passcode is judged by where nobody wrote a policy")
    func factoryRules() {
        #expect(
            String(decoding: Policy.builtIn.ruleText, as: UTF8.self) == """
                MinLength=8
                RequireDigit=no
                RequireLower=no
                RequireUpper=no
                RequireSpecial=no
                MinCharacterGroups=0
                DigitsOnly=no
                MinUniqueCharacters=0
                ForbidSequences=no
                """)
    }

    @Test("a rule key that a later release adds asks nobody for a new passcode until it is written")
    func laterRules() throws {
        // Keys with other uses stand in for later rule keys.
        let later = [
            PolicyKey("LaterFlag", .flag(\.showCancel), .rule),
            PolicyKey("LaterOn", .flag(\.showReset), .rule),
            PolicyKey("LaterNumber", .number(0...24, zero: nil, \.historyCount), .rule),
        ]
        for text in ["", "[Passcode]\nMinLength=9\n[Rule a]\nMatch=x"] {
            let policy = try parse(text).get()
            #expect(policy.ruleText(of: PolicyKey.all + later) == policy.ruleText)
            #expect(policy.ruleText(of: later + PolicyKey.all) == policy.ruleText)
        }
        let texts = try [
            "", "ShowCancel=yes", "ShowReset=no", "HistoryCount=1", "HistoryCount=2",
        ].map {
            String(
                decoding: try parse("[Passcode]\n\($0)").get().ruleText(of: later), as: UTF8.self)
        }
        #expect(texts == ["", "LaterFlag=yes", "LaterOn=no", "LaterNumber=1", "LaterNumber=2"])
    }
}
