import Testing

@testable import Policy

/// What one rule says about a text.
private func finding(
    _ rule: PasscodeRule, _ text: String, custom: [Finding] = [],
    same: Finding = .notChecked(.outsideAChange), history: Finding = .notChecked(.outsideAChange)
) -> Finding {
    let judgement = PasscodeRules.judge(
        bytes(text).span, [rule], custom: custom, same: same, history: history)
    return judgement.entries[0].finding
}

private func met(_ rule: PasscodeRule, _ text: String) -> Bool {
    switch finding(rule, text) {
    case .satisfied: true
    case .unmet: false
    case .unmetBecause, .notChecked: Bool?.none!
    }
}

private let family = "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}"

@Suite struct PasscodeRulesTests {
    @Test(
        "the minimum counts characters, at, below and above it",
        arguments: [
            ("1234567", false), ("12345678", true), ("123456789", true),
            ("e\u{301}234567", false), ("e\u{301}2345678", true),
            ("пароль12", true), ("пароль1", false), ("κωδικός1", true), ("κωδικός", false),
            ("كلمةسري", false), ("كلمةسرية", true), ("密码密码密码密", false), ("密码密码密码密码", true),
            ("\u{92A}\u{93E}\u{938}\u{935}\u{930}\u{94D}\u{921}", false),
            (String(repeating: family, count: 7), false),
            (String(repeating: family, count: 8), true),
            (String(repeating: "\u{1F1E9}\u{1F1EA}", count: 7), false),
            (String(repeating: "\u{1F1E9}\u{1F1EA}", count: 8), true),
        ])
    func minimum(text: String, satisfied: Bool) {
        #expect(met(.minLength(minimum: 8), text) == satisfied)
        #expect(met(.minLength(minimum: UInt32(text.count)), text))
        #expect(!met(.minLength(minimum: UInt32(text.count) + 1), text))
    }

    @Test(
        "a digit is a decimal digit of any script and nothing else",
        arguments: [
            ("7", true), ("a1b", true), ("\u{663}", true), ("\u{6F3}", true), ("\u{969}", true),
            ("\u{FF19}", true), ("\u{1D7D8}", true), ("\u{E50}", true), ("\u{1E950}", true),
            ("abc", false), ("\u{B2}", false), ("\u{BD}", false), ("\u{2160}", false),
            ("三", false), ("\u{2460}", false), ("\u{1F51F}", false), ("\u{969}\u{301}", true),
        ])
    func digit(text: String, satisfied: Bool) {
        #expect(met(.digit, text) == satisfied)
    }

    @Test(
        "a lower letter is Ll, an upper one Lu or Lt, in every script",
        arguments: [
            ("a", true, false), ("A", false, true), ("\u{DF}", true, false),
            ("\u{3C9}", true, false), ("\u{3A9}", false, true), ("\u{436}", true, false),
            ("\u{416}", false, true), ("\u{1C5}", false, true), ("\u{1F88}", false, true),
            ("\u{1D7C}", true, false), ("\u{1E921}", false, true), ("\u{1E943}", true, false),
            ("\u{10D0}", true, false), ("\u{AA}", false, false), ("\u{2B0}", false, false),
            ("ك", false, false), ("अ", false, false), ("字", false, false), ("あ", false, false),
            ("한", false, false), ("\u{24D0}", false, false), ("\u{24B6}", false, false),
            ("\u{2170}", false, false), ("😀", false, false), ("1", false, false),
            ("!", false, false), ("\u{301}", false, false),
        ])
    func cases(text: String, isLower: Bool, isUpper: Bool) {
        #expect(met(.lower, text) == isLower)
        #expect(met(.upper, text) == isUpper)
    }

    @Test(
        "a special character is neither letter, mark nor number",
        arguments: [
            ("!", true), (" ", true), ("_", true), ("a-b", true), ("\u{20AC}", true),
            ("\u{1F600}", true), ("\u{2028}", true), ("\u{200D}", true), ("\u{E000}", true),
            ("\u{61F}", true), ("\u{964}", true), ("\u{3002}", true), ("\u{AB}", true),
            ("\u{FE0F}", false), ("\u{301}", false), ("\u{93F}", false), ("\u{20DD}", false),
            ("abcXYZ", false), ("019", false), ("\u{663}", false), ("\u{2167}", false),
            ("\u{BD}", false), ("\u{2B0}", false), ("字", false), ("كلمة", false), ("\u{AA}", false),
        ])
    func special(text: String, satisfied: Bool) {
        #expect(met(.special, text) == satisfied)
    }

