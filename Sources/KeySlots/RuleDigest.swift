public import Policy
import Secrets

extension Policy {
    /// Of the rules that a passcode was judged by, as the passcode slot keeps it: another one means that a rule
    /// changed.
    public var ruleDigest: [UInt8] {
        // It fails where libsodium does not start, and there no daemon does. Nothing equals no digest.
        (try? Hash.blake2b(ruleText.span, purpose: .policyRules)) ?? []
    }
}
