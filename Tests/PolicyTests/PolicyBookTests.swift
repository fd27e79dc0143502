import Testing

@testable import Policy

private func file(_ name: String, _ text: String) -> PolicyFile {
    PolicyFile(name: name, text: bytes(text))
}

private func book(_ text: String, dropIns: [(String, String)] = []) throws -> PolicyBook {
    try PolicyBook(
        PolicyFiles(
            administrators: file("etc", text), dropIns: dropIns.map { file($0.0, $0.1) }))
}

private func subject(
    _ user: String = "nobody", groups: [String] = [], store: String = "default"
) -> PolicySubject {
    PolicySubject(user: bytes(user), groups: groups.map { bytes($0) }, store: bytes(store))
}

extension PolicyBook {
    fileprivate func policy(_ subject: PolicySubject) -> Policy { inForce(for: subject).policy }
}

@Suite struct PolicyBookTests {
    // Each kind of section sets a length of its own.
    private static let layers = [
        (title: "[Passcode]", length: 10), (title: "[Passcode group:staff]", length: 20),
        (title: "[Passcode user:eve]", length: 30), (title: "[Passcode store:work]", length: 40),
    ]

    @Test(
        "everybody, group, user, store: the later wins, whatever the order in the file",
        arguments: 0..<16, [false, true])
    func precedence(which: Int, backwards: Bool) throws {
        let chosen = Self.layers.enumerated().filter { which >> $0.offset & 1 == 1 }
            .map(\.element)
        let order = backwards ? chosen.reversed() : chosen
        let text = order.map { "\($0.title)\nMinLength=\($0.length)\n" }.joined()
        let eve = subject("eve", groups: ["users", "staff"], store: "work")
        #expect(try book(text).policy(eve).minLength == UInt32(chosen.last?.length ?? 8))
        // A person whom no section names gets what everybody gets.
        let other = subject("adam", groups: ["users"], store: "default")
        #expect(try book(text).policy(other).minLength == (which & 1 == 1 ? 10 : 8))
    }

    @Test("sections win key by key, not whole")
    func keyByKey() throws {
        let book = try book(
            """
            [Passcode store:work]
            RequireDigit=yes
            [Passcode]
            MinLength=10
            RetryLimit=5
            IdleTimeout=1h
            [Passcode group:staff]
            MinLength=11
            RetryLimit=6
            [Passcode user:eve]
            MinLength=12
            """)
        let policy = book.policy(subject("eve", groups: ["staff"], store: "work"))
        #expect(policy.minLength == 12)
        #expect(policy.retryLimit == 6)
        #expect(policy.idleTimeout == 3600)
        #expect(policy.requireDigit)
        #expect(!book.policy(subject("eve", groups: ["staff"])).requireDigit)
    }

    @Test("of several groups the setting that was read last holds, whatever order they are told in")
    func groups() throws {
        let one = """
            [Passcode group:b]
            MinLength=20
            RetryLimit=2
            [Passcode group:a]
            MinLength=10
            [Passcode group:c]
            MinLength=30
            ExpireDays=3
            """
        for groups in [["a", "b"], ["b", "a"]] {
            let policy = try book(one).policy(subject(groups: groups))
            #expect(policy.minLength == 10)
            #expect(policy.retryLimit == 2)
            #expect(policy.expireDays == 0)
        }
        for groups in [["a", "b", "c"], ["c", "b", "a"], ["b", "c", "a", "c"]] {
            #expect(try book(one).policy(subject(groups: groups)).minLength == 30)
        }
        // A drop-in is read after the file, and the second part of a section after the sections
        // above it.
        let later = try book(one, dropIns: [("d", "[Passcode group:b]\nMinLength=25")])
        #expect(later.policy(subject(groups: ["a", "b", "c"])).minLength == 25)
        let continued = try book(one + "\n[Passcode group:a]\nRetryLimit=9")
        #expect(continued.policy(subject(groups: ["a", "b"])).retryLimit == 9)
        #expect(continued.policy(subject(groups: ["a", "b"])).minLength == 10)
    }