    @Test(
        "the groups are digits, lower, upper and special, each counted once",
        arguments: [
            ("字字字", 0), ("aaa", 1), ("AAA", 1), ("111", 1), ("!!!", 1), ("aA", 2), ("a1", 2),
            ("字1!", 2), ("aA1", 3), ("aA!", 3), ("жЖ٣", 3), ("aA1!", 4), ("ωΩ\u{969}€", 4),
            ("\u{1C5}a", 2), ("e\u{301}", 1), ("😀\u{1F44D}", 1), ("\u{2167}\u{BD}", 0),
        ])
    func groups(text: String, count: UInt32) {
        #expect(met(.groups(minimum: 0), text))
        #expect(met(.groups(minimum: count), text))
        if count > 0 { #expect(met(.groups(minimum: count - 1), text)) }
        #expect(!met(.groups(minimum: count + 1), text))
    }

    @Test(
        "a PIN is decimal digits of any script and nothing else",
        arguments: [
            ("1", true), ("0123456789", true), ("٠١٢٣", true), ("12٣४", true), ("\u{FF11}2", true),
            ("12a4", false), ("1 2", false), ("12\u{301}", false), ("½", false), ("Ⅷ", false),
            ("三", false), ("1\u{FE0F}\u{20E3}", false), ("-1", false), ("1.5", false),
        ])
    func digitsOnly(text: String, satisfied: Bool) {
        #expect(met(.digitsOnly, text) == satisfied)
    }

    @Test(
        "unique characters are counted as scalars",
        arguments: [
            ("a", 1), ("aaaa", 1), ("abab", 2), ("aA", 2), ("abcdefgh", 8), ("жЖж", 2),
            ("e\u{301}e\u{301}", 2), ("\u{1F44D}\u{1F3FD}\u{1F44D}", 2), ("字字", 1), ("字子", 2),
            ("\u{1F1E9}\u{1F1EA}\u{1F1E9}", 2), ("?@?@", 2), ("\u{7F}\u{80}", 2),
            (String((0x4E00..<0x4F00).map { Character(Unicode.Scalar($0)!) }), 256),
        ] as [(String, UInt32)])
    func unique(text: String, count: UInt32) {
        #expect(met(.unique(minimum: count), text))
        #expect(met(.unique(minimum: count - 1), text))
        #expect(!met(.unique(minimum: count + 1), text))
        // The same text twice has no more different characters.
        #expect(!met(.unique(minimum: count + 1), text + text))
    }

    @Test(
        "digits in equal steps are a sequence, whatever the script and round the ten",
        arguments: [
            "111", "111111", "123456", "135791", "963074", "890", "098", "987654", "050", "0505",
            "٠١٢", "١٢3", "\u{967}\u{968}\u{969}", "\u{FF19}\u{FF18}\u{FF17}", "000",
        ])
    func sequences(text: String) {
        #expect(!met(.sequence, text))
    }

    @Test(
        "no sequence: fewer than three digits, another step, or anything else among them",
        arguments: [
            "1", "12", "11", "124", "112", "1211", "123455", "12345a", "a111", "111 ", "abc", "aaa",
            "12\u{301}3", "٠١٣", "字字字", "1357911", "0000001",
        ])
    func noSequences(text: String) {
        #expect(met(.sequence, text))
    }

    @Test("every three and four digits are a sequence just where their steps are equal")
    func allSequences() {
        for number in 0..<10_000 {
            let four = [number / 1000, number / 100 % 10, number / 10 % 10, number % 10]
            for digits in [four, Array(four.dropFirst())] {
                let steps = Set(
                    zip(digits, digits.dropFirst()).map { (one: Int, next: Int) -> Int in
                        (next - one + 10) % 10
                    })
                let text = digits.map(String.init).joined()
                #expect(met(.sequence, text) == (steps.count > 1), "\(text)")
            }
        }
    }

    @Test("what came from outside is reported as it came")
    func fromOutside() {
        for given in [
            Finding.satisfied, .unmet, .unmetBecause(.dictionary("too simple")),
            .unmetBecause(.cannotRun(.tooSlow)), .notChecked(.tooManyCandidates),
        ] {
            #expect(finding(.same, "a", same: given) == given)
            #expect(finding(.history(count: 3), "a", history: given) == given)
            #expect(finding(.custom(name: "own"), "a", custom: [given]) == given)
        }
        #expect(finding(.custom(name: "own"), "a") == .notChecked(.notRun))
    }

    @Test("each custom rule has its own finding, and one without an answer is unmet")
    func customInOrder() {
        let rules: [PasscodeRule] = [.custom(name: "b"), .custom(name: "a"), .custom(name: "c")]
        let judgement = PasscodeRules.judge(
            bytes("x").span, rules, custom: [.satisfied, .unmet],
            same: .satisfied, history: .satisfied)
        #expect(
            judgement.entries.map(\.finding) == [
                .satisfied, .unmet, .unmetBecause(.cannotRun(.nonsense)),
            ])
        #expect(judgement.unmet.map(\.id) == ["rule.a", "rule.c"])
        #expect(judgement.firstUnmet == .custom(name: "a"))
    }

