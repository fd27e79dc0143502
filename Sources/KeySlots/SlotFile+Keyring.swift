import Secrets

extension SlotFile {
    public var hasKeyringPassword: Bool { file.isFull(KeyringPassword.block) }

    /// Nil where no password is kept, or where it does not count: beside a device slot, or with
    /// fingers off.
    public func keyringPassword(
        storeKey: borrowing SecretBytes
    ) throws(KeyError) -> SecretBytes? {
        try requireLive()
        guard !hasDeviceSlot, terms.fingerprintIsOn, let block = file[KeyringPassword.block]
        else { return nil }
        return try KeyringPassword.open(block.payload, store: store, storeKey: storeKey)
    }

    /// Throws `.noSuchSlot` where no finger opens the store, or where it has no passcode. Writes
    /// nothing if this password is already kept. Returns true if it wrote.
    @discardableResult
    public func write(
        keyringPassword password: borrowing SecretBytes, storeKey: borrowing SecretBytes
    ) throws(KeyError) -> Bool {
        try requireLive()
        let passcodes = try passcodeSlots
        guard !hasDeviceSlot, terms.fingerprintIsOn, !passcodes.isEmpty else { throw .noSuchSlot }
        if !file.isDoubtful(KeyringPassword.block),
            let kept = try? keyringPassword(storeKey: storeKey), kept.matches(password)
        {
            return false
        }
        let payload = try KeyringPassword.payload(password, store: store, storeKey: storeKey)
        try file.put([KeyringPassword.block: payload])
        return true
    }

    /// Writes nothing if no password is kept.
    public func forgetKeyringPassword() throws(KeyError) {
        try file.put([:], zeroing: [KeyringPassword.block])
    }
}
