/// The first of several answers.
@LoopActor
public final class First<Answer: Sendable> {
    private var answer: Answer?
    private var waiting: CheckedContinuation<Answer, Never>?

    public init() {}

    public var isSettled: Bool { answer != nil }

    public func settle(_ answer: Answer) {
        guard self.answer == nil else { return }
        self.answer = answer
        waiting?.resume(returning: answer)
        waiting = nil
    }

    public func value() async -> Answer {
        if let answer { return answer }
        return await withCheckedContinuation { waiting = $0 }
    }
}