    @Test("a custom rule that nobody ran keeps a passcode from being set, a first passcode nothing")
    func obstacles() {
        func obstacle(_ rules: [PasscodeRule], custom: [Finding] = [], same: Finding)
            -> PasscodeRule?
        {
            PasscodeRules.judge(
                bytes("x").span, rules, custom: custom, same: same,
                history: .notChecked(.outsideAChange)
            ).obstacle?.rule
        }
        let rules: [PasscodeRule] = [.custom(name: "own"), .same, .history(count: 1)]
        #expect(
            obstacle(rules, custom: [.satisfied], same: .notChecked(.outsideAChange)) == nil)
        #expect(obstacle(rules, same: .satisfied) == .custom(name: "own"))
        #expect(obstacle(rules, custom: [.unmet], same: .unmet) == .custom(name: "own"))
        #expect(obstacle(rules, custom: [.satisfied], same: .unmet) == .same)
        #expect(
            obstacle(rules, custom: [.satisfied], same: .notChecked(.tooManyCandidates)) == .same)
    }

    @Test("bytes that are no text are judged without a trap and never as digits")
    func strayBytes() {
        let all: [PasscodeRule] = [
            .minLength(minimum: 1), .digitsOnly, .digit, .upper, .lower, .special,
            .groups(minimum: 4), .unique(minimum: 256), .sequence,
        ]
        for first in UInt8(0x80)...UInt8.max {
            let judgement = PasscodeRules.judge(
                [first, first, 0x80].span, all, custom: [], same: .satisfied, history: .satisfied)
            #expect(judgement.unmet.contains(.digitsOnly))
        }
    }

    @Test("a text that is no passcode leaves every rule unchecked, none satisfied")
    func notJudged() {
        let judgement = PasscodeRules.notJudged(.controlCharacter, .builtIn)
        #expect(!judgement.entries.isEmpty)
        for entry in judgement.entries {
            #expect(entry.finding == .notChecked(.notAPasscode(.controlCharacter)))
        }
        #expect(judgement.firstUnmet == nil)
        #expect(judgement.obstacle != nil)
    }
}

private func policy(_ change: (inout Policy) -> Void) -> Policy {
    var policy = Policy.builtIn
    change(&policy)
    return policy
}

private func own(_ name: String) -> CustomRule {
    CustomRule(
        name: name, display: name, show: true, test: .dictionary, file: "policy.conf", line: 1)
}

private func ids(_ policy: Policy) -> String {
    PasscodeRules.rules(policy).map(\.id).joined(separator: " ")
}

private func unmet(_ text: String, _ policy: Policy, custom: [Finding] = []) -> String {
    PasscodeRules.judge(bytes(text).span, policy, custom: custom, same: .satisfied)
        .unmet.map(\.id).joined(separator: " ")
}

@Suite struct PasscodeRuleListTests {
    @Test("the built-in policy asks for a length and another passcode than the current one")
    func builtIn() {
        #expect(ids(.builtIn) == "minLength same")
        #expect(PasscodeRules.rules(.builtIn)[0] == .minLength(minimum: 8))
    }

