import Policy
import Secrets
import StoreKeeping
import Wire
import Words

/// The result of a finger at a login.
enum FingerLogin: Sendable {
    case admitted(Verdict)
    /// The passcode decides. If only a finger was wanted, `Refusal.init(_: FingerOutcome)` makes
    /// the refusal.
    case passcode(FingerOutcome)
}

extension Refusal {
    /// For a caller that asked for a finger only.
    init(_ outcome: FingerOutcome) {
        self =
            switch outcome {
            case .matched: .unknown
            case .notAsked(let why): .fingerprintUnavailable(FingerprintReason(why))
            case .ended(let failure): Refusal(failure)
            }
    }
}
