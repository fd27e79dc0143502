internal import Synchronization

/// Carries one secret into a closure, to be taken out once; what is never taken is wiped with the
/// box.
public final class SecretBox: Sendable, Redacted {
    private let content: Mutex<SecretBytes?>

    public init(_ secret: consuming SecretBytes) {
        content = Mutex(consume secret)
    }

    /// The secret, the first time; nothing afterwards.
    public func take() -> SecretBytes? {
        content.withLock { $0.take() }
    }

    /// A look at the secret while it is still here; nil once it was taken.
    public func read<R: Sendable>(
        _ body: (borrowing SecretBytes) throws(SecretsError) -> R
    ) throws(SecretsError) -> R? {
        try content.withLock { (slot) throws(SecretsError) -> R? in
            guard let secret = slot.take() else { return nil }
            let outcome: Result<R, SecretsError>
            do throws(SecretsError) { outcome = .success(try body(secret)) } catch {
                outcome = .failure(error)
            }
            slot = consume secret
            return try outcome.get()
        }
    }
}
