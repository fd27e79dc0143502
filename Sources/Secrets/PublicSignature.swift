internal import CSodium

/// What others have signed, and the digests that their signatures are made of. Nothing here is
/// secret.
public enum PublicSignature {
    public static let size = 64
    public static let keySize = 32

    /// Whether the holder of an Ed25519 key has signed this message.
    public static func verify(
        _ signature: [UInt8], of message: Span<UInt8>, by key: [UInt8]
    ) throws(SecretsError) -> Bool {
        try Sodium.start()
        guard signature.count == size, key.count == keySize else { throw .wrongSize }
        return reading(signature.span, message, key.span) { signature, bytes, key in
            // SAFETY: the message is passed with its own count; the two others have the sizes that
            // were checked above.
            unsafe crypto_sign_ed25519_verify_detached(
                signature, bytes, UInt64(message.count), key) == 0
        }
    }

    public enum Digest: Sendable {
        case sha256, sha512, blake2b512

        var size: Int {
            switch self {
            case .sha256: 32
            case .sha512, .blake2b512: 64
            }
        }
    }

    public static func digest(
        _ message: Span<UInt8>, _ kind: Digest
    ) throws(SecretsError) -> [UInt8] {
        try Sodium.start()
        var output = [UInt8](repeating: 0, count: kind.size)
        var span = output.mutableSpan
        let failed = writing(&span) { out in
            reading(message) { bytes in
                // SAFETY: the message is passed with its own count, and the output has the size of
                // the digest.
                switch kind {
                case .sha256: unsafe crypto_hash_sha256(out, bytes, UInt64(message.count))
                case .sha512: unsafe crypto_hash_sha512(out, bytes, UInt64(message.count))
                case .blake2b512:
                    unsafe crypto_generichash_blake2b(
                        out, kind.size, bytes, UInt64(message.count), nil, 0)
                }
            }
        }
        guard failed == 0 else { throw .wrongSize }
        return output
    }
}

/// Bytes written as text, as keys and signatures are handed around.
public enum Base64 {
    /// The whole text, with its padding; nil where a character is none of the alphabet.
    public static func decode(_ text: [UInt8]) -> [UInt8]? {
        let characters = text.map { CChar(bitPattern: $0) }
        var output = [UInt8](repeating: 0, count: text.count / 4 * 3 + 3)
        let room = output.count
        var count = 0
        // SAFETY: both arrays are passed with their own counts; without an end to report, the call
        // fails where a character is left over.
        let failed = unsafe sodium_base642bin(
            &output, room, characters, text.count, nil, &count, nil,
            sodium_base64_VARIANT_ORIGINAL)
        guard failed == 0 else { return nil }
        return Array(output.prefix(count))
    }

    public static func encode(_ bytes: [UInt8]) -> String {
        let room = sodium_base64_encoded_len(bytes.count, sodium_base64_VARIANT_ORIGINAL)
        var text = [CChar](repeating: 0, count: room)
        // SAFETY: both arrays are passed with their own counts.
        _ = unsafe sodium_bin2base64(
            &text, room, bytes, bytes.count, sodium_base64_VARIANT_ORIGINAL)
        return String(decoding: text.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
