/// Answers with a passcode of the program's own: for a store that opens with something that the
/// program has, such as a key of its hardware or a secret of its server, and that no person types.
///
/// A passcode that stands in the program protects nothing from whoever has the program. Without
/// anything of that kind, let the store follow the person's own one: ``NewStore/following(_:)``.
public final class FixedPrompter: Prompter {
    private let passcode: SecretBytes

    /// A prompter that answers each question for this store's passcode, and no other.
    public init(passcode: consuming SecretBytes) { self.passcode = passcode }

    /// A program that has made the passcode up itself.
    public var kind: PrompterKind { .device }

    /// The passcode, where it is asked for.
    public func answer(_ question: Question) async -> Answer {
        switch question.purpose {
        case .passcode, .newPasscode, .confirmPasscode:
            return .secret(passcode.withBytes { SecretBytes(copying: $0) })
        case .acknowledge: return .yes
        case .choice: return .no
        case .loginPassword, .passphrase, .newPassphrase, .confirmPassphrase, .recoveryKey,
            .formerPassword:
            return .nobody
        }
    }

    /// Shows nothing.
    public func show(_ notice: Notice) async {}
}
