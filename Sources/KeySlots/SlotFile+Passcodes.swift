import Secrets

extension SlotFile {
    /// The newest first. There are two only between a change of the login password and the unlock
    /// that proves one of them, or after a crash during a change.
    package var passcodeSlots: [PasscodeSlot] {
        get throws(KeyError) { try file.slots() }
    }

    /// A store that follows another one has a parent slot in that place.
    public var hasDeviceSlot: Bool {
        file[DeviceDetails.block] != nil && identity.kind.parent == nil
    }

    /// Throws `.wrongSecret` where this slot does not open: the caller tries the next. Every other
    /// error is final.
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

    /// Makes the new passcode the only way in, beside recovery keys whose maker proved something:
    /// removes other passcode slots, the device slot and other recovery keys. `proven` is the slot
    /// that the current passcode opened, nil where something else opened the store.
    ///
    /// The order of writes makes sure that a crash never leaves a former passcode out of the
    /// history, and never adds one that was not in use: first the former passcode is written into
    /// the history, then the new slot is written, then the old slots are removed, then the rest is
    /// written. Any part of the rest may be missing.
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

    /// The first of two steps: writes the new slot beside the proven one, which stays until
    /// `settle`.
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

    /// The second step, after an unlock proved this slot: removes the other slot, and what a crash
    /// left beside it. Writes nothing if there is nothing to remove.
    package func settle(on proven: PasscodeSlot) throws(KeyError) {
        try requireLive()
        guard file.holds(proven) else { throw .noSuchSlot }
        try clear(otherThan: proven)
    }

    /// Notes that the present passcode meets other rules than before. Does not make a new slot.
    package func write(policyDigest: [UInt8], on slot: PasscodeSlot) throws(KeyError) {
        try requireLive()
        guard file.holds(slot) else { throw .noSuchSlot }
        var details = slot.details
        details.policyDigest = policyDigest
        try file.put([slot.block: try slot.payload(with: details)])
    }

    /// Turns the passcode off, or makes a store without one: writes the device slot and removes the
    /// passcode slots. `along` is written before they are removed: so from the instant at which
    /// there is no passcode it is known why.
    public func replacePasscodeWithDevice(
        storeKey: borrowing SecretBytes, with along: Along = Along()
    ) throws(KeyError) {
        try requireLive()
        try remember(along.history, storeKey: storeKey)
        // The keyring password is for people who prove something. With a device slot, everybody who
        // has the disk could read it.
        try forgetKeyringPassword()
        let number = DeviceDetails.block
        let key: DeviceSlot.KeyMaker = { [machine] (place) throws(KeyError) in
            try DeviceSlot.key(at: place, machine: machine)
        }
        // If a device slot exists already, it may be the only way in, so it is not overwritten.
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
        // Both blocks are full and no slot is proven. The older one was about to be removed.
        return try passcodeSlots.last?.block ?? blocks[0]
    }

    /// Returns true if it also removed a recovery key, which is then to be offered anew.
    @discardableResult
    private func clear(otherThan slot: PasscodeSlot) throws(KeyError) -> Bool {
        let unproven = try recoverySlots.filter { !$0.details.isProven }.map(\.block)
        var changed = terms
        if !unproven.isEmpty { changed.recoveryWasOffered = false }
        // Synced before the recovery key is removed: afterwards nothing shows that there was one.
        try write(Along(terms: changed))
        let others = (PasscodeDetails.blocks + DeviceDetails.blocks).filter { $0 != slot.block }
        try file.put([:], zeroing: others + unproven)
        return !unproven.isEmpty
    }
}