    @Test("a name is a name, byte for byte, and nothing near it")
    func names() throws {
        let book = try book(
            """
            [Passcode user:eve]
            MinLength=9
            [Passcode group:DOMAIN\\all users]
            MinLength=10
            [Passcode store:k]
            MinLength=11
            """)
        for near in ["Eve", "eve ", "ev", "eve2", "", "group:eve"] {
            #expect(book.policy(subject(near)).minLength == 8)
        }
        #expect(book.policy(subject(groups: ["DOMAIN\\all users"])).minLength == 10)
        // A user is not the group of that name, and a store's key is not a user.
        #expect(book.policy(subject(groups: ["eve"])).minLength == 8)
        #expect(book.policy(subject("k")).minLength == 8)
        #expect(book.policy(subject(store: "k")).minLength == 11)
    }

    @Test("without a section for a group nobody has to ask which a person is in")
    func needsGroups() throws {
        #expect(!PolicyBook.builtIn.needsGroups)
        #expect(try !book("[Passcode user:eve]\nMinLength=9").needsGroups)
        #expect(try book("[Passcode group:a]\nMinLength=9").needsGroups)
        #expect(try book("", dropIns: [("d", "[Passcode group:a]\nMinLength=9")]).needsGroups)
        let standard = file("usr", "[Passcode group:a]\nMinLength=9")
        #expect(try PolicyBook(PolicyFiles(standard: standard)).needsGroups)
    }

    @Test("the switches are keys like others: a section may switch a person's rules off")
    func switches() throws {
        let files = PolicyFiles(
            standard: file("usr", "[Passcode]\nMinLength=12\n[Passcode user:eve]\nMinLength=13"),
            administrators: file(
                "etc",
                """
                [Passcode]
                MinLength=20
                [Passcode user:eve]
                Enabled=no
                [Passcode group:kiosk]
                Enabled=no
                UseDefaultPolicy=no
                """))
        let book = try PolicyBook(files)
        guard case .administrators(let all) = book.inForce(for: subject()),
            case .standard(let eve) = book.inForce(for: subject("eve")),
            case .noPasscodeMode(let kiosk) = book.inForce(for: subject(groups: ["kiosk"])),
            case .noPasscodeMode = book.inForce(for: subject("eve", groups: ["kiosk"]))
        else {
            Issue.record("another mode")
            return
        }
        #expect(all.minLength == 20)
        #expect(eve.minLength == 13)
        #expect(kiosk.minLength == 12)
    }

    @Test("a broken default file is an error as soon as anybody could need it")
    func brokenDefault() throws {
        let bad = file("usr", "[Passcode]\nMinLength=0")
        func taken(_ text: String) -> Bool {
            let files = PolicyFiles(standard: bad, administrators: file("etc", text))
            return (try? PolicyBook(files)) != nil
        }
        #expect(taken("[Passcode]\nMinLength=9"))
        #expect(taken("[Passcode]\nEnabled=yes\nUseDefaultPolicy=no"))
        #expect(!taken("[Passcode]\nEnabled=no"))
        #expect(!taken("[Passcode user:eve]\nEnabled=no\nUseDefaultPolicy=no"))
    }

    @Test("every value says where it comes from, and built-in ones that they are")
    func values() throws {
        let book = try book(
            """
            [Passcode]
            MinLength=10
            RetryLimit=5

            [Passcode user:eve]
            MinLength=12
            """, dropIns: [("20", "[Passcode]\nRetryLimit=6"), ("10", "[Passcode]\nShowReset=no")])
        func origin(_ key: String, _ who: PolicySubject) -> String {
            let value = book.values(for: who).first { $0.key == key }
            return value.map { "\($0.value) \($0.file):\($0.line)" } ?? "none"
        }
        #expect(origin("MinLength", subject()) == "10 etc:2")
        #expect(origin("MinLength", subject("eve")) == "12 etc:6")
        #expect(origin("RetryLimit", subject("eve")) == "6 20:2")
        #expect(origin("ShowReset", subject()) == "no 10:2")
        #expect(origin("ExpireDays", subject()) == "0 :0")
        #expect(book.values(for: subject()).map(\.key) == PolicyKey.all.map(\.name))
    }

    @Test("where the default policy stands in, its lines are named, and the switches' own")
    func valuesOfDefault() throws {
        let files = PolicyFiles(
            standard: file("usr", "[Passcode]\nEnabled=yes\nUseDefaultPolicy=yes\nMinLength=12"),
            administrators: file("etc", "[Passcode]\nMinLength=30\nEnabled=no"))
        let values = try PolicyBook(files).values(for: subject())
        func line(_ key: String) -> String {
            values.first { $0.key == key }.map { "\($0.value) \($0.file):\($0.line)" } ?? "none"
        }
        #expect(line("MinLength") == "12 usr:4")
        #expect(line("Enabled") == "no etc:3")
        #expect(line("UseDefaultPolicy") == "yes :0")
    }

