import Secrets

/// A slot that opens with the recovery key, on any machine.
public struct RecoverySlot: Equatable, Sendable {
    public let block: Int
    /// Seconds since 1970.
    public let setAt: UInt64
    public let keyGeneration: UInt32
    /// Made by somebody who proved something; without a passcode there is nothing to prove.
    public let isProven: Bool
    public let sequence: UInt64
    let wrapped: WrappedKey

    static func payload(
        _ storeKey: borrowing SecretBytes, key: borrowing RecoveryKey, setAt: UInt64,
        isProven: Bool, block: Int, store: StoreID
    ) throws(KeyError) -> [UInt8] {
        let place = WrappedKey.Place(
            store: store, kind: .recovery, block: block, generation: SlotFile.keyGeneration)
        let kek = try kek(key, place)
        var writer = FieldWriter()
        writer.put(SlotFile.keyGeneration)
        writer.put(UInt32(isProven ? 0 : 1))
        writer.put(setAt)
        try WrappedKey(storeKey, under: kek, at: place).write(to: &writer)
        return writer.bytes
    }

    init(_ block: Block) throws(KeyError) {
        var reader = FieldReader(block.payload)
        guard let generation = reader.number(UInt32.self),
            let unproven = reader.number(UInt32.self), unproven <= 1,
            let setAt = reader.number(UInt64.self), let wrapped = WrappedKey(&reader),
            reader.restIsZero
        else { throw .damaged(.block(block.number)) }
        self.block = block.number
        sequence = block.sequence
        self.setAt = setAt
        isProven = unproven == 0
        keyGeneration = generation
        self.wrapped = wrapped
    }

    /// `.wrongSecret` where the key is another one.
    func open(_ key: borrowing RecoveryKey, store: StoreID) throws(KeyError) -> SecretBytes {
        let place = WrappedKey.Place(
            store: store, kind: .recovery, block: block, generation: keyGeneration)
        return try wrapped.open(under: try Self.kek(key, place), at: place)
    }

    private static func kek(
        _ key: borrowing RecoveryKey, _ place: WrappedKey.Place
    ) throws(KeyError) -> SecretBytes {
        // 128 random bits need no slow derivation.
        let message = place.keyMessage
        return try secrets(
            try Hash.subkey(of: key.bytes, purpose: .recoveryKEK, message: message.span))
    }
}
