import Policy
import Secrets
import StoreKeeping
import Wire
import Words

/// What a finger at a login has come to.
enum FingerLogin: Sendable {
    case admitted(Verdict)
    /// The passcode decides; or the refusal of `Refusal.init(_: FingerOutcome)`, where only a finger was wanted.
    case passcode(FingerOutcome)
}

/// When the reader is started, relative to the passcode's question.
enum FingerTurn: Equatable, Sendable {
    case first, onEmpty, only, never

    /// By the service where the option does not say: first where lines are shown and somebody sees them. What a
    /// pipe answers is nobody's wish to touch a reader.
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

    /// A greeter or a locker, by X's names of displays: the module sees no keys there.
    static func isAtDisplay(_ service: [UInt8], tty: [UInt8]) -> Bool {
        switch Place(service) {
        case .input, .terminal: false
        case .greeter, .other: tty.first == UInt8(ascii: ":")
        }
    }

    static func isGreeter(_ service: [UInt8]) -> Bool { Place(service) == .greeter }

    /// Where the service shows a line and takes an answer.
    private enum Place {
        /// Its input, whatever that is.
        case input
        /// The terminal, also where its input is something else.
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

extension Service {
    /// The finger is the login as the passcode is. Asked once in an exchange; where it does not match, or nobody is
    /// asked, the passcode decides.
    func loginByFinger(_ request: Authenticate, _ visit: Visit) async throws(Interruption)
        -> FingerLogin
    {
        var kept: SecretBox?
        let outcome = try await scanFinger(
            .open, visit, isSwitchedOff: request.finger == .off, seconds: request.fingerSeconds
        ) { opening throws(Interruption) in
            let (used, other) = try refusing { () throws(Refusal) in try opening.doubled() }
            try await self.openForLogin(used, visit)
            if self.setsToken(request, visit) { kept = await visit.host.keyringPassword(other) }
        }
        switch outcome {
        case .matched:
            if let kept { try await visit.exchange.give(token: kept) }
            let transaction = Transaction(store: visit.host.id, person: visit.person)
            return .admitted(
                Verdict(outcome: .success, handle: (try? transactions.keep(transaction)) ?? .none))
        case .notAsked, .ended: return .passcode(outcome)
        }
    }
}

extension Refusal {
    /// For whoever asked for nothing but the finger.
    init(_ outcome: FingerOutcome) {
        self =
            switch outcome {
            case .matched: .unknown
            case .notAsked(let why): .fingerprintUnavailable(FingerprintReason(why))
            case .ended(let failure): Refusal(failure)
            }
    }
}
