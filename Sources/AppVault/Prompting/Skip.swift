extension FingerScan {
    /// Goes on without a finger: where there is a passcode, it is asked for.
    public func goOnWithoutFinger() { skip?.call() }

    /// Whether the person wants to go on without a finger.
    final class Skip: Sendable {
        private enum State {
            case open
            case waiting(CheckedContinuation<Void, Never>)
            case over
        }

        private let state = Locked(State.open)

        func call() { finish() }

        private func finish() {
            let waiting = state.withLock { state -> CheckedContinuation<Void, Never>? in
                defer { state = .over }
                if case .waiting(let continuation) = state { return continuation }
                return nil
            }
            waiting?.resume()
        }

        var isCalled: Bool {
            state.withLock { state in
                if case .over = state { return true }
                return false
            }
        }

        /// Until it was called, or the task is cancelled.
        func wait() async {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let isOver = state.withLock { state in
                        if case .over = state { return true }
                        if Task.isCancelled { return true }
                        state = .waiting(continuation)
                        return false
                    }
                    if isOver { continuation.resume() }
                }
            } onCancel: {
                let waiting = state.withLock { state -> CheckedContinuation<Void, Never>? in
                    guard case .waiting(let continuation) = state else { return nil }
                    state = .open
                    return continuation
                }
                waiting?.resume()
            }
        }
    }
}
