internal import CPam
internal import WireEmbedded

/// A scan: the reader waits for a finger between the daemon's `place` and `ended`.
struct Scanning: ~Copyable {
    /// What ends a wait.
    enum Event {
        case frame
        /// Enter or Ctrl-C: the person wants to go on without a finger.
        case givenUp
    }

    let question: UInt32
    private var terminal = Terminal.none
    private static let mostKeys = 64

    init(_ question: UInt32) {
        self.question = question
    }

    /// From here on the module reads the person's keys. What was typed before is dropped, as a
    /// prompt for a password does.
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
                // Give the terminal back first: then the signal that was held back acts, and it may
                // end or stop this process.
                leaveKeys()
                watchKeys()
            } else if arrival.hasFrame {
                return .frame
            }
        }
    }

    /// Whether one of the keys ends the wait. If the terminal is gone, nobody is in front of it,
    /// and the wait ends.
    private func pressed() throws(Fault) -> Bool {
        // The person may be typing a passcode. It is wiped and sent nowhere.
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
