import Policy
import Wire
import Words

/// Takes apart what appvault-rules answers. The worker runs an administrator's pattern over a
/// passcode, so the daemon believes nothing that it did not ask for.
package struct RuleAnswers {
    package enum State: Equatable {
        case more
        case complete
        /// Another nonce, place or type than expected, or too many bytes: no answer counts.
        case nonsense
    }

    private let rules: [RuleQuestion.Rule]
    private let nonce: [UInt8]
    private var found: [Finding] = []
    private var pending: [UInt8] = []
    package private(set) var state = State.more

    package init(_ rules: [RuleQuestion.Rule], nonce: [UInt8]) {
        self.rules = rules
        self.nonce = nonce
    }

    /// The most bytes that a correct worker sends.
    package var limit: Int { rules.count * (FrameHeader.size + RuleLink.answerFrame) }

    package mutating func take(_ bytes: Span<UInt8>) {
        guard state != .nonsense, pending.count + bytes.count <= limit else {
            state = .nonsense
            return
        }
        pending.put(bytes)
        var used = 0
        do throws(WireError) {
            while found.count < rules.count, let next = try answer(pending.span, from: used) {
                guard let finding = finding(next.answer) else {
                    state = .nonsense
                    return
                }
                found.append(finding)
                used = next.end
            }
        } catch {
            state = .nonsense
            return
        }
        pending.removeFirst(used)
        guard found.count == rules.count else { return }
        state = pending.isEmpty ? .complete : .nonsense
    }

    /// One finding for each rule, in their order. `fault` says why no more answers came, and is the
    /// finding of the first rule without one.
    package func findings(fault: RuleFault) -> [Finding] {
        switch state {
        case .complete: return found
        case .nonsense: return rules.map { _ in .unmetBecause(.cannotRun(.nonsense)) }
        case .more:
            return rules.indices.map { place in
                if place < found.count { return found[place] }
                return .unmetBecause(.cannotRun(place == found.count ? fault : fault.ofTheRest))
            }
        }
    }

    private func answer(_ bytes: Span<UInt8>, from start: Int) throws(WireError)
        -> (answer: RuleAnswer, end: Int)?
    {
        let rest = bytes.extracting(start...)
        guard let header = try FrameHeader.decode(rest, limit: RuleLink.answerFrame) else {
            return nil
        }
        guard header.type == RuleLink.answer, header.tag == 0 else { throw .unknownValue }
        let end = FrameHeader.size + header.length
        guard rest.count >= end else { return nil }
        let body = rest.extracting(FrameHeader.size..<end)
        var reader = Reader()
        let answer = try RuleAnswer(&reader, body)
        try reader.end(body)
        return (answer, start + end)
    }

    private func finding(_ answer: RuleAnswer) -> Finding? {
        let place = found.count
        guard answer.nonce == nonce, answer.place == place else { return nil }
        let kind = rules[place].kind
        switch (answer.outcome, kind) {
        case (.unmet, .dictionary):
            return .unmetBecause(.dictionary(Text.clean(answer.reason)))
        case _ where !answer.reason.isEmpty: return nil
        case (.satisfied, _): return .satisfied
        case (.unmet, .matches), (.unmet, .rejects): return .unmet
        case (.cannotRun, .dictionary): return .unmetBecause(.cannotRun(.dictionary))
        case (.cannotRun, .matches), (.cannotRun, .rejects):
            return .unmetBecause(.cannotRun(.pattern))
        }
    }
}

extension RuleFault {
    /// What it means for the rules after the one that it stopped.
    fileprivate var ofTheRest: RuleFault {
        switch self {
        // No rule was asked at all, so they all have the same reason.
        case .noWorker, .busy, .crowded: self
        case .tooSlow, .ended, .notReached, .nonsense, .pattern, .dictionary: .notReached
        }
    }
}
