internal import CPam
internal import WireEmbedded

/// A reader waits for a finger: a scan of the daemon's between `place` and `ended`.
struct Scanning: ~Copyable {
    /// What ends a wait.
    enum Event {
        case frame
        /// Enter or Ctrl-C: the person would rather go on without a finger.
        case givenUp
    }

    let question: UInt32
    private var terminal = Terminal.none
    private static let mostKeys = 64

    init(_ question: UInt32) {
        self.question = question
    }

    /// From here on the person's keys are ours. What they typed before is dropped, as prompts do it.
    mutating func watchKeys() {
        terminal = Terminal()
    }

    mutating func leaveKeys() {
        terminal = .none
    }

    mutating func wait(_ link: borrowing Link, by deadline: Deadline) throws(Fault) -> Event {
        while true {
            let arrival = try link.wait(with: terminal, deadline)
            if arrival.hasKey, try pressed() {
                leaveKeys()
                return .givenUp
            }
            if arrival.hasSignal {
                // The terminal first: the signal acts when it is given back, and may end or stop this process.
                leaveKeys()
                watchKeys()
            } else if arrival.hasFrame {
                return .frame
            }
        }
    }

    /// Whether one of the keys ends the wait; a terminal that is gone has nobody in front of it.
    private func pressed() throws(Fault) -> Bool {
        // Somebody may be typing a passcode: it is wiped, and goes nowhere.
        guard var keys = Memory(capacity: Scanning.mostKeys) else { throw .noMemory }
        let result = keys.read(from: terminal)
        if result == -EAGAIN || result == -EINTR { return false }
        guard result > 0 else { return true }
        return keys.withBytes(from: 0, to: keys.count) { bytes in
            var index = 0
            while index < bytes.count {
                switch bytes[index] {
                case Key.carriageReturn, Key.newline, Key.controlC: return true
                default: index += 1
                }
            }
            return false
        }
    }

    private enum Key {
        static let controlC: UInt8 = 0x03
        static let newline: UInt8 = 0x0A
        static let carriageReturn: UInt8 = 0x0D
    }
}
