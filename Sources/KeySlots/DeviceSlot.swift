import Secrets

/// A slot that opens with the machine key alone: the state without a passcode.
struct DeviceSlot: Equatable {
    let block: Int
    let keyGeneration: UInt32
    let wrapped: WrappedKey

    static func payload(
        _ storeKey: borrowing SecretBytes, block: Int, store: StoreID, machine: MachineKey
    ) throws(KeyError) -> [UInt8] {
        let place = WrappedKey.Place(
            store: store, kind: .device, block: block, generation: SlotFile.keyGeneration)
        let key = try key(place, machine)
        var writer = FieldWriter()
        writer.put(SlotFile.keyGeneration)
        try WrappedKey(storeKey, under: key, at: place).write(to: &writer)
        return writer.bytes
    }

    init(_ block: Block) throws(KeyError) {
        var reader = FieldReader(block.payload)
        guard let generation = reader.number(UInt32.self), let wrapped = WrappedKey(&reader),
            reader.restIsZero
        else { throw .damaged(.block(block.number)) }
        self.block = block.number
        keyGeneration = generation
        self.wrapped = wrapped
    }

    /// Nobody typed anything, so what does not open is damage.
    func open(store: StoreID, machine: MachineKey) throws(KeyError) -> SecretBytes {
        let place = WrappedKey.Place(
            store: store, kind: .device, block: block, generation: keyGeneration)
        do {
            return try wrapped.open(under: try Self.key(place, machine), at: place)
        } catch {
            throw error == .wrongSecret ? .damaged(.block(block)) : error
        }
    }

    private static func key(
        _ place: WrappedKey.Place, _ machine: MachineKey
    ) throws(KeyError) -> SecretBytes {
        let message = place.keyMessage
        return try secrets(
            try Hash.subkey(of: machine.slotKey, purpose: .deviceKEK, message: message.span))
    }
}
