package import Posix
internal import SessionCrypto

/// A keyring of gnome-keyring's: the form that a password seals. All of it is in
/// gkm-secret-binary.c of gnome-keyring: names and hashed attributes that anybody may read, then
/// everything once more under AES-128 in CBC mode, behind an MD5 that shows whether the password was
/// right.
package enum KeyringFile {
    /// More than any keyring that gnome-keyring itself could still open in a reasonable time.
    package static let limit = 64 << 20

    package enum Form: Equatable, Sendable {
        case sealed
        /// A keyring without a password is a text.
        case plain
    }

    /// Nil if it is no keyring.
    package static func form(_ file: borrowing SecretBuffer) -> Form? {
        file.withSpan { bytes in
            bytes.holds(magic, at: 0) ? .sealed : PlainKeyring.isOne(bytes) ? .plain : nil
        }
    }

    package static func open(
        _ file: borrowing SecretBuffer, password: borrowing SecretBuffer
    ) throws(ForeignProblem) -> ForeignStore {
        guard file.count <= limit else { throw .tooLarge }
        switch form(file) {
        case nil: throw .otherKind
        case .plain: return try PlainKeyring.read(file)
        case .sealed: break
        }
        let head = try file.withSpan { bytes throws(ForeignProblem) in try Head(bytes) }
        var secrets = SecretBuffer(capacity: head.sealed.count)
        file.withSpan(from: head.sealed.lowerBound, count: head.sealed.count) {
            secrets.append($0)
        }
        try unseal(&secrets, head, password)
        let items = try secrets.withSpan { bytes throws(ForeignProblem) in
            try self.items(bytes, head.types)
        }
        return ForeignStore(label: head.label, items: items, secrets: secrets)
    }

    private static let magic = Array("GnomeKeyring\n\r".utf8) + [0, 0x0A]
    /// gnome-keyring takes a number below 4,096.
    private static let mostRounds: UInt32 = 100_000

    struct Head {
        var label: [UInt8] = []
        var rounds = 0
        var salt: [UInt8] = []
        /// The kind of each item, from the times when there were numbers for it.
        var types: [UInt32] = []
        var sealed = 0..<0

        init(_ bytes: Span<UInt8>) throws(ForeignProblem) {
            var walk = Walk(KeyringFile.magic.count, to: bytes.count)
            // Version 0.0, sealed with AES, checked with MD5: there has never been another.
            guard try walk.uint32(bytes) == 0 else { throw .otherVersion }
            label = try walk.counted(bytes).map { bytes.copy($0) } ?? []
            // When it was made and changed, and after which time it locks.
            _ = try walk.take(8 + 8 + 4 + 4)
            let rounds = try walk.uint32(bytes)
            guard rounds <= KeyringFile.mostRounds else { throw .damaged }
            self.rounds = Int(rounds)
            salt = bytes.copy(try walk.take(8))
            _ = try walk.take(4 * 4)
            let count = try walk.count(bytes, ofAtLeast: 12)
            for _ in 0..<count {
                _ = try walk.uint32(bytes)
                types.append(try walk.uint32(bytes))
                _ = try KeyringFile.attributes(bytes, &walk)
            }
            sealed = try walk.take(Int(try walk.uint32(bytes)))
            guard sealed.count >= 16, sealed.count % 16 == 0 else { throw .damaged }
        }
    }

    private static func unseal(
        _ sealed: inout SecretBuffer, _ head: Head, _ password: borrowing SecretBuffer
    ) throws(ForeignProblem) {
        do throws(CryptoError) {
            var seed = SecretBuffer()
            seed.append(password)
            seed.append(head.salt)
            var key = SecretBuffer()
            try seed.withSpan { seed throws(CryptoError) in
                try Ciphers.hash(.sha256, seed, rounds: head.rounds, into: &key)
            }
            // The first half is the key, the other one the vector.
            try key.withSpan { key throws(CryptoError) in
                try Ciphers.decrypt(
                    .aes128CBC, key: key.extracting(0..<16), vector: key.extracting(16..<32),
                    &sealed)
            }
            var digest = SecretBuffer()
            try sealed.withSpan(from: 16, count: sealed.count - 16) { rest throws(CryptoError) in
                try Ciphers.hash(.md5, rest, into: &digest)
            }
            let isRight = sealed.withSpan { bytes in
                digest.withSpan { digest in (0..<16).allSatisfy { bytes[$0] == digest[$0] } }
            }
            guard isRight else { throw .badSecret }
        } catch {
            switch error {
            case .badSecret, .badPublicKey: throw .wrongPassword
            case .library: throw .library
            }
        }
    }

    /// What is behind the digest, decrypted.
    static func items(
        _ bytes: Span<UInt8>, _ types: [UInt32]
    ) throws(ForeignProblem) -> [ForeignItem] {
        var walk = Walk(16, to: bytes.count)
        var items: [ForeignItem] = []
        for type in types {
            var item = ForeignItem()
            item.label = try walk.counted(bytes).map { bytes.copy($0) } ?? []
            item.secret = try walk.counted(bytes) ?? 0..<0
            item.created = try walk.uint64(bytes)
            item.modified = try walk.uint64(bytes)
            _ = try walk.counted(bytes)
            _ = try walk.take(4 * 4)
            item.attributes = try attributes(bytes, &walk)
            item.nameSchema(type)
            // Which programs might read it; gnome-keyring itself does not heed it any more.
            for _ in 0..<(try walk.count(bytes, ofAtLeast: 20)) {
                _ = try walk.uint32(bytes)
                for _ in 0..<3 { _ = try walk.counted(bytes) }
                _ = try walk.uint32(bytes)
            }
            items.append(item)
        }
        return items
    }

    private static func attributes(
        _ bytes: Span<UInt8>, _ walk: inout Walk
    ) throws(ForeignProblem) -> [[UInt8]: [UInt8]] {
        var result: [[UInt8]: [UInt8]] = [:]
        for _ in 0..<(try walk.count(bytes, ofAtLeast: 12)) {
            let name = try walk.counted(bytes).map { bytes.copy($0) }
            let value: [UInt8]
            switch try walk.uint32(bytes) {
            case 0: value = try walk.counted(bytes).map { bytes.copy($0) } ?? []
            // Programs get it as a text.
            case 1: value = Array(String(try walk.uint32(bytes)).utf8)
            default: throw .damaged
            }
            if let name { result[name] = value }
        }
        return result
    }
}

extension ForeignItem {
    /// gnome-keyring shows the kind as an attribute, and items of old programs have it as a number
    /// alone.
    mutating func nameSchema(_ type: UInt32) {
        guard attributes[Self.schema] == nil else { return }
        let name: String? =
            switch type & 0xFFFF {
            case 0: "org.freedesktop.Secret.Generic"
            case 1: "org.gnome.keyring.NetworkPassword"
            case 2: "org.gnome.keyring.Note"
            case 3: "org.gnome.keyring.ChainedKeyring"
            case 4: "org.gnome.keyring.EncryptionKey"
            case 0x100: "org.gnome.keyring.PkStorage"
            default: nil
            }
        if let name { attributes[Self.schema] = Array(name.utf8) }
    }
}
