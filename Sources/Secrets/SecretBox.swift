internal import Synchronization

/// Carries one secret into a closure, to be taken out once; what is never taken is wiped with the box.
public final class SecretBox: Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    private let content: Mutex<SecretBytes?>

    public init(_ secret: consuming SecretBytes) {
        content = Mutex(consume secret)
    }

    /// The secret, the first time; nothing afterwards.
    public func take() -> SecretBytes? {
        content.withLock { $0.take() }
    }

    public var description: String { "[REDACTED]" }
    public var debugDescription: String { "[REDACTED]" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
