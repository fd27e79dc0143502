internal import CGcrypt
public import Posix

/// How other programs seal the files in which they keep secrets: read only, to take those secrets
/// over. Nothing of AppVault's own is sealed like this.
public enum Ciphers {
    public enum Hash: Sendable {
        case md5, sha256

        public var size: Int {
            switch self {
            case .md5: 16
            case .sha256: 32
            }
        }

        fileprivate var algorithm: Int32 {
            switch self {
            case .md5: Int32(GCRY_MD_MD5.rawValue)
            case .sha256: Int32(GCRY_MD_SHA256.rawValue)
            }
        }
    }

    public enum Cipher: Sendable {
        /// A key of 16 bytes, and a vector.
        case aes128CBC
        /// Keys of up to 56 bytes.
        case blowfishCBC
        /// Each block on its own, without a vector.
        case blowfishECB

        public var block: Int {
            switch self {
            case .aes128CBC: 16
            case .blowfishCBC, .blowfishECB: 8
            }
        }

        fileprivate var numbers: (algorithm: Int32, mode: Int32) {
            let blowfish = Int32(GCRY_CIPHER_BLOWFISH.rawValue)
            return switch self {
            case .aes128CBC:
                (Int32(GCRY_CIPHER_AES.rawValue), Int32(GCRY_CIPHER_MODE_CBC.rawValue))
            case .blowfishCBC: (blowfish, Int32(GCRY_CIPHER_MODE_CBC.rawValue))
            case .blowfishECB: (blowfish, Int32(GCRY_CIPHER_MODE_ECB.rawValue))
            }
        }
    }

    /// Appends the hash of these bytes.
    public static func hash(
        _ hash: Hash, _ bytes: Span<UInt8>, into result: inout SecretBuffer
    ) throws(CryptoError) {
        try Library.begin()
        let start = result.count
        for _ in 0..<hash.size { result.append(0) }
        // SAFETY: as many bytes are read as the span has, and as many written as were appended.
        unsafe result.withMutableBytes(from: start) { room in
            unsafe bytes.withUnsafeBytes { bytes in
                unsafe gcry_md_hash_buffer(
                    hash.algorithm, room.baseAddress!, bytes.baseAddress, bytes.count)
            }
        }
    }

    /// Appends the hash of the hash, and so on, this many times in all.
    public static func hash(
        _ hash: Hash, _ bytes: Span<UInt8>, rounds: Int, into result: inout SecretBuffer
    ) throws(CryptoError) {
        let start = result.count
        try self.hash(hash, bytes, into: &result)
        guard rounds > 1 else { return }
        // SAFETY: both are the digest itself: libgcrypt reads all of it before it writes.
        unsafe result.withMutableBytes(from: start) { room in
            for _ in 1..<rounds {
                unsafe gcry_md_hash_buffer(
                    hash.algorithm, room.baseAddress!, room.baseAddress!, hash.size)
            }
        }
    }

    /// Appends a key of this size: PBKDF2 with HMAC-SHA-512.
    public static func pbkdf2(
        _ password: Span<UInt8>, salt: [UInt8], rounds: Int, size: Int,
        into result: inout SecretBuffer
    ) throws(CryptoError) {
        try Library.begin()
        let start = result.count
        for _ in 0..<size { result.append(0) }
        // libgcrypt refuses a password that is no memory at all, even an empty one.
        var zero: UInt8 = 0
        // SAFETY: each count is that of the bytes beside it; of the empty password none is read.
        let status = Library.alone {
            unsafe result.withMutableBytes(from: start) { room in
                unsafe password.withUnsafeBytes { password in
                    unsafe salt.withUnsafeBytes { salt in
                        unsafe withUnsafePointer(to: &zero) { nothing in
                            unsafe gcry_kdf_derive(
                                password.baseAddress ?? UnsafeRawPointer(nothing), password.count,
                                Int32(GCRY_KDF_PBKDF2.rawValue), Int32(GCRY_MD_SHA512.rawValue),
                                salt.baseAddress, salt.count, UInt(rounds), size,
                                room.baseAddress!)
                        }
                    }
                }
            }
        }
        guard status == 0 else { throw .library }
    }

    /// Decrypts whole blocks in place; without a vector it is zero.
    public static func decrypt(
        _ cipher: Cipher, key: Span<UInt8>, vector: Span<UInt8> = Span(),
        _ bytes: inout SecretBuffer
    ) throws(CryptoError) {
        guard bytes.count % cipher.block == 0 else { throw .badSecret }
        try Library.begin()
        guard Library.alone({ isDecrypted(cipher, key, vector, &bytes) }) else { throw .library }
    }

    private static func isDecrypted(
        _ cipher: Cipher, _ key: Span<UInt8>, _ vector: Span<UInt8>, _ bytes: inout SecretBuffer
    ) -> Bool {
        let numbers = cipher.numbers
        var handle: OpaquePointer?
        // SAFETY: the handle is ours, and is closed below.
        let opened = unsafe gcry_cipher_open(
            &handle, numbers.algorithm, numbers.mode, UInt32(GCRY_CIPHER_SECURE.rawValue))
        guard opened == 0, let handle = unsafe handle else { return false }
        defer { unsafe gcry_cipher_close(handle) }
        let keyed = unsafe key.withUnsafeBytes { key in
            unsafe gcry_cipher_setkey(handle, key.baseAddress, key.count)
        }
        guard keyed == 0 else { return false }
        if !vector.isEmpty {
            let set = unsafe vector.withUnsafeBytes { vector in
                unsafe gcry_cipher_setiv(handle, vector.baseAddress, vector.count)
            }
            guard set == 0 else { return false }
        }
        guard !bytes.isEmpty else { return true }
        // SAFETY: without an input, libgcrypt decrypts in place, as many bytes as there are.
        return unsafe bytes.withMutableBytes(from: 0) { room in
            unsafe gcry_cipher_decrypt(handle, room.baseAddress!, room.count, nil, 0)
        } == 0
    }
}
