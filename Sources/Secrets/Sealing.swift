internal import CSodium

/// XChaCha20-Poly1305 into the caller's buffers, so that no allocation is needed for a record.
public enum Sealing {
    public static let keySize = 32
    public static let nonceSize = 24
    public static let tagSize = 16

    /// The ciphertext is as long as the plaintext. The tag is written to a buffer of its own.
    @_lifetime(ciphertext: copy ciphertext)
    @_lifetime(tag: copy tag)
    public static func seal(
        _ plaintext: Span<UInt8>, aad: Span<UInt8>, nonce: Span<UInt8>,
        key: borrowing SecretBytes, into ciphertext: inout MutableSpan<UInt8>,
        tag: inout MutableSpan<UInt8>
    ) throws(SecretsError) {
        guard ciphertext.count == plaintext.count else { throw .wrongSize }
        try check(tag: tag.count, nonce: nonce.count, key: key.count)
        defer { wipeStack(.sealing) }
        writing(&ciphertext) { out in
            writing(&tag) { tag in
                reading(plaintext, aad, nonce) { text, aadBytes, nonce in
                    // SAFETY: sizes are checked above; each pointer is passed with its own count.
                    _ = unsafe crypto_aead_xchacha20poly1305_ietf_encrypt_detached(
                        out, tag, nil, text, UInt64(plaintext.count), aadBytes, UInt64(aad.count),
                        nil, nonce, key.memory)
                }
            }
        }
    }

    /// If the seal does not open, leaves zeroes in `plaintext` and throws `.notAuthentic`.
    @_lifetime(plaintext: copy plaintext)
    public static func open(
        _ ciphertext: Span<UInt8>, tag: Span<UInt8>, aad: Span<UInt8>, nonce: Span<UInt8>,
        key: borrowing SecretBytes, into plaintext: inout MutableSpan<UInt8>
    ) throws(SecretsError) {
        guard ciphertext.count == plaintext.count else { throw .wrongSize }
        try check(tag: tag.count, nonce: nonce.count, key: key.count)
        defer { wipeStack(.sealing) }
        let failed = writing(&plaintext) { out in
            reading(ciphertext) { text in
                reading(tag, aad, nonce) { tag, aadBytes, nonce in
                    // SAFETY: sizes are checked above; each pointer is passed with its own count.
                    unsafe crypto_aead_xchacha20poly1305_ietf_decrypt_detached(
                        out, nil, text, UInt64(ciphertext.count), tag, aadBytes,
                        UInt64(aad.count), nonce, key.memory)
                }
            }
        }
        guard failed == 0 else { throw .notAuthentic }
    }

    /// Like `seal`, but replaces the text with its ciphertext.
    @_lifetime(text: copy text)
    @_lifetime(tag: copy tag)
    public static func sealInPlace(
        _ text: inout MutableSpan<UInt8>, aad: Span<UInt8>, nonce: Span<UInt8>,
        key: borrowing SecretBytes, tag: inout MutableSpan<UInt8>
    ) throws(SecretsError) {
        try check(tag: tag.count, nonce: nonce.count, key: key.count)
        defer { wipeStack(.sealing) }
        let count = text.count
        writing(&text) { text in
            writing(&tag) { tag in
                reading(aad, nonce) { aadBytes, nonce in
                    // SAFETY: as in seal; libsodium allows input and output to be the same buffer.
                    _ = unsafe crypto_aead_xchacha20poly1305_ietf_encrypt_detached(
                        text, tag, nil, text, UInt64(count), aadBytes, UInt64(aad.count), nil,
                        nonce, key.memory)
                }
            }
        }
    }

    /// Like `open`, but replaces the ciphertext with its text, or with zeroes if the seal does not
    /// open.
    @_lifetime(text: copy text)
    public static func openInPlace(
        _ text: inout MutableSpan<UInt8>, tag: Span<UInt8>, aad: Span<UInt8>,
        nonce: Span<UInt8>, key: borrowing SecretBytes
    ) throws(SecretsError) {
        try check(tag: tag.count, nonce: nonce.count, key: key.count)
        defer { wipeStack(.sealing) }
        let count = text.count
        let failed = writing(&text) { text in
            reading(tag, aad, nonce) { tag, aadBytes, nonce in
                // SAFETY: as in open; libsodium allows input and output to be the same buffer.
                unsafe crypto_aead_xchacha20poly1305_ietf_decrypt_detached(
                    text, nil, text, UInt64(count), tag, aadBytes, UInt64(aad.count), nonce,
                    key.memory)
            }
        }
        guard failed == 0 else { throw .notAuthentic }
    }

    /// Writes ciphertext and then tag into one buffer, 16 bytes longer than the plaintext.
    @_lifetime(sealed: copy sealed)
    public static func sealCombined(
        _ plaintext: Span<UInt8>, aad: Span<UInt8>, nonce: Span<UInt8>,
        key: borrowing SecretBytes, into sealed: inout MutableSpan<UInt8>
    ) throws(SecretsError) {
        guard sealed.count == plaintext.count + tagSize else { throw .wrongSize }
        try check(tag: tagSize, nonce: nonce.count, key: key.count)
        defer { wipeStack(.sealing) }
        writing(&sealed) { out in
            reading(plaintext, aad, nonce) { text, aadBytes, nonce in
                // SAFETY: as in seal; the output has room for the tag.
                _ = unsafe crypto_aead_xchacha20poly1305_ietf_encrypt(
                    out, nil, text, UInt64(plaintext.count), aadBytes, UInt64(aad.count), nil,
                    nonce, key.memory)
            }
        }
    }

    @_lifetime(plaintext: copy plaintext)
    public static func openCombined(
        _ sealed: Span<UInt8>, aad: Span<UInt8>, nonce: Span<UInt8>,
        key: borrowing SecretBytes, into plaintext: inout MutableSpan<UInt8>
    ) throws(SecretsError) {
        let count = sealed.count - tagSize
        guard count >= 0 else { throw .notAuthentic }
        try open(
            sealed.extracting(0..<count), tag: sealed.extracting(count..<sealed.count), aad: aad,
            nonce: nonce, key: key, into: &plaintext)
    }

    private static func check(tag: Int, nonce: Int, key: Int) throws(SecretsError) {
        try Sodium.start()
        guard tag == tagSize, nonce == nonceSize, key == keySize else { throw .wrongSize }
    }
}
