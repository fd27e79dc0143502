internal import CSodium

/// BLAKE2b of one message, with a key or without, always for a stated purpose. The hash has 16 to
/// 64 bytes.
public enum Hash {
    public static func blake2b(
        _ message: Span<UInt8>, purpose: Purpose, count: Int = 32
    ) throws(SecretsError) -> [UInt8] {
        try Sodium.start()
        guard (16...64).contains(count) else { throw .wrongSize }
        var output = [UInt8](repeating: 0, count: count)
        var span = output.mutableSpan
        let failed = writing(&span) { out in
            reading(message, purpose.bytes.span) { bytes, purpose in
                // SAFETY: each pointer is passed with its own count; a purpose has 16 bytes.
                unsafe crypto_generichash_blake2b_salt_personal(
                    out, count, bytes, UInt64(message.count), nil, 0, nil, purpose)
            }
        }
        guard failed == 0 else { throw .wrongSize }
        return output
    }

    public static func blake2b(
        _ message: Span<UInt8>, key: borrowing SecretBytes, purpose: Purpose, count: Int = 32
    ) throws(SecretsError) -> [UInt8] {
        guard (16...64).contains(count) else { throw .wrongSize }
        var output = [UInt8](repeating: 0, count: count)
        var span = output.mutableSpan
        try blake2b(message, key: key, purpose: purpose, into: &span)
        return output
    }

    /// The same, written into the caller's buffer. The size of the buffer is the size of the hash.
    @_lifetime(output: copy output)
    public static func blake2b(
        _ message: Span<UInt8>, key: borrowing SecretBytes, purpose: Purpose,
        into output: inout MutableSpan<UInt8>
    ) throws(SecretsError) {
        try Sodium.start()
        let count = output.count
        // Without a key, or with a short one, anybody could compute the hash.
        guard (16...64).contains(count), (16...64).contains(key.count) else { throw .wrongSize }
        defer { wipeStack(.hashing) }
        let failed = writing(&output) { out in
            reading(message, purpose.bytes.span) { bytes, purpose in
                // SAFETY: each pointer is passed with its own count; a purpose has 16 bytes.
                unsafe crypto_generichash_blake2b_salt_personal(
                    out, count, bytes, UInt64(message.count), key.memory, key.count, nil, purpose)
            }
        }
        guard failed == 0 else { throw .wrongSize }
    }

    /// Derives from a key a subkey for one purpose.
    public static func subkey(
        of key: borrowing SecretBytes, purpose: Purpose, message: Span<UInt8> = Span(),
        count: Int = 32
    ) throws(SecretsError) -> SecretBytes {
        var output = try SecretBytes(count: count)
        try output.withMutableBytes { (bytes) throws(SecretsError) in
            try blake2b(message, key: key, purpose: purpose, into: &bytes)
        }
        return output
    }
}

extension Hash {
    /// As `sha256sum` says it: for what a person can check without us.
    public static func sha256(_ message: Span<UInt8>) throws(SecretsError) -> [UInt8] {
        try Sodium.start()
        var output = [UInt8](repeating: 0, count: Int(crypto_hash_sha256_BYTES))
        var span = output.mutableSpan
        let failed = writing(&span) { out in
            reading(message) { bytes in
                // SAFETY: the message's own count; the output has the size that the call fills.
                unsafe crypto_hash_sha256(out, bytes, UInt64(message.count))
            }
        }
        guard failed == 0 else { throw .wrongSize }
        return output
    }
}