    @Test("everything at once is listed in the order of the report")
    func everything() {
        let all = policy {
            $0.customRules = [own("zebra"), own("ant")]
            $0.requireDigit = true
            $0.requireUpper = true
            $0.requireLower = true
            $0.requireSpecial = true
            $0.minCharacterGroups = 3
            $0.minUniqueCharacters = 6
            $0.forbidSequences = true
            $0.historyCount = 5
        }
        #expect(
            ids(all) == "minLength rule.zebra rule.ant digit upper lower special groups unique "
                + "sequence same history")
        #expect(PasscodeRules.rules(all).contains(.groups(minimum: 3)))
        #expect(PasscodeRules.rules(all).contains(.unique(minimum: 6)))
        #expect(PasscodeRules.rules(all).contains(.history(count: 5)))
        var pin = all
        pin.digitsOnly = true
        #expect(
            ids(pin) == "minLength rule.zebra rule.ant digitsOnly unique sequence same history")
    }

    /// Every combination of the keys that decide about characters: 2^7 times 5.
    @Test("DigitsOnly sets Require* and MinCharacterGroups aside, in every combination")
    func combinations() {
        for bits in 0..<128 {
            for groups in UInt32(0)...4 {
                let isPIN = bits & 1 != 0
                let policy = policy {
                    $0.digitsOnly = isPIN
                    $0.requireDigit = bits & 2 != 0
                    $0.requireUpper = bits & 4 != 0
                    $0.requireLower = bits & 8 != 0
                    $0.requireSpecial = bits & 16 != 0
                    $0.minCharacterGroups = groups
                    $0.minUniqueCharacters = bits & 32 != 0 ? 4 : 0
                    if bits & 64 != 0 { $0.forbidSequences = !isPIN }
                }
                var wanted = ["minLength"]
                if isPIN { wanted.append("digitsOnly") }
                for (bit, id) in [(2, "digit"), (4, "upper"), (8, "lower"), (16, "special")]
                where bits & bit != 0 && !isPIN { wanted.append(id) }
                if groups > 0, !isPIN { wanted.append("groups") }
                if bits & 32 != 0 { wanted.append("unique") }
                // By default yes for a PIN and no for everything else. Bit 64 writes the opposite.
                if isPIN != (bits & 64 != 0) { wanted.append("sequence") }
                wanted.append("same")
                #expect(ids(policy) == wanted.joined(separator: " "))
                // A good PIN meets every PIN policy, whatever the other keys demand of other
                // passcodes.
                if isPIN { #expect(unmet("19283746", policy) == "") }
            }
        }
    }

    @Test(
        "a PIN is held to its own rules",
        arguments: [
            ("19283746", ""), ("1928374", "minLength"), ("1928374a", "digitsOnly"),
            ("11111111", "unique sequence"), ("12345678", "sequence"), ("19191919", "unique"),
            ("1212121a", "digitsOnly unique"), ("abc", "minLength digitsOnly unique"),
            ("١٩٢٨٣٧٤٦", ""), ("١٢٣٤٥٦٧٨", "sequence"), ("", "minLength unique"),
        ])
    func pin(text: String, wanted: String) {
        let policy = policy {
            $0.digitsOnly = true
            $0.requireSpecial = true
            $0.minCharacterGroups = 4
            $0.minUniqueCharacters = 4
        }
        #expect(unmet(text, policy) == wanted)
    }

    @Test(
        "classes and groups are demanded side by side",
        arguments: [
            ("aaaaaaaa", "digit upper groups"), ("aaaaaaa1", "upper groups"),
            ("aaaaaaA1", ""), ("AAAAAAA1", "groups"), ("AAAAAA!1", ""),
            ("AAAAAA!!", "digit groups"),
            ("aaaaaA!!", "digit"), ("字字字字字字字字", "digit upper groups"),
            ("жжжжжжЖ٣", ""), ("aA1", "minLength"), ("12345678", "upper groups"),
        ])
    func classes(text: String, wanted: String) {
        let policy = policy {
            $0.requireDigit = true
            $0.requireUpper = true
            $0.minCharacterGroups = 3
        }
        #expect(unmet(text, policy) == wanted)
    }

    @Test("custom rules come behind the length and before every other")
    func customFirst() {
        let policy = policy {
            $0.customRules = [own("b"), own("a")]
            $0.requireDigit = true
        }
        #expect(unmet("aaa", policy, custom: [.unmet, .unmet]) == "minLength rule.b rule.a digit")
        #expect(unmet("aaaaaaaa", policy, custom: [.satisfied, .unmet]) == "rule.a digit")
        let judgement = PasscodeRules.judge(
            bytes("aaaaaaaa").span, policy,
            custom: [.satisfied, .unmetBecause(.cannotRun(.noWorker))])
        #expect(judgement.firstUnmet == .custom(name: "a"))
        #expect(judgement.obstacle?.finding == .unmetBecause(.cannotRun(.noWorker)))
        #expect(
            PasscodeRules.judge(bytes("aaaaaaa1").span, policy).obstacle?.rule == .custom(name: "b")
        )
    }
}

@Test("a pattern is as long as the worker takes it, and no longer", arguments: [1024, 1025])
func longPattern(count: Int) {
    let text = "[Rule a]\nMatch=" + String(repeating: "a", count: count) + "\n"
    let file = PolicyFile(name: "f", text: Array(text.utf8))
    let problem = PolicyLint.problems(in: [file]).first { $0.key == "Match" }
    #expect(
        problem?.description
            == (count > 1024 ? "f:2: Match: the pattern is too long: at most 1024 bytes" : nil))
}
