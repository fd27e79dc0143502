import Secrets

/// A person's key pair, in their default store: what others share with them is sealed to the public
/// key. That one lies open in the block, so that others can share while this store is locked; the
/// block's MAC vouches for it. The private key is sealed under the store key.
package struct MemberKey: Equatable, Sendable {
    static let block = 15

    package let publicKey: [UInt8]
    private let generation: UInt32
    private let nonce: [UInt8]
    private let sealed: [UInt8]

    init(_ payload: [UInt8]) throws(KeyError) {
        var reader = FieldReader(payload)
        guard let generation = reader.number(UInt32.self),
            let publicKey = reader.bytes(SealedBox.publicKeySize),
            let nonce = reader.bytes(Sealing.nonceSize),
            let sealed = reader.bytes(SealedBox.privateKeySize + Sealing.tagSize), reader.restIsZero
        else { throw .damaged(.block(Self.block)) }
        self.generation = generation
        self.publicKey = publicKey
        self.nonce = nonce
        self.sealed = sealed
    }

    static func payload(
        _ privateKey: borrowing SecretBytes, store: StoreID, storeKey: borrowing SecretBytes
    ) throws(KeyError) -> [UInt8] {
        do throws(SecretsError) {
            let publicKey = try SealedBox.publicKey(of: privateKey)
            let generation = WrappedKey.generation
            let bound = bound(store, generation, publicKey)
            let key = try Hash.subkey(of: storeKey, purpose: .memberKey, message: bound.span)
            let nonce = try Random.bytes(Sealing.nonceSize)
            var sealed = [UInt8](
                repeating: 0, count: SealedBox.privateKeySize + Sealing.tagSize)
            var span = sealed.mutableSpan
            try privateKey.withBytes { (bytes) throws(SecretsError) in
                try Sealing.sealCombined(
                    bytes, aad: bound.span, nonce: nonce.span, key: key, into: &span)
            }
            var writer = FieldWriter()
            writer.put(generation)
            writer.put(publicKey)
            writer.put(nonce)
            writer.put(sealed)
            return writer.bytes
        } catch {
            throw .secrets(error)
        }
    }

    /// No secret was typed that could be wrong, so what does not open is damage; and so is a public
    /// key that is not the private one's.
    package func open(
        store: StoreID, storeKey: borrowing SecretBytes
    ) throws(KeyError) -> SecretBytes {
        do throws(SecretsError) {
            let bound = Self.bound(store, generation, publicKey)
            let key = try Hash.subkey(of: storeKey, purpose: .memberKey, message: bound.span)
            var opened = try SecretBytes(count: SealedBox.privateKeySize)
            try opened.withMutableBytes { (content) throws(SecretsError) in
                try Sealing.openCombined(
                    sealed.span, aad: bound.span, nonce: nonce.span, key: key, into: &content)
            }
            guard try SealedBox.publicKey(of: opened) == publicKey else {
                throw SecretsError.notAuthentic
            }
            return opened
        } catch {
            throw error == .notAuthentic ? .damaged(.block(Self.block)) : .secrets(error)
        }
    }

    private static func bound(
        _ store: StoreID, _ generation: UInt32, _ publicKey: [UInt8]
    ) -> [UInt8] {
        var writer = FieldWriter()
        writer.put(store.bytes)
        writer.put(UInt16(block))
        writer.put(generation)
        writer.put(publicKey)
        return writer.bytes
    }
}

extension SlotFile {
    /// Nil where there is none yet.
    package var memberKey: MemberKey? {
        file[MemberKey.block].flatMap { try? MemberKey($0.payload) }
    }

    /// Makes the key pair, where there is none. What was sealed to another one would not open any
    /// more, so one that is there stays.
    public func makeMemberKey(storeKey: borrowing SecretBytes) throws(KeyError) {
        try requireLive()
        guard file[MemberKey.block] == nil else { return }
        let made = try secrets(try SecretBytes.random(SealedBox.privateKeySize))
        try file.put([
            MemberKey.block: try MemberKey.payload(made, store: store, storeKey: storeKey)
        ])
        let read = try MemberKey(try file.readBack(MemberKey.block).payload)
        guard try read.open(store: store, storeKey: storeKey).matches(made) else {
            throw .damaged(.readBack(MemberKey.block))
        }
    }
}
