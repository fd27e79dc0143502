import Posix
import Synchronization

/// What the person does in a window, for the thread that talks to the daemon.
package final class Inbox: Sendable {
    package enum Said: Sendable {
        case draft(question: UInt32, field: UInt8, Typed)
        case answer(question: UInt32, choice: UInt8, item: UInt8, Typed)
        case cancel(question: UInt32)

        var question: UInt32 {
            switch self {
            case .draft(let question, _, _), .answer(let question, _, _, _),
                .cancel(let question):
                question
            }
        }
    }

    let bell: Doorbell
    private let waiting = Mutex<[Said]>([])

    package init() throws(PosixError) {
        bell = try Doorbell()
    }

    package func put(_ said: Said) {
        waiting.withLock { list in
            // What stood in a field a moment ago need not be judged any more.
            if case .draft(_, let field, _) = said {
                list.removeAll {
                    if case .draft(_, field, _) = $0 { return true }
                    return false
                }
            }
            list.append(said)
        }
        bell.ring()
    }

    /// The next one that is about this question; what is left of others goes.
    func next(_ question: UInt32) -> Said? {
        waiting.withLock { list in
            while !list.isEmpty {
                let said = list.removeFirst()
                if said.question == question { return said }
            }
            return nil
        }
    }
}