    @Test("rules apply as Rules names them, in the order of the files")
    func rules() throws {
        let text = """
            [Rule year]
            Reject=(19|20)[0-9]{2}
            Display=No years
            [Rule word]
            Dictionary=yes
            Show=no
            [Passcode user:eve]
            Rules=word
            [Passcode user:adam]
            Rules=
            [Passcode group:all]
            Rules=all
            """
        let book = try book(text, dropIns: [("d", "[Rule a]\nMatch=^.*$")])
        func names(_ who: PolicySubject) -> [String] { book.policy(who).customRules.map(\.name) }
        #expect(names(subject()) == ["year", "word", "a"])
        #expect(names(subject("eve")) == ["word"])
        #expect(names(subject("adam")) == [])
        #expect(names(subject("x", groups: ["all"])) == ["year", "word", "a"])
        #expect(
            book.policy(subject()).customRules == [
                CustomRule(
                    name: "year", display: "No years", show: true,
                    test: .rejects("(19|20)[0-9]{2}"), file: "etc", line: 1),
                CustomRule(
                    name: "word", display: "word", show: false, test: .dictionary, file: "etc",
                    line: 4),
                CustomRule(
                    name: "a", display: "a", show: true, test: .matches("^.*$"), file: "d",
                    line: 1),
            ])
    }

    @Test("a rule in a later file replaces the earlier one whole")
    func replacedRule() throws {
        let book = try book(
            "[Rule a]\nMatch=a\nDisplay=One a\n[Rule b]\nMatch=b",
            dropIns: [("d", "[Rule a]\nReject=c")])
        #expect(
            book.policy(subject()).customRules.map { "\($0.name) \($0.display) \($0.file)" }
                == ["b b etc", "a a d"])
        let missing = PolicyFiles(
            administrators: file("etc", "[Passcode]\nRules=a"),
            dropIns: [file("d", "[Rule b]\nMatch=x")])
        #expect(throws: PolicyProblem.self) { try PolicyBook(missing) }
    }

    @Test("what nobody could meet is refused for whoever it would hold, and for nobody else")
    func unmeetable() throws {
        let pair = "[Rule a]\nMatch=x\n[Rule b]\nReject=x\n"
        func taken(_ text: String) -> Bool { (try? book(pair + text)) != nil }
        #expect(!taken(""))
        #expect(taken("[Passcode]\nRules=a"))
        #expect(taken("[Passcode]\nRules=a\n[Passcode user:eve]\nRules=b"))
        #expect(!taken("[Passcode]\nRules=a\n[Passcode user:eve]\nRules=a b"))
        #expect(!taken("[Passcode]\nRules=a\n[Passcode group:g]\nRules=all"))
    }

    @Test("texts are the administrator's, the later file's first, and hold in every mode")
    func texts() throws {
        let book = try book(
            "[Texts]\nmatch.prompt=Your code:\nmatch.retry = Again ; or #not\n[Passcode]\n"
                + "Enabled=no",
            dropIns: [("d", "[Texts]\nmatch.prompt=PIN \u{1F511}")])
        #expect(book.texts == ["match.prompt": "PIN \u{1F511}", "match.retry": "Again ; or #not"])
        #expect(PolicyBook.builtIn.texts == [:])
    }

    @Test("files that are too long together are refused before any is read")
    func tooLong() {
        func wrong(_ last: Int) -> String? {
            let half = [UInt8](repeating: 0, count: 1 << 20)
            let files = PolicyFiles(dropIns: [
                PolicyFile(name: "a", text: half), PolicyFile(name: "b", text: half),
                PolicyFile(name: "c", text: [UInt8](repeating: 0, count: last)),
            ])
            do throws(PolicyProblem) { _ = try PolicyBook(files) } catch {
                return error.description
            }
            return nil
        }
        #expect(wrong(0) == "a:1: the line is longer than 4 KiB: a line of at most 4 KiB")
        #expect(wrong(1) == "c:1: the policy files together are longer than 2 MiB: at most 2 MiB")
    }

    @Test("there may be a thousand rules in a file, and not one more")
    func manyRules() throws {
        let rules =
            "[Passcode]\nRules=r7 r999\n"
            + (0..<1000).map { "[Rule r\($0)]\nMatch=x\($0)\n" }.joined()
        #expect(try book(rules).policy(subject()).customRules.map(\.name) == ["r7", "r999"])
        #expect(throws: PolicyProblem.self) { try book(rules + "[Rule more]\nMatch=y") }
    }

    @Test(
        "255 rules may hold for one person, however chosen; with one more the file is broken"
    )
    func rulesForOne() throws {
        func rules(_ range: Range<Int>) -> String {
            range.map { "[Rule r\($0)]\nMatch=x\($0)\n" }.joined()
        }
        func named(_ range: Range<Int>) -> String {
            "Rules=" + range.map { "r\($0)" }.joined(separator: " ")
        }
        func wrong(_ text: String) -> [String] {
            let problems = PolicyLint.problems(in: [PolicyFile(name: "f", text: bytes(text))])
                .filter { $0.severity == .error }.map(\.description)
            // The daemon and lint say the same.
            #expect(((try? book(text)) != nil) == problems.isEmpty)
            return problems
        }
        let more = "256 rules for one person: at most 255 of them apply to one person"
        #expect(try book(rules(0..<255)).policy(subject()).customRules.count == 255)
        #expect(wrong(rules(0..<255)) == [])
        #expect(wrong(rules(0..<256)) == ["f:511: [Rule r255]: \(more)"])
        let few = "[Passcode]\n\(named(0..<9))\n"
        #expect(wrong(few + rules(0..<600)) == [])
        #expect(wrong(few + "[Passcode user:eve]\n\(named(0..<255))\n" + rules(0..<600)) == [])
        #expect(
            wrong(few + "[Passcode user:eve]\n\(named(0..<256))\n" + rules(0..<600))
                == ["f:4: Rules: \(more)"])
        #expect(
            wrong(few + "[Passcode group:g]\nRules=all\n" + rules(0..<256))
                == ["f:515: [Rule r255]: \(more)"])
        // Of several groups only one line counts: their lists do not add up.
        #expect(
            wrong(
                few + "[Passcode group:g]\n\(named(0..<200))\n[Passcode group:h]\n"
                    + "\(named(200..<400))\n" + rules(0..<400)) == [])
        // A name that is written twice is one rule.
        #expect(
            wrong("[Passcode]\n\(named(0..<255)) r3 r4\n" + rules(0..<300)) == [])
    }

    @Test("`secrets` stays open behind the screen unless its own section says otherwise")
    func secrets() throws {
        func shown(_ text: String, store: String) throws -> PolicyValue? {
            let subject = PolicySubject(user: bytes("ann"), store: bytes(store))
            return try book(text).values(for: subject).first { $0.key == "LockOnBackground" }
        }
        let everybody = "[Passcode]\nLockOnBackground=immediate\n"
        let ann = "[Passcode user:ann]\nLockOnBackground=immediate\n"
        for text in ["", everybody, everybody + ann] {
            let value = try #require(try shown(text, store: "secrets"))
            #expect(value.value == "never" && value.file == "" && value.line == 0)
            #expect(try shown(text, store: "mail")?.value == "immediate")
        }
        let own = everybody + "[Passcode store:secrets]\nLockOnBackground=timeout\nLockTimeout=1h\n"
        let value = try #require(try shown(own, store: "secrets"))
        #expect(value.value == "timeout" && value.line == 4)
        #expect(
            PolicyBook.builtIn.inForce(for: PolicySubject(store: bytes("secrets"))).policy
                .lockOnBackground == .never)
    }

    @Test("two books are equal where their files are")
    func equal() throws {
        #expect(try book("[Passcode]\nMinLength=9") == book("[Passcode]\nMinLength=9"))
        #expect(try book("[Passcode]\nMinLength=9") != book("[Passcode]\nMinLength=10"))
        #expect(try book("") != .builtIn)
    }
}

