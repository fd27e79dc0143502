import Policy
import Wire

/// When the reader is started, relative to the passcode's question.
enum FingerTurn: Equatable, Sendable {
    case first, onEmpty, only, never

    /// If the option does not say, the service decides: first, where lines are shown and a person
    /// sees them. An empty answer from a pipe is no person's wish to touch a reader.
    init(_ asked: FingerUse, at service: [UInt8], _ presence: Presence) {
        let place = Place(service)
        self =
            switch asked {
            case .first: .first
            case .only: .only
            case .off: .never
            case .byService:
                switch (place, presence) {
                case (.input, .inFront), (.terminal, .inFront), (.greeter, .inFront): .first
                case (.terminal, .aside), (.greeter, .aside), (.greeter, .unseen), (.other, _):
                    .onEmpty
                case (.input, .aside), (.input, .unseen), (.terminal, .unseen): .never
                }
            case .onEmpty:
                switch (place, presence) {
                case (.input, .inFront), (.terminal, .inFront), (.terminal, .aside), (.greeter, _),
                    (.other, _):
                    .onEmpty
                case (.input, .aside), (.input, .unseen), (.terminal, .unseen): .never
                }
            }
    }

    /// A greeter or a locker: its tty is named like a display of X. The module sees no keys there.
    static func isAtDisplay(_ service: [UInt8], tty: [UInt8]) -> Bool {
        switch Place(service) {
        case .input, .terminal: false
        case .greeter, .other: tty.first == UInt8(ascii: ":")
        }
    }

    static func isGreeter(_ service: [UInt8]) -> Bool { Place(service) == .greeter }

    /// Where the service shows a line and takes an answer.
    private enum Place {
        /// Its standard input, whatever that is.
        case input
        /// The terminal, even if its input is something else.
        case terminal
        case greeter
        case other

        init(_ service: [UInt8]) {
            self =
                switch String(decoding: service, as: UTF8.self) {
                case "login", "su", "su-l": .input
                case "sudo", "sudo-i": .terminal
                case "lightdm": .greeter
                default: .other
                }
        }
    }
}

extension Caller {
    /// A greeter: it leaves the last line that it was given on the screen, above its next question.
    var keepsLastLine: Bool {
        isPAM && FingerTurn.isGreeter(hello.service)
            && FingerTurn.isAtDisplay(hello.service, tty: hello.tty)
    }
}
