/// What can go wrong with secrets. No case says anything about a secret's content.
public enum SecretsError: Error, Equatable, Sendable {
    /// There was not enough guarded memory, or not enough memory for a derivation.
    case outOfMemory
    /// A seal does not open: the key or the place is another one, or bytes were changed.
    case notAuthentic
    /// The call needs a buffer, key, nonce or salt of another size.
    case wrongSize
    /// The cost of a derivation is beyond the caps.
    case costOutOfBounds
    /// libsodium could not be started.
    case libraryUnavailable
}