@Suite("an organisation's policy, and the machine's own") struct OrganisationTests {
    private static let organisation = """
        [Passcode]
        MinLength=10
        RetryLimit=4
        [Passcode user:eve]
        MinLength=14
        [Passcode store:work]
        RetryLimit=3
        [Rule town]
        Match=x
        Display=not a town
        [Texts]
        match.prompt=Ours
        """

    private func book(
        isFinal: Bool, _ local: String?, _ organisation: String = Self.organisation
    ) throws -> PolicyBook {
        try PolicyBook(
            PolicyFiles(
                standard: PolicyFile(name: "usr", text: bytes("[Passcode]\nMinLength=6\n")),
                organisation: OrganisationFile(
                    file: PolicyFile(name: "example.org", text: bytes(organisation)),
                    isFinal: isFinal),
                administrators: local.map { PolicyFile(name: "etc", text: bytes($0)) }))
    }

    private func policy(
        _ book: PolicyBook, _ user: String = "", _ store: String = "default"
    ) -> Policy {
        book.inForce(for: PolicySubject(user: bytes(user), store: bytes(store))).policy
    }

    @Test("without files of the machine's own, the organisation's is in force")
    func alone() throws {
        for isFinal in [false, true] {
            let book = try book(isFinal: isFinal, nil)
            #expect(book.inForce(for: PolicySubject()) == .administrators(policy(book)))
            #expect(policy(book).minLength == 10)
            #expect(policy(book, "eve").minLength == 14)
            #expect(policy(book, "", "work").retryLimit == 3)
            #expect(policy(book).customRules.map(\.name) == ["town"])
            #expect(book.texts == ["match.prompt": "Ours"])
            let value = book.values(for: PolicySubject()).first { $0.key == "MinLength" }
            #expect((value?.file, value?.line) == ("example.org", 2))
        }
    }

