/// The answer to a keyring's question, which comes when the person has given it.
final class PromptBox: Sendable {
    private struct State {
        var body: [BusValue]?
        var isOver = false
        var waiting: CheckedContinuation<[BusValue]?, Never>?
    }

    private let state = Locked(State())

    func settle(_ body: [BusValue]?) {
        let waiting = state.withLock { state -> CheckedContinuation<[BusValue]?, Never>? in
            guard !state.isOver else { return nil }
            state.isOver = true
            state.body = body
            return state.waiting.take()
        }
        waiting?.resume(returning: body)
    }

    /// Nil where it takes longer, or the task is cancelled.
    func wait(_ milliseconds: UInt64) async -> [BusValue]? {
        let timer = Task {
            try await Task.sleep(for: .milliseconds(milliseconds))
            self.settle(nil)
        }
        defer { timer.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (isOver, body) = state.withLock { state in
                    if !state.isOver { state.waiting = continuation }
                    return (state.isOver, state.body)
                }
                if isOver { continuation.resume(returning: body) }
            }
        } onCancel: {
            settle(nil)
        }
    }
}
