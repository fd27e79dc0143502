import Policy
import Wire

/// What a finger at a login has come to.
enum FingerLogin: Sendable {
    case admitted(Verdict)
    /// The passcode decides; or the refusal of `Refusal.init(_: FingerOutcome)`, where only a finger was wanted.
    case passcode(FingerOutcome)
}

extension Service {
    private static let fingerFirst = ["login", "sudo", "sudo-i", "su", "su-l", "lightdm"].map {
        Array($0.utf8)
    }

    /// By the service, where the option does not say: first where lines are shown.
    static func fingerUse(_ asked: FingerUse, at service: [UInt8]) -> FingerUse {
        switch asked {
        case .byService: fingerFirst.contains(service) ? .first : .onEmpty
        case .first, .onEmpty, .only, .off: asked
        }
    }

    /// The finger is the login as the passcode is. Asked once in an exchange; where it does not match, or nobody is
    /// asked, the passcode decides.
    func loginByFinger(_ request: Authenticate, _ visit: Visit) async throws(Interruption)
        -> FingerLogin
    {
        let outcome = try await scanFinger(
            .open, visit, isSwitchedOff: request.finger == .off, seconds: request.fingerSeconds
        ) { opening throws(Interruption) in
            try await self.openForLogin(opening, visit)
        }
        switch outcome {
        case .matched:
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
