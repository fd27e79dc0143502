import Posix
import Synchronization

/// A row in which one thread puts what another one takes, and waits for.
package final class WaitingList<Value: Sendable>: Sendable {
    private let waiting = Mutex<[Value]>([])
    private let bell: Doorbell

    package init() throws(PosixError) {
        bell = try Doorbell()
    }

    package func put(_ value: Value) {
        waiting.withLock { $0.append(value) }
        bell.ring()
    }

    package func take() -> Value {
        while true {
            let first = waiting.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            if let first { return first }
            bell.wait()
        }
    }
}
