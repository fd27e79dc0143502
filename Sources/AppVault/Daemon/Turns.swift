/// Who may use a connection, one after the other in the order in which they came.
struct Turns {
    private var isTaken = false
    private var waiting: [(id: UInt64, continuation: CheckedContinuation<Bool, Never>)] = []
    private var lastID: UInt64 = 0

    mutating func newID() -> UInt64 {
        lastID += 1
        return lastID
    }

    /// Whether it was free, and is taken now.
    mutating func take() -> Bool {
        if isTaken { return false }
        isTaken = true
        return true
    }

    mutating func wait(_ id: UInt64, _ continuation: CheckedContinuation<Bool, Never>) {
        if take() {
            continuation.resume(returning: true)
        } else {
            waiting.append((id, continuation))
        }
    }

    mutating func giveUp(_ id: UInt64) {
        guard let index = waiting.firstIndex(where: { $0.id == id }) else { return }
        waiting.remove(at: index).continuation.resume(returning: false)
    }

    mutating func leave() {
        if waiting.isEmpty {
            isTaken = false
        } else {
            waiting.removeFirst().continuation.resume(returning: true)
        }
    }
}
