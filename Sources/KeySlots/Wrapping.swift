import Secrets

/// A store key sealed under a slot's key and bound to its place.
struct WrappedKey: Equatable {
    static let keySize = 32
    /// The generation of the store keys that this release makes.
    static let generation: UInt32 = 1
    static let size = Sealing.nonceSize + keySize + Sealing.tagSize

    let nonce: [UInt8]
    let sealed: [UInt8]

    /// What a wrapped key is bound to: 32 bytes. The cost is zero where there is none.
    struct Place {
        let store: StoreID
        let kind: UInt16
        let block: Int
        let generation: UInt32
        var cost: KeyDerivation.Cost?

        var bytes: [UInt8] {
            var writer = FieldWriter()
            writer.put(store.bytes)
            writer.put(kind)
            writer.put(UInt16(block))
            writer.put(generation)
            writer.put(cost?.memoryKiB ?? 0)
            writer.put(cost?.passes ?? 0)
            return writer.bytes
        }

        /// The part of the place that goes into the derivation of a slot's key.
        var keyMessage: [UInt8] {
            var writer = FieldWriter()
            writer.put(store.bytes)
            writer.put(UInt16(block))
            return writer.bytes
        }
    }

    init(
        _ storeKey: borrowing SecretBytes, under key: borrowing SecretBytes, at place: Place
    ) throws(KeyError) {
        guard storeKey.count == Self.keySize else { throw .secrets(.wrongSize) }
        do {
            let nonce = try Random.bytes(Sealing.nonceSize)
            var sealed = [UInt8](repeating: 0, count: Self.keySize + Sealing.tagSize)
            var span = sealed.mutableSpan
            let bound = place.bytes
            try storeKey.withBytes { (bytes) throws(SecretsError) in
                try Sealing.sealCombined(
                    bytes, aad: bound.span, nonce: nonce.span, key: key, into: &span)
            }
            self.nonce = nonce
            self.sealed = sealed
        } catch {
            throw .secrets(error)
        }
    }

    /// Throws `.wrongSecret` where the key is another one.
    func open(
        under key: borrowing SecretBytes, at place: Place
    ) throws(KeyError) -> SecretBytes {
        do {
            var storeKey = try SecretBytes(count: Self.keySize)
            let bound = place.bytes
            try storeKey.withMutableBytes { (bytes) throws(SecretsError) in
                try Sealing.openCombined(
                    sealed.span, aad: bound.span, nonce: nonce.span, key: key, into: &bytes)
            }
            return storeKey
        } catch {
            throw error == .notAuthentic ? .wrongSecret : .secrets(error)
        }
    }

    init?(_ reader: inout FieldReader) {
        guard let nonce = reader.bytes(Sealing.nonceSize),
            let sealed = reader.bytes(Self.keySize + Sealing.tagSize)
        else { return nil }
        self.nonce = nonce
        self.sealed = sealed
    }

    func write(to writer: inout FieldWriter) {
        writer.put(nonce)
        writer.put(sealed)
    }
}
