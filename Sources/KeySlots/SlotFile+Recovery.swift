import Secrets

extension SlotFile {
    package var recoverySlots: [RecoverySlot] {
        get throws(KeyError) { try file.slots() }
    }

    /// Throws `.wrongSecret` where no recovery slot opens with this key.
    public func openRecovery(_ key: borrowing RecoveryKey) throws(KeyError) -> SecretBytes {
        let slots = try recoverySlots
        guard !slots.isEmpty else { throw .noSuchSlot }
        for slot in slots {
            do {
                return try openRecovery(slot, key)
            } catch {
                guard error == .wrongSecret else { throw error }
            }
        }
        throw .wrongSecret
    }

    /// Throws `.wrongSecret` where this slot does not open with this key.
    package func openRecovery(
        _ slot: RecoverySlot, _ key: borrowing RecoveryKey
    ) throws(KeyError) -> SecretBytes {
        try requireLive()
        // The slot goes with the next unlock: a passcode has come since.
        guard slot.details.isProven || !PasscodeDetails.blocks.contains(where: file.isFull)
        else { throw .wrongSecret }
        return try slot.open(key, store: store)
    }

    /// Writes a new recovery key. The former one opens nothing any more.
    public func replaceRecovery(
        _ key: borrowing RecoveryKey, setAt: UInt64, storeKey: borrowing SecretBytes
    ) throws(KeyError) {
        try settleRecovery(on: try addRecovery(key, setAt: setAt, storeKey: storeKey))
    }

    /// The first of two steps: writes the new key beside the former one, which opens the store
    /// until the person has seen the new one.
    package func addRecovery(
        _ key: borrowing RecoveryKey, setAt: UInt64, storeKey: borrowing SecretBytes,
        isProven: Bool = true
    ) throws(KeyError) -> RecoverySlot {
        try requireLive()
        let present = try recoverySlots
        let blocks = RecoveryDetails.blocks
        // If both blocks are full, a crash came before the newer key was settled. The person holds
        // the older one, so the newer one is overwritten.
        let number =
            blocks.first { number in !present.contains { $0.block == number } }
            ?? present.first?.block ?? blocks[0]
        let details = RecoveryDetails(isProven: isProven, setAt: setAt)
        return try add(details, at: number, storeKey: storeKey) { (place) throws(KeyError) in
            try RecoverySlot.key(key, at: place)
        }
    }

    /// The second step: removes the other key.
    package func settleRecovery(on slot: RecoverySlot) throws(KeyError) {
        try requireLive()
        guard file.holds(slot) else { throw .noSuchSlot }
        try file.put([:], zeroing: RecoveryDetails.blocks.filter { $0 != slot.block })
    }

    /// Instead of the second step, where the person has not seen the new key: removes it again.
    package func withdrawRecovery(_ slot: RecoverySlot) throws(KeyError) {
        try requireLive()
        guard file.holds(slot), try opensWithoutRecovery else { throw .noSuchSlot }
        try file.put([:], zeroing: [slot.block])
    }

    /// Throws `.noSuchSlot` where a recovery key is the last way in, and removes nothing.
    public func removeRecovery() throws(KeyError) {
        try requireLive()
        guard try opensWithoutRecovery else { throw .noSuchSlot }
        try file.put([:], zeroing: RecoveryDetails.blocks)
    }

    private var opensWithoutRecovery: Bool {
        get throws(KeyError) {
            let passcodes = try passcodeSlots
            return file[DeviceDetails.block] != nil || !passcodes.isEmpty
                || identity.kind == .shared
        }
    }
}
