public import Policy
import Secrets

extension Policy {
    /// The digest of the rules, which the passcode slot keeps for the rules by which its passcode
    /// was judged. Another digest means that a rule changed.
    public var ruleDigest: [UInt8] {
        // The hash fails only where libsodium does not start, and then no daemon starts. The empty
        // result equals no digest.
        (try? Hash.blake2b(ruleText.span, purpose: .policyRules)) ?? []
    }
}
