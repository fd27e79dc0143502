import Secrets

extension SlotFile {
    /// The newest first; two only between a change of the login password and the unlock that proves
    /// one.
    package var passcodeSlots: [PasscodeSlot] {
        get throws(KeyError) { try file.slots() }
    }

    public var hasDeviceSlot: Bool { file[DeviceDetails.block] != nil }

    /// `.wrongSecret`: not this slot, try the next; everything else is final.
    package func openPasscode(
        _ slot: PasscodeSlot, derived: borrowing SecretBytes
    ) throws(KeyError) -> SecretBytes {
        try requireLive()
        return try slot.open(store: store) { (place) throws(KeyError) in
            try PasscodeSlot.key(derived: derived, at: place, machine: machine)
        }
    }

    public func openDevice() throws(KeyError) -> SecretBytes {
        try requireLive()
        guard let slot = try file.slots(DeviceDetails.self).first else { throw .noSuchSlot }
        return try slot.open(store: store, machine: machine)
    }

    /// The new passcode is the only way in beside a recovery key that somebody proved something for:
    /// other passcode slots, the device slot and other recovery keys go. `proven` is the slot that
    /// the current passcode opened, nil where something else opened the store.
    ///
    /// In this order, so that a crash never leaves a former passcode that nobody remembers, and
    /// never one remembered that was not there: the former one into the history; the new slot; the
    /// old slots away; then the rest, each part of which may be missing.
    @discardableResult
    package func replacePasscode(
        _ details: PasscodeDetails, derived: borrowing SecretBytes,
        storeKey: borrowing SecretBytes, proven: PasscodeSlot?, with along: Along = Along()
    ) throws(KeyError) -> PasscodeSlot {
        try requireLive()
        try remember(along.history, storeKey: storeKey)
        let slot = try addPasscode(details, derived: derived, storeKey: storeKey, proven: proven)
        var along = along
        if try clear(otherThan: slot) { along.terms?.recoveryWasOffered = false }
        try finish(along, storeKey: storeKey)
        return slot
    }

    /// The first of two steps: the new slot beside the proven one, which stays until `settle`.
    @discardableResult
    package func addPasscode(
        _ details: PasscodeDetails, derived: borrowing SecretBytes,
        storeKey: borrowing SecretBytes, proven: PasscodeSlot?
    ) throws(KeyError) -> PasscodeSlot {
        try requireLive()
        return try add(details, at: try freeBlock(beside: proven), storeKey: storeKey) {
            (place) throws(KeyError) in
            try PasscodeSlot.key(derived: derived, at: place, machine: machine)
        }
    }

    /// The second step: an unlock proved this slot, so the other one goes, and so does what a crash
    /// left beside it. Writes nothing where there is nothing.
    package func settle(on proven: PasscodeSlot) throws(KeyError) {
        try requireLive()
        guard file.holds(proven) else { throw .noSuchSlot }
        try clear(otherThan: proven)
    }

    /// The present passcode was judged under other rules and found good: no slot is made anew.
    package func write(policyDigest: [UInt8], on slot: PasscodeSlot) throws(KeyError) {
        try requireLive()
        guard file.holds(slot) else { throw .noSuchSlot }
        var details = slot.details
        details.policyDigest = policyDigest
        try file.put([slot.block: try slot.payload(with: details)])
    }

    /// The passcode is turned off, or was never on: the device slot stands, and the passcode slots
    /// go. What goes along is written before that: why there is no passcode is known from the
    /// instant at which there is none.
    public func replacePasscodeWithDevice(
        storeKey: borrowing SecretBytes, with along: Along = Along()
    ) throws(KeyError) {
        try requireLive()
        try remember(along.history, storeKey: storeKey)
        // What is kept for people who prove something is not for everybody who has the disk.
        try forgetKeyringPassword()
        let number = DeviceDetails.block
        let key: DeviceSlot.KeyMaker = { [machine] (place) throws(KeyError) in
            try DeviceSlot.key(at: place, machine: machine)
        }
        // Where a device slot stands already, it is the one way in: it is not written over.
        if !hasDeviceSlot || file.isDoubtful(number) {
            _ = try add(DeviceDetails(), at: number, storeKey: storeKey, key: key)
        } else {
            let _: DeviceSlot = try proven(number, storeKey: storeKey, key: key)
        }
        try finish(along, storeKey: storeKey)
        try file.put([:], zeroing: PasscodeDetails.blocks)
    }

    private func freeBlock(beside proven: PasscodeSlot?) throws(KeyError) -> Int {
        let blocks = PasscodeDetails.blocks
        if let proven {
            guard file.holds(proven) else { throw .noSuchSlot }
            return proven.block == blocks[0] ? blocks[1] : blocks[0]
        }
        if let free = blocks.first(where: { file[$0] == nil }) { return free }
        // Both taken and neither proven: the older one was on its way out.
        return try passcodeSlots.last?.block ?? blocks[0]
    }

    /// True where a recovery key went as well, which is then to be offered anew.
    @discardableResult
    private func clear(otherThan slot: PasscodeSlot) throws(KeyError) -> Bool {
        let unproven = try recoverySlots.filter { !$0.details.isProven }.map(\.block)
        var changed = terms
        if !unproven.isEmpty { changed.recoveryWasOffered = false }
        // Synced before the key goes: afterwards nothing shows that there was one.
        try write(Along(terms: changed))
        let others = (PasscodeDetails.blocks + DeviceDetails.blocks).filter { $0 != slot.block }
        try file.put([:], zeroing: others + unproven)
        return !unproven.isEmpty
    }
}
