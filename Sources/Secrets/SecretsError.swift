/// What can go wrong with secrets; nothing here says anything about a secret's content.
public enum SecretsError: Error, Equatable, Sendable {
    /// Guarded memory, or the memory of a derivation, could not be had.
    case outOfMemory
    /// A seal does not open: another key, another place, or changed bytes.
    case notAuthentic
    /// A buffer, key, nonce or salt is not of the size that the call needs.
    case wrongSize
    /// A derivation cost beyond the caps.
    case costOutOfBounds
    /// libsodium could not be started.
    case libraryUnavailable
}
