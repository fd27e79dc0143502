internal import CSodium

/// What is sealed to a public key, only the private key opens (X25519, libsodium's sealed boxes).
/// It does not show who has sealed it.
public enum SealedBox {
    public static let publicKeySize = 32
    public static let privateKeySize = 32
    /// How much longer a box is than what is in it.
    public static let overhead = 48

    /// 32 random bytes are a private key.
    public static func publicKey(
        of privateKey: borrowing SecretBytes
    ) throws(SecretsError) -> [UInt8] {
        try Sodium.start()
        guard privateKey.count == privateKeySize else { throw .wrongSize }
        defer { wipeStack(.derivation) }
        var made = [UInt8](repeating: 0, count: publicKeySize)
        var span = made.mutableSpan
        let failed = writing(&span) { out in
            // SAFETY: both have 32 bytes.
            unsafe crypto_scalarmult_base(out, privateKey.memory)
        }
        guard failed == 0 else { throw .wrongSize }
        return made
    }

    /// Throws `.notAuthentic` where this is no public key: libsodium refuses those from which
    /// everybody could compute the secret.
    public static func seal(
        _ secret: borrowing SecretBytes, to publicKey: [UInt8]
    ) throws(SecretsError) -> [UInt8] {
        try Sodium.start()
        guard publicKey.count == publicKeySize else { throw .wrongSize }
        defer { wipeStack(.derivation) }
        var box = [UInt8](repeating: 0, count: secret.count + overhead)
        var span = box.mutableSpan
        let failed = writing(&span) { out in
            reading(publicKey.span) { key in
                // SAFETY: the box has room for the secret and its overhead; a key has 32 bytes.
                unsafe crypto_box_seal(out, secret.memory, UInt64(secret.count), key)
            }
        }
        guard failed == 0 else { throw .notAuthentic }
        return box
    }

    /// Throws `.notAuthentic` where it was sealed to another key, or changed.
    public static func open(
        _ box: [UInt8], with privateKey: borrowing SecretBytes
    ) throws(SecretsError) -> SecretBytes {
        guard box.count >= overhead else { throw .notAuthentic }
        let publicKey = try publicKey(of: privateKey)
        defer { wipeStack(.derivation) }
        let secret = try SecretBytes(count: box.count - overhead)
        let failed = reading(box.span, publicKey.span) { box, key in
            // SAFETY: the secret is shorter than the box by its overhead; both keys have 32 bytes.
            unsafe crypto_box_seal_open(
                secret.memory, box, UInt64(secret.count + overhead), key, privateKey.memory)
        }
        guard failed == 0 else { throw .notAuthentic }
        return secret
    }
}
