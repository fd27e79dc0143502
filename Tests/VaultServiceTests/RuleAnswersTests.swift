import Policy
import Testing
import Wire
import WorkerLinks

@testable import VaultService

private let nonce = [UInt8](repeating: 7, count: RuleLink.nonce)
private let rules = [
    RuleQuestion.Rule(kind: .matches, pattern: [0x61]),
    RuleQuestion.Rule(kind: .dictionary, pattern: []),
    RuleQuestion.Rule(kind: .rejects, pattern: [0x62]),
]

private func frame(
    _ place: UInt8, _ outcome: RuleAnswer.Outcome = .satisfied, _ reason: String = "",
    nonce used: [UInt8] = nonce, type: UInt16 = RuleLink.answer, tag: UInt32 = 0
) -> [UInt8] {
    var bytes: [UInt8] = []
    let answer = RuleAnswer(
        nonce: used, place: place, outcome: outcome, reason: Array(reason.utf8))
    Frame.write(answer, type: type, tag: tag, to: &bytes)
    return bytes
}

private func answers(_ parts: [[UInt8]]) -> RuleAnswers {
    var answers = RuleAnswers(rules, nonce: nonce)
    for part in parts { answers.take(part.span) }
    return answers
}

@Suite struct RuleAnswersTests {
    private let good =
        frame(0) + frame(1, .unmet, "it is based on a dictionary word") + frame(2, .unmet)
    private let found: [Finding] = [
        .satisfied, .unmetBecause(.dictionary("it is based on a dictionary word")), .unmet,
    ]

    @Test("three answers are three findings, in one piece or byte by byte")
    func whole() {
        for parts in [[good], good.map { [$0] }] {
            let answers = answers(parts)
            #expect(answers.state == .complete)
            #expect(answers.findings(fault: .ended) == found)
        }
    }

    @Test("answers that are cut short leave their rule unmet for that reason, the next not reached")
    func cut() {
        for count in good.indices {
            let answers = answers([Array(good[..<count])])
            #expect(answers.state == .more)
            let findings = answers.findings(fault: .tooSlow)
            let complete = findings.prefix { !$0.isFault }.count
            #expect(Array(findings[..<complete]) == Array(found[..<complete]))
            #expect(findings[complete] == .unmetBecause(.cannotRun(.tooSlow)))
            for finding in findings[(complete + 1)...] {
                #expect(finding == .unmetBecause(.cannotRun(.notReached)))
            }
        }
    }

    @Test(
        "where no rule is asked, each has the reason, and none is said to wait for another",
        arguments: [RuleFault.noWorker, .busy, .crowded])
    func unasked(fault: RuleFault) {
        #expect(
            answers([]).findings(fault: fault)
                == [Finding](repeating: .unmetBecause(.cannotRun(fault)), count: rules.count))
    }

    @Test("a rule that cannot run is unmet, and says which of its kinds")
    func cannotRun() {
        let answers = answers([
            frame(0, .cannotRun) + frame(1, .cannotRun) + frame(2, .cannotRun)
        ])
        #expect(
            answers.findings(fault: .ended) == [
                .unmetBecause(.cannotRun(.pattern)), .unmetBecause(.cannotRun(.dictionary)),
                .unmetBecause(.cannotRun(.pattern)),
            ])
    }

    @Test(
        "what was not asked for makes every rule unmet, those that were answered too",
        arguments: [
            frame(1), frame(0) + frame(0), frame(0, nonce: [UInt8](repeating: 8, count: 16)),
            frame(0, type: RuleLink.question), frame(0, tag: 1), frame(0, .satisfied, "because"),
            frame(0, .unmet, "because"), frame(0) + frame(1) + frame(2) + frame(3),
            frame(0) + frame(1) + frame(2) + [0], [UInt8](repeating: 0xFF, count: 10),
            [UInt8](repeating: 0, count: 10), [UInt8](repeating: 0x61, count: 100_000),
            [21, 0, 0, 0, 0x61, 0, 0, 0, 0, 0] + frame(0).dropFirst(10) + [0],
            frame(0).dropLast(4) + [9, 0, 0, 0], frame(0) + frame(1, .unmet, "\u{0}"),
            frame(0) + frame(1, .unmet, String(repeating: "x", count: 201)),
        ] as [[UInt8]])
    func nonsense(bytes: [UInt8]) {
        var answers = answers([bytes])
        #expect(answers.state == .nonsense)
        let refused = [Finding](
            repeating: .unmetBecause(.cannotRun(.nonsense)), count: rules.count)
        #expect(answers.findings(fault: .ended) == refused)
        // A good answer after it does not make it right.
        answers.take(good.span)
        #expect(answers.findings(fault: .ended) == refused)
    }

    @Test("what the dictionary says is cleaned before anybody reads it")
    func cleaned() {
        let answers = answers([frame(0) + frame(1, .unmet, "a\u{1B}[31m\n\u{202E}b") + frame(2)])
        #expect(answers.findings(fault: .ended)[1] == .unmetBecause(.dictionary("a?[31m??b")))
    }
}

extension Finding {
    fileprivate var isFault: Bool {
        if case .unmetBecause(.cannotRun) = self { true } else { false }
    }
}
