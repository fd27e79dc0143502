import Testing

@testable import Policy

private func file(_ name: String, _ keys: String) -> PolicyFile {
    PolicyFile(name: name, text: bytes("[Passcode]\n" + keys))
}

private func decide(_ files: PolicyFiles) -> Result<PolicyInForce, PolicyProblem> {
    Result { () throws(PolicyProblem) in
        try PolicyBook(files).inForce(for: PolicySubject(user: bytes("eve")))
    }
}

private func policy(_ change: (inout Policy) -> Void) -> Policy {
    var policy = Policy.builtIn
    change(&policy)
    return policy
}

@Suite struct PolicyInForceTests {
    private let standard = file("usr", "MinLength=12")
    private let twelve = policy { $0.minLength = 12 }

    @Test("without any file the built-in policy holds")
    func nothing() {
        #expect(decide(PolicyFiles()) == .success(.standard(.builtIn)))
    }

    @Test("without an administrator's file the default one holds, whatever its switches say")
    func standardAlone() {
        #expect(decide(PolicyFiles(standard: standard)) == .success(.standard(twelve)))
        let off = file("usr", "Enabled=no\nUseDefaultPolicy=no\nMinLength=12")
        #expect(decide(PolicyFiles(standard: off)) == .success(.standard(twelve)))
    }

    @Test("an administrator's file holds whole, and what it leaves out has the table's default")
    func administrators() {
        let files = PolicyFiles(standard: standard, administrators: file("etc", "RetryLimit=5"))
        #expect(decide(files) == .success(.administrators(policy { $0.retryLimit = 5 })))
    }

    @Test("an empty administrator's file is an administrator's policy")
    func empty() {
        let files = PolicyFiles(
            standard: standard, administrators: PolicyFile(name: "etc", text: []))
        #expect(decide(files) == .success(.administrators(.builtIn)))
    }

    @Test(
        "a drop-in alone is an administrator's policy; of several the later name wins key by key"
    )
    func dropIns() {
        let files = PolicyFiles(
            standard: standard,
            dropIns: [
                file("20.conf", "MinLength=20"), file("10.conf", "MinLength=10\nRetryLimit=3"),
            ])
        let expected = policy {
            $0.minLength = 20
            $0.retryLimit = 3
        }
        #expect(decide(files) == .success(.administrators(expected)))
        let under = PolicyFiles(
            administrators: file("zz", "MinLength=30\nThrottleAfter=9"), dropIns: files.dropIns)
        #expect(
            decide(under)
                == .success(
                    .administrators(
                        policy {
                            $0.minLength = 20
                            $0.retryLimit = 3
                            $0.throttleAfter = 9
                        })))
    }

    @Test(
        "the two switches decide over the whole product",
        arguments: [
            (nil, nil, 0), ("yes", nil, 0), (nil, "yes", 0), (nil, "no", 0), ("yes", "no", 0),
            ("yes", "yes", 0), ("no", nil, 1), ("no", "yes", 1), ("no", "no", 2),
        ] as [(String?, String?, Int)])
    func switches(enabled: String?, useDefault: String?, mode: Int) throws {
        let lines = [
            "MinLength=30", enabled.map { "Enabled=\($0)" },
            useDefault.map { "UseDefaultPolicy=\($0)" },
        ]
        let files = PolicyFiles(
            standard: standard,
            administrators: file("etc", lines.compactMap { $0 }.joined(separator: "\n")))
        switch try decide(files).get() {
        case .administrators(let policy):
            #expect(mode == 0)
            #expect(policy.minLength == 30)
        case .standard(let policy):
            #expect(mode == 1)
            #expect(policy == twelve)
        case .noPasscodeMode(let policy):
            #expect(mode == 2)
            #expect(policy == twelve)
        }
    }

    @Test("the switches may stand in different files")
    func switchesApart() {
        let files = PolicyFiles(
            administrators: file("etc", "Enabled=no"), dropIns: [file("a", "UseDefaultPolicy=no")])
        #expect(decide(files) == .success(.noPasscodeMode(.builtIn)))
    }

    @Test("a broken file is never no policy: it is named, switched off or not")
    func broken() {
        let bad = file("bad", "MinLength=0")
        let places = [
            PolicyFiles(standard: bad), PolicyFiles(administrators: bad),
            PolicyFiles(dropIns: [bad]),
            PolicyFiles(administrators: file("etc", "Enabled=no"), dropIns: [bad]),
            PolicyFiles(
                administrators: file("etc", "Enabled=no\nUseDefaultPolicy=no"), dropIns: [bad]),
            PolicyFiles(standard: bad, administrators: file("etc", "Enabled=no")),
        ]
        for files in places {
            guard case .failure(let problem) = decide(files) else {
                Issue.record("taken: \(files)")
                continue
            }
            #expect(problem.file == "bad")
            #expect(problem.line == 2)
        }
    }

    @Test("a broken default file does not touch an administrator's policy that is in force")
    func brokenDefault() {
        let files = PolicyFiles(
            standard: file("usr", "MinLength=0"), administrators: file("etc", ""))
        #expect(decide(files) == .success(.administrators(.builtIn)))
    }
}
