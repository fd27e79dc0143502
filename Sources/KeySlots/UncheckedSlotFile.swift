import Policy
import Posix
import Secrets

/// A slots file as read: enough to say whose it is, and to open it with a recovery key. Nothing else is to be
/// believed before it is checked.
public final class UncheckedSlotFile: @unchecked Sendable {
    // Sendable as SlotFile is: one queue at a time.
    public let store: StoreID
    /// Not authenticated: for messages, and for finding the owner of a store whose machine key is gone.
    public let identity: Identity
    /// The machine key that the file was written under.
    public let machineID: [UInt8]
    private let disk: any BlockDisk
    private let bytes: [UInt8]

    package init(store: StoreID, disk: any BlockDisk) throws(KeyError) {
        bytes = try stored(try disk.read())
        guard bytes.count == SlotFile.size else { throw .damaged(.fileSize) }
        self.store = store
        self.disk = disk
        guard
            let owner = try Block.glimpse(
                Self.slice(bytes, SlotFile.ownerBlock), number: SlotFile.ownerBlock, store: store)
        else { throw .damaged(.block(SlotFile.ownerBlock)) }
        guard
            let label = try Block.glimpse(
                Self.slice(bytes, SlotFile.labelBlock), number: SlotFile.labelBlock, store: store)
        else { throw .damaged(.block(SlotFile.labelBlock)) }
        machineID = owner.machineID
        identity = try Identity(owner: owner.block.payload, label: label.block.payload)
    }

    /// Checks every block. Before this no try is counted and nothing is derived.
    public func checked(with machine: MachineKey) throws(KeyError) -> SlotFile {
        var blocks: [Block?] = []
        for number in 0..<SlotFile.blockCount {
            blocks.append(try block(number, machine))
        }
        guard let owner = blocks[SlotFile.ownerBlock]
        else { throw .damaged(.block(SlotFile.ownerBlock)) }
        guard let label = blocks[SlotFile.labelBlock]
        else { throw .damaged(.block(SlotFile.labelBlock)) }
        let identity = try Identity(owner: owner.payload, label: label.payload)
        var tally = Tally()
        if let counts = blocks[SlotFile.tallyBlock] {
            tally = try Tally(payload: counts.payload)
        } else if identity.condition == .live {
            // Counters that vanish would be tries to be had.
            throw .damaged(.block(SlotFile.tallyBlock))
        }
        if identity.condition == .live {
            guard SlotFile.keyBlocks.contains(where: { blocks[$0] != nil })
            else { throw .damaged(.noSlot) }
        }
        // Content that no slot can have is damage now, not at the try.
        for number in SlotFile.passcodeBlocks {
            if let block = blocks[number] { _ = try PasscodeSlot(block) }
        }
        if let block = blocks[SlotFile.deviceBlock] { _ = try DeviceSlot(block) }
        _ = try SlotFile.recoverySlots(blocks)
        return SlotFile(
            store: store, machine: machine, disk: disk, blocks: blocks, identity: identity,
            tally: tally)
    }

    /// `.wrongSecret` where no recovery slot opens with this key. The caller proves the store key on the records
    /// before anything is made anew under it: without the machine key nobody vouches for the slot.
    public func openRecovery(_ key: borrowing RecoveryKey) throws(KeyError) -> SecretBytes {
        guard identity.condition == .live else { throw .erased }
        return try SlotFile.openRecovery(
            key, try SlotFile.recoverySlots(try recoveryBlocks()), store)
    }

    /// Brings a store that a recovery key opened under this machine's key: a passcode slot first, proven, then
    /// tries, label and owner, the identity being what the caller vouches for. The recovery slots stay, so that
    /// after a crash at any instant the recovery key opens the store again.
    public func adopted(
        by machine: MachineKey, identity: Identity, _ details: PasscodeSlot.Details,
        derived: borrowing SecretBytes, storeKey: borrowing SecretBytes
    ) throws(KeyError) -> SlotFile {
        guard self.identity.condition == .live, identity.condition == .live
        else { throw .erased }
        let recovery = try recoveryBlocks()
        guard recovery.contains(where: { $0 != nil }) else { throw .noSuchSlot }
        let number = SlotFile.passcodeBlocks[0]
        var sequence = recovery.compactMap { $0?.sequence }.max() ?? 0
        func write(_ block: Int, _ payload: [UInt8]) throws(KeyError) {
            sequence += 1
            let bytes = try Block(number: block, sequence: sequence, payload: payload)
                .encoded(store, .machine(machine))
            try stored(try disk.write(bytes, block: block))
        }
        try write(
            number,
            try PasscodeSlot.payload(
                storeKey, derived: derived, details: details, block: number, store: store,
                machine: machine))
        for old in [SlotFile.passcodeBlocks[1], SlotFile.deviceBlock] {
            try stored(try disk.write(Block.empty, block: old))
        }
        for spare in SlotFile.spareBlocks {
            try stored(try disk.write(Block.empty, block: spare))
        }
        try write(SlotFile.tallyBlock, Tally().payload())
        try write(SlotFile.labelBlock, try identity.labelPayload())
        try write(SlotFile.ownerBlock, try identity.ownerPayload())
        try stored(try disk.sync())
        let adopted = try UncheckedSlotFile(store: store, disk: disk).checked(with: machine)
        guard let slot = try adopted.passcodeSlots.first else { throw .damaged(.readBack(number)) }
        let opened = try adopted.openPasscode(slot, derived: derived)
        guard opened.matches(storeKey) else { throw .damaged(.readBack(number)) }
        return adopted
    }

    /// For the reset of a store that cannot be checked: whatever the slots held is zeroed, synced.
    public func overwriteKeys() throws(KeyError) {
        for number in SlotFile.keyBlocks + [SlotFile.tallyBlock] {
            try stored(try disk.write(Block.empty, block: number))
        }
        try stored(try disk.sync())
    }

    private func block(_ number: Int, _ machine: MachineKey) throws(KeyError) -> Block? {
        let slice = Self.slice(bytes, number)
        if SlotFile.spareBlocks.contains(number) {
            guard slice == Block.empty else { throw .damaged(.block(number)) }
            return nil
        }
        let isFree = SlotFile.recoveryBlocks.contains(number)
        return try Block.checked(
            slice, number: number, store: store, isFree ? .anybody : .machine(machine))
    }

    /// All sixteen places, filled at the recovery slots' only.
    private func recoveryBlocks() throws(KeyError) -> [Block?] {
        var blocks = [Block?](repeating: nil, count: SlotFile.blockCount)
        for number in SlotFile.recoveryBlocks {
            blocks[number] = try Block.checked(
                Self.slice(bytes, number), number: number, store: store, .anybody)
        }
        return blocks
    }

    private static func slice(_ bytes: [UInt8], _ number: Int) -> [UInt8] {
        Array(bytes[(number * Block.size)..<((number + 1) * Block.size)])
    }
}
