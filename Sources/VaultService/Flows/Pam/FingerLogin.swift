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
