import Secrets

/// The login password that is kept for a keyring behind a login by finger: one block, sealed under the store key. It
/// is there only beside a passcode, and only while fingers open the store.
public enum KeyringPassword {
    /// What fits into the block.
    public static let limit = textSize - 2

    private static let textSize =
        Block.payloadSize - 4 - Sealing.nonceSize - Sealing.tagSize
    private static let sealedSize = textSize + Sealing.tagSize

    /// Bound to the store and to the block.
    private static func bound(_ store: StoreID, _ generation: UInt32) -> [UInt8] {
        var writer = FieldWriter()
        writer.put(store.bytes)
        writer.put(UInt16(SlotFile.keyringBlock))
        writer.put(generation)
        return writer.bytes
    }

    private static func key(
        _ storeKey: borrowing SecretBytes, _ bound: [UInt8]
    ) throws(KeyError) -> SecretBytes {
        try secrets(try Hash.subkey(of: storeKey, purpose: .keyring, message: bound.span))
    }

    /// Filled up: what lies on the disk tells nothing of its length.
    static func payload(
        _ password: borrowing SecretBytes, store: StoreID, storeKey: borrowing SecretBytes
    ) throws(KeyError) -> [UInt8] {
        guard password.count > 0, password.count <= limit else { throw .tooLong }
        let bound = bound(store, SlotFile.keyGeneration)
        let key = try key(storeKey, bound)
        let nonce = try secrets(try Random.bytes(Sealing.nonceSize))
        var sealed = [UInt8](repeating: 0, count: sealedSize)
        var span = sealed.mutableSpan
        do throws(SecretsError) {
            var text = try SecretBytes(count: textSize)
            text.withMutableBytes { text in
                text[0] = UInt8(truncatingIfNeeded: password.count)
                text[1] = UInt8(truncatingIfNeeded: password.count >> 8)
                password.withBytes { bytes in
                    for index in bytes.indices { text[2 + index] = bytes[index] }
                }
            }
            try text.withBytes { (bytes) throws(SecretsError) in
                try Sealing.sealCombined(
                    bytes, aad: bound.span, nonce: nonce.span, key: key, into: &span)
            }
        } catch {
            throw .secrets(error)
        }
        var writer = FieldWriter()
        writer.put(SlotFile.keyGeneration)
        writer.put(nonce)
        writer.put(sealed)
        return writer.bytes
    }

    /// What the block looks like without its key.
    struct Sealed {
        let generation: UInt32
        let nonce: [UInt8]
        let text: [UInt8]

        init(_ payload: [UInt8]) throws(KeyError) {
            var reader = FieldReader(payload)
            guard let generation = reader.number(UInt32.self),
                let nonce = reader.bytes(Sealing.nonceSize),
                let text = reader.bytes(KeyringPassword.sealedSize), reader.restIsZero
            else { throw .damaged(.block(SlotFile.keyringBlock)) }
            self.generation = generation
            self.nonce = nonce
            self.text = text
        }
    }

    /// Nobody typed anything, so what does not open is damage.
    static func open(
        _ payload: [UInt8], store: StoreID, storeKey: borrowing SecretBytes
    ) throws(KeyError) -> SecretBytes {
        let sealed = try Sealed(payload)
        let bound = bound(store, sealed.generation)
        let key = try key(storeKey, bound)
        do throws(SecretsError) {
            var text = try SecretBytes(count: textSize)
            try text.withMutableBytes { (plain) throws(SecretsError) in
                try Sealing.openCombined(
                    sealed.text.span, aad: bound.span, nonce: sealed.nonce.span, key: key,
                    into: &plain)
            }
            let count = text.withBytes { Int($0[0]) | Int($0[1]) << 8 }
            guard count > 0, count <= limit else { throw .notAuthentic }
            return try text.slice(2..<(2 + count))
        } catch {
            throw error == .notAuthentic
                ? .damaged(.block(SlotFile.keyringBlock)) : .secrets(error)
        }
    }
}

extension SlotFile {
    public var hasKeyringPassword: Bool { isFull(Self.keyringBlock) }

    /// Nil where none is kept.
    public func keyringPassword(
        storeKey: borrowing SecretBytes
    ) throws(KeyError) -> SecretBytes? {
        try requireLive()
        guard !hasDeviceSlot, terms.fingerprintIsOn, let block = blocks[Self.keyringBlock]
        else { return nil }
        return try KeyringPassword.open(block.payload, store: store, storeKey: storeKey)
    }

    /// `.noSuchSlot` where no finger opens the store, or everybody does. Writes nothing where it is kept already.
    /// True where it was written.
    @discardableResult
    public func write(
        keyringPassword password: borrowing SecretBytes, storeKey: borrowing SecretBytes
    ) throws(KeyError) -> Bool {
        try requireLive()
        let passcodes = try passcodeSlots
        guard !hasDeviceSlot, terms.fingerprintIsOn, !passcodes.isEmpty else { throw .noSuchSlot }
        if !isDoubtful(Self.keyringBlock),
            let kept = try? keyringPassword(storeKey: storeKey), kept.matches(password)
        {
            return false
        }
        let payload = try KeyringPassword.payload(password, store: store, storeKey: storeKey)
        try put([Self.keyringBlock: payload])
        return true
    }

    /// Writes nothing where none is kept.
    public func forgetKeyringPassword() throws(KeyError) {
        try put([:], zeroing: [Self.keyringBlock])
    }
}
