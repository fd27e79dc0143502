internal import CPwquality
import Posix
import Wire

/// Judges one candidate by one rule.
enum Rules {
    /// Where cracklib has its dictionaries, on Debian and elsewhere.
    static let dictionaries: [StaticString] = [
        "/var/cache/cracklib", "/usr/share/cracklib", "/usr/lib/cracklib",
    ]

    /// The candidate is the end of `text`, from `start` on.
    static func judge(
        _ rule: RuleQuestion.Rule, _ text: inout SecretBuffer, from start: Int
    ) -> (RuleAnswer.Outcome, reason: [UInt8]) {
        let pattern = rule.pattern.map { CChar(bitPattern: $0) } + [0]
        var reason = [CChar](repeating: 0, count: RuleLink.reason)
        // SAFETY: `start` lies within the text. Both the text and the pattern end with a NUL. The
        // reason is passed with its size.
        let tested = unsafe text.withCString { whole in
            let candidate = unsafe whole + start
            switch rule.kind {
            case .matches, .rejects: return unsafe appvault_matches(pattern, candidate)
            case .dictionary:
                return unsafe appvault_dictionary(candidate, &reason, reason.count)
            }
        }
        switch tested {
        case APPVAULT_PASSES: return (rule.kind == .rejects ? .unmet : .satisfied, [])
        case APPVAULT_FAILS:
            return (rule.kind == .rejects ? .satisfied : .unmet, printable(reason))
        default: return (.cannotRun, [])
        }
    }

    private static func printable(_ reason: [CChar]) -> [UInt8] {
        reason.prefix { $0 != 0 }.map { char in
            let byte = UInt8(bitPattern: char)
            return 0x20...0x7E ~= byte ? byte : UInt8(ascii: "?")
        }
    }
}
