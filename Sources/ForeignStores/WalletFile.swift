package import Posix
internal import SessionCrypto

/// A wallet of KWallet's, as backendpersisthandler.cpp of kwallet writes it: hashes of the names,
/// then everything sealed with Blowfish, behind a SHA-1 that shows whether the password was right.
package enum WalletFile {
    package static let limit = 64 << 20
    package static let saltSize = 56

    package static func isOne(_ file: borrowing SecretBuffer) -> Bool {
        file.withSpan { $0.holds(magic, at: 0) }
    }

    private static let magic = Array("KWALLET\n\r".utf8) + [0, 0x0D, 0x0A]
    private static let keySize = 56
    private static let rounds = 50_000
    private static let oldRounds = 2_000

    struct Head {
        enum Hash { case sha1, pbkdf2 }

        var cipher: Ciphers.Cipher
        var hash: Hash
        var sealed: Range<Int>

        init(_ bytes: Span<UInt8>) throws(ForeignProblem) {
            guard bytes.holds(WalletFile.magic, at: 0) else { throw .otherKind }
            var walk = Walk(WalletFile.magic.count, to: bytes.count)
            let version = bytes.copy(try walk.take(4))
            // Version 0 of 0 or 1.
            guard version[0] == 0, version[1] <= 1 else { throw .otherVersion }
            switch version[2] {
            // It was meant to be CBC, and each block was sealed on its own.
            case 0: cipher = .blowfishECB
            case 2: throw .sealedByGnuPG
            case 3: cipher = .blowfishCBC
            default: throw .otherVersion
            }
            switch version[3] {
            case 0: hash = .sha1
            case 2: hash = .pbkdf2
            default: throw .otherVersion
            }
            for _ in 0..<(try walk.count(bytes, ofAtLeast: 20)) {
                _ = try walk.take(16)
                _ = try walk.take(16 * (try walk.count(bytes, ofAtLeast: 16)))
            }
            sealed = try walk.take(walk.left)
            guard sealed.count >= 8 + 4 + 20, sealed.count % cipher.block == 0 else {
                throw .damaged
            }
        }
    }

    /// `salt` is what the file beside it holds, with the same name and the ending .salt; wallets of
    /// old versions have none. `notes` are the attributes that programs have given to their secrets.
    package static func open(
        _ file: borrowing SecretBuffer, salt: [UInt8]?, password: borrowing SecretBuffer,
        notes: WalletNotes
    ) throws(ForeignProblem) -> ForeignStore {
        guard file.count <= limit else { throw .tooLarge }
        let head = try file.withSpan { bytes throws(ForeignProblem) in try Head(bytes) }
        var opened = SecretBuffer(capacity: head.sealed.count)
        file.withSpan(from: head.sealed.lowerBound, count: head.sealed.count) {
            opened.append($0)
        }
        let content = try unseal(&opened, head, salt, password)
        var store = ForeignStore()
        try opened.withSpan(from: content.lowerBound, count: content.count) {
            bytes throws(ForeignProblem) in
            try WalletEntries.read(bytes, notes, into: &store)
        }
        return store
    }

    private static func unseal(
        _ sealed: inout SecretBuffer, _ head: Head, _ salt: [UInt8]?,
        _ password: borrowing SecretBuffer
    ) throws(ForeignProblem) -> Range<Int> {
        var key = SecretBuffer()
        do throws(CryptoError) {
            switch head.hash {
            case .sha1: oldKey(password, into: &key)
            case .pbkdf2:
                guard let salt, salt.count == saltSize else { throw .badPublicKey }
                try password.withSpan { password throws(CryptoError) in
                    try Ciphers.pbkdf2(
                        password, salt: salt, rounds: rounds, size: keySize, into: &key)
                }
            }
            try key.withSpan { key throws(CryptoError) in
                try Ciphers.decrypt(head.cipher, key: key, &sealed)
            }
            return try sealed.withSpan { bytes throws(CryptoError) in try content(bytes) }
        } catch {
            switch error {
            case .badSecret: throw .wrongPassword
            case .badPublicKey: throw .noSalt
            case .library: throw .library
            }
        }
    }

    /// Where the entries are. Before them stand a block of random bytes and their size; the last 20
    /// bytes are their SHA-1.
    private static func content(_ bytes: Span<UInt8>) throws(CryptoError) -> Range<Int> {
        let size = (8..<12).reduce(0) { $0 << 8 | Int(bytes[$1]) }
        guard size <= bytes.count - 12 - 20 else { throw .badSecret }
        var hash = NativeSHA1()
        var digest = SecretBuffer()
        hash.hash(bytes.extracting(12..<(12 + size)), into: &digest)
        let isRight = digest.withSpan { digest in
            digest.indices.allSatisfy { bytes[bytes.count - NativeSHA1.size + $0] == digest[$0] }
        }
        guard isRight else { throw .badSecret }
        return 12..<(12 + size)
    }

    /// As it was before 2014: each 16 bytes of the password are hashed on their own.
    private static func oldKey(
        _ password: borrowing SecretBuffer, into key: inout SecretBuffer
    ) {
        let count = password.count
        var parts = [0..<min(16, count)]
        if count > 16 { parts.append(16..<min(32, count)) }
        if count > 32 { parts.append(32..<min(48, count)) }
        if count > 48 { parts.append(48..<count) }
        let sizes = [[20], [20, 20], [20, 20, 16], [14, 14, 14, 14]][parts.count - 1]
        var hash = NativeSHA1()
        for (part, size) in zip(parts, sizes) {
            var digest = SecretBuffer()
            password.withSpan(from: part.lowerBound, count: part.count) {
                hash.hash($0, into: &digest)
            }
            var next = SecretBuffer()
            for _ in 1..<oldRounds {
                next.removeAll()
                digest.withSpan { hash.hash($0, into: &next) }
                digest.removeAll()
                digest.append(next)
            }
            digest.withSpan(from: 0, count: size) { key.append($0) }
        }
    }
}
