import Policy
import Wire

@testable import VaultService

/// What a compromised rules worker may send. A rule is satisfied only by an answer to a question
/// that was asked, and it makes no difference in which pieces the bytes come.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe input(data, count)
    guard let first = bytes.first else { return 0 }
    let kinds = RuleQuestion.Kind.allCases
    let rules = (0...Int(first >> 6)).map { place in
        RuleQuestion.Rule(kind: kinds[(Int(first) >> place) % kinds.count], pattern: [])
    }
    let sent = Array(bytes.dropFirst())
    let nonce = [UInt8](repeating: 0x6E, count: RuleLink.nonce)
    var whole = RuleAnswers(rules, nonce: nonce)
    whole.take(sent.span)
    var pieces = RuleAnswers(rules, nonce: nonce)
    for byte in sent where pieces.state == .more { pieces.take([byte].span) }
    let found = whole.findings(fault: .ended)
    must(found.count == rules.count, "a rule without a finding")
    switch whole.state {
    case .complete:
        must(pieces.state == .complete && pieces.findings(fault: .ended) == found, "in pieces")
        var again: [UInt8] = []
        for (place, finding) in found.enumerated() {
            let (outcome, reason) = answer(finding)
            let answer = RuleAnswer(
                nonce: nonce, place: UInt8(place), outcome: outcome, reason: reason)
            Frame.write(answer, type: RuleLink.answer, tag: 0, to: &again)
        }
        // The dictionary's reason was cleaned; everything else is what was sent, byte by byte.
        if !rules.contains(where: { $0.kind == .dictionary }) {
            must(again == sent, "an answer that was not sent")
        }
    case .more:
        must(found.last?.isUnmet == true, "a rule without an answer is not unmet")
        must(pieces.findings(fault: .ended) == found, "in pieces")
    case .nonsense:
        must(
            found.allSatisfy { $0 == .unmetBecause(.cannotRun(.nonsense)) },
            "a worker that talks nonsense is believed")
    }
    return 0
}

func answer(_ finding: Finding) -> (RuleAnswer.Outcome, [UInt8]) {
    switch finding {
    case .satisfied: (.satisfied, [])
    case .unmet: (.unmet, [])
    case .unmetBecause(.dictionary(let says)): (.unmet, Array(says.utf8))
    case .unmetBecause(.cannotRun): (.cannotRun, [])
    case .notChecked: fatalError("a rule that was asked about is not checked")
    }
}
