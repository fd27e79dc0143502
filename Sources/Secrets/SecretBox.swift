internal import Synchronization

/// Carries one secret into a closure, to be taken out once; what is never taken is wiped with the
/// box.
public final class SecretBox: Sendable, Redacted {
    private let content: Mutex<SecretBytes?>

    public init(_ secret: consuming SecretBytes) {
        content = Mutex(consume secret)
    }

    /// The secret at the first call; nil afterwards.
    public func take() -> SecretBytes? {
        content.withLock { $0.take() }
    }

    /// Reads the secret without taking it; nil if it was taken already.
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