    @Test("the machine's own say something else, for those whom they name, unless it is final")
    func over() throws {
        let local =
            "[Passcode]\nMinLength=9\n[Passcode user:ann]\nRetryLimit=7\n"
            + "[Rule town]\nMatch=y\nDisplay=other\n[Texts]\nmatch.prompt=Local\n"
        let open = try book(isFinal: false, local)
        #expect(policy(open).minLength == 9)
        #expect(policy(open, "eve").minLength == 9)
        #expect(policy(open, "ann").retryLimit == 7)
        #expect(policy(open).retryLimit == 4)
        #expect(policy(open).customRules.map(\.display) == ["other"])
        #expect(open.texts == ["match.prompt": "Local"])
        let final = try book(isFinal: true, local)
        #expect(policy(final).minLength == 10)
        #expect(policy(final, "eve").minLength == 14)
        #expect(policy(final, "ann").retryLimit == 4)
        #expect(policy(final).customRules.map(\.display) == ["not a town"])
        #expect(final.texts == ["match.prompt": "Ours"])
    }

    @Test("what the machine's own set and a final one does not, stays")
    func besides() throws {
        let final = try book(isFinal: true, "[Passcode]\nExpireDays=2\nHistoryCount=5\n")
        #expect((policy(final).expireDays, policy(final).historyCount) == (2, 5))
    }

    @Test("each may name a rule of the other, and none that neither has")
    func rules() throws {
        let local = "[Passcode]\nRules=town\n"
        #expect(policy(try book(isFinal: false, local)).customRules.count == 1)
        #expect(throws: PolicyProblem.self) {
            try book(isFinal: false, "[Passcode]\nRules=village\n")
        }
    }

    @Test(
        "what is built in for the desktop's secrets holds until a section for them says otherwise")
    func secrets() throws {
        let everybody = "[Passcode]\nLockOnBackground=immediate\n"
        #expect(
            policy(try book(isFinal: true, everybody, everybody), "", "secrets").lockOnBackground
                == .never)
        let store = "[Passcode store:secrets]\nLockOnBackground=immediate\n"
        for isFinal in [false, true] {
            let book = try book(isFinal: isFinal, "[Passcode]\nMinLength=9\n", store)
            #expect(policy(book, "", "secrets").lockOnBackground != .never)
        }
    }

    @Test("the last good policy keeps both, and which lies over which")
    func lastGood() throws {
        for isFinal in [false, true] {
            let book = try book(isFinal: isFinal, "[Passcode]\nMinLength=9\n")
            let read = try PolicyBook(lastGood: PolicyFile(name: "last", text: book.render()))
            #expect(read == book)
            #expect(policy(read) == policy(book))
        }
    }

    @Test("a broken one breaks the policy")
    func broken() {
        #expect(throws: PolicyProblem.self) {
            try book(isFinal: false, nil, "[Passcode]\nColour=1")
        }
    }
}
