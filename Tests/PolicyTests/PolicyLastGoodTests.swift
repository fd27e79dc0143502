import Testing

@testable import Policy

private func file(_ name: String, _ text: String) -> PolicyFile {
    PolicyFile(name: name, text: bytes(text))
}

private func read(_ text: [UInt8]) -> PolicyBook? {
    try? PolicyBook(lastGood: PolicyFile(name: "last", text: text))
}

private let subjects = [
    PolicySubject(), PolicySubject(user: bytes("eve")), PolicySubject(groups: [bytes("a")]),
    PolicySubject(store: bytes("work")),
]

private let sets: [PolicyFiles] = [
    PolicyFiles(),
    PolicyFiles(standard: file("usr", "[Passcode]\nMinLength=12")),
    PolicyFiles(administrators: file("etc", "")),
    PolicyFiles(
        standard: file("usr", "[Passcode]\nMinLength=12"),
        administrators: file("/etc/a b\u{E9}", "[Passcode]\nEnabled=no\nUseDefaultPolicy=no\n")),
    PolicyFiles(
        standard: file("usr", "[Passcode]\nMinLength=12"),
        administrators: file(
            "etc",
            "# whole\n[Passcode group:a]\nMinLength=9\n[Rule r]\nMatch=x\n[Texts]\nmatch.prompt=P"),
        dropIns: [
            file("z.conf", "[Passcode user:eve]\nMinLength=20\nRules="),
            file("a.conf", "[Passcode store:work]\nRetryLimit=4\r\n# whole\n"),
        ]),
]

@Suite struct PolicyLastGoodTests {
    @Test(
        "the last good policy comes back whole: what holds for whom, texts, files and lines",
        arguments: sets)
    func roundTrip(files: PolicyFiles) throws {
        let before = try PolicyBook(files)
        let after = try #require(read(before.render()))
        #expect(after == before)
        #expect(after.texts == before.texts)
        #expect(after.needsGroups == before.needsGroups)
        #expect(after.render() == before.render())
        for subject in subjects {
            #expect(after.inForce(for: subject) == before.inForce(for: subject))
            #expect(after.values(for: subject) == before.values(for: subject))
        }
    }

    @Test("a default file that was broken and not needed does not break the last good policy")
    func brokenDefault() throws {
        let files = PolicyFiles(
            standard: file("usr", "nonsense"),
            administrators: file("etc", "[Passcode]\nMinLength=9"))
        let after = try #require(read(try PolicyBook(files).render()))
        #expect(after.inForce(for: PolicySubject()).policy.minLength == 9)
    }

    @Test("one that was cut short anywhere, or has more behind it, is none", arguments: sets)
    func cut(files: PolicyFiles) throws {
        let text = try PolicyBook(files).render()
        for count in text.indices { #expect(read(Array(text[..<count])) == nil) }
        for more in ["\n", " ", "# whole\n"] { #expect(read(text + bytes(more)) == nil) }
    }

    @Test(
        "what is no file of ours is none, and says so",
        arguments: [
            "", "[Passcode]\nEnabled=yes\nMinLength=8\n# whole\n", "appvault policy 1\n# whole\n",
            "appvault policy 3\n# whole\n", "appvault policy 2\nrandom 1 1\na\nb\n# whole\n",
            "appvault policy 2\nstandard 1 99999999999999999999999\na\nb\n# whole\n",
            "appvault policy 2\nstandard 1 -1\na\nb\n# whole\n",
            "appvault policy 2\nstandard 1 2\na\nb\n# whole\n",
            "appvault policy 2\nstandard  1 1\na\n#\n# whole\n",
            "appvault policy 2\nstandard 1 1\na\nb\n# whole\n",
        ])
    func notOurs(text: String) {
        #expect(throws: PolicyProblem.self) {
            try PolicyBook(lastGood: PolicyFile(name: "last", text: bytes(text)))
        }
    }

    @Test("one of no file at all is the built-in policy")
    func none() {
        #expect(read(bytes("appvault policy 2\n# whole\n")) == .builtIn)
    }
}
