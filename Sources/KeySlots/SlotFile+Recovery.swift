import Secrets

extension SlotFile {
    package var recoverySlots: [RecoverySlot] {
        get throws(KeyError) { try file.slots() }
    }

    /// `.wrongSecret` where no recovery slot opens with this key.
    public func openRecovery(_ key: borrowing RecoveryKey) throws(KeyError) -> SecretBytes {
        try requireLive()
        return try recoverySlots.open(key, store: store)
    }

    /// `.wrongSecret` where this slot does not open with this key.
    package func openRecovery(
        _ slot: RecoverySlot, _ key: borrowing RecoveryKey
    ) throws(KeyError) -> SecretBytes {
        try requireLive()
        return try slot.open(key, store: store)
    }

    /// A new recovery key; the former one opens nothing any more.
    public func replaceRecovery(
        _ key: borrowing RecoveryKey, setAt: UInt64, storeKey: borrowing SecretBytes
    ) throws(KeyError) {
        try settleRecovery(on: try addRecovery(key, setAt: setAt, storeKey: storeKey))
    }

    /// The first of two steps: beside the former key, which opens until the new one was seen.
    package func addRecovery(
        _ key: borrowing RecoveryKey, setAt: UInt64, storeKey: borrowing SecretBytes,
        isProven: Bool = true
    ) throws(KeyError) -> RecoverySlot {
        try requireLive()
        let present = try recoverySlots
        let blocks = RecoveryDetails.blocks
        // Both taken: a crash came before the newer one was settled. The older is the one that somebody holds.
        let number =
            blocks.first { number in !present.contains { $0.block == number } }
            ?? present.first?.block ?? blocks[0]
        let details = RecoveryDetails(isProven: isProven, setAt: setAt)
        return try add(details, at: number, storeKey: storeKey) { (place) throws(KeyError) in
            try RecoverySlot.key(key, at: place)
        }
    }

    /// The second step: the other one goes.
    package func settleRecovery(on slot: RecoverySlot) throws(KeyError) {
        try requireLive()
        guard file.holds(slot) else { throw .noSuchSlot }
        try file.put([:], zeroing: RecoveryDetails.blocks.filter { $0 != slot.block })
    }

    /// Instead of the second step, where nobody has seen the new key.
    package func withdrawRecovery(_ slot: RecoverySlot) throws(KeyError) {
        try requireLive()
        guard file.holds(slot), try opensWithoutRecovery else { throw .noSuchSlot }
        try file.put([:], zeroing: [slot.block])
    }

    /// Where it would be the last way in, it stays: `.noSuchSlot`.
    public func removeRecovery() throws(KeyError) {
        try requireLive()
        guard try opensWithoutRecovery else { throw .noSuchSlot }
        try file.put([:], zeroing: RecoveryDetails.blocks)
    }

    private var opensWithoutRecovery: Bool {
        get throws(KeyError) {
            let passcodes = try passcodeSlots
            return hasDeviceSlot || !passcodes.isEmpty
        }
    }
}
