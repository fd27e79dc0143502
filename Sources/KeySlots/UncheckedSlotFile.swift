import Policy
import Posix
import Secrets

/// A slots file as read. It is enough to say whose it is, and to open it with a recovery key.
/// Nothing else in it may be trusted before it is checked.
public final class UncheckedSlotFile: @unchecked Sendable {
    // Sendable for the same reason as SlotFile: only one queue at a time uses it.
    public let store: StoreID
    /// Not authenticated, and damaged parts are guessed. For messages, and for finding the owner of
    /// a store that only its recovery key opens.
    public let identity: Identity
    /// The machine key that the file seems to be written under.
    public let machineID: [UInt8]
    private let disk: any BlockDisk
    private let bytes: [UInt8]

    package convenience init(store: StoreID, disk: any BlockDisk) throws(KeyError) {
        try self.init(store: store, disk: disk, bytes: try stored(try disk.read()))
    }

    private init(store: StoreID, disk: any BlockDisk, bytes: [UInt8]) throws(KeyError) {
        guard bytes.count == Page.fileSize else { throw .damaged(.fileSize) }
        self.store = store
        self.disk = disk
        self.bytes = bytes
        machineID = Array(bytes[Block.machineID])
        identity = try Self.identity(of: bytes, store)
    }

    private static func identity(of bytes: [UInt8], _ store: StoreID) throws(KeyError) -> Identity {
        do throws(KeyError) {
            func payload(_ number: Int) throws(KeyError) -> [UInt8] {
                let block = try Page.block(number, of: bytes)
                guard let glimpse = try Block.glimpse(block, number: number, store: store)
                else { throw .damaged(.block(number)) }
                return glimpse.block.payload
            }
            return try Identity(
                owner: try payload(Identity.ownerBlock), label: try payload(Identity.labelBlock))
        } catch {
            // The check reports the damage later. The owner must be known now, also for a recovery.
            guard let likely = likelyIdentity(of: bytes) else { throw error }
            return likely
        }
    }

    /// Checks every block. Before this the daemon counts no try and derives nothing.
    public func checked(with machine: MachineKey) throws(KeyError) -> SlotFile {
        var blocks: [Block?] = []
        for number in 0..<Block.count {
            blocks.append(try block(number, machine))
        }
        guard let owner = blocks[Identity.ownerBlock]
        else { throw .damaged(.block(Identity.ownerBlock)) }
        guard let label = blocks[Identity.labelBlock]
        else { throw .damaged(.block(Identity.labelBlock)) }
        let identity = try Identity(owner: owner.payload, label: label.payload)
        if identity.condition == .live {
            // If the counters could vanish, whoever removes them would get new tries.
            guard blocks[Tally.block] != nil else { throw .damaged(.block(Tally.block)) }
            guard BlockTable.slots.contains(where: { blocks[$0] != nil })
            else { throw .damaged(.noSlot) }
        }
        for block in blocks.compactMap(\.self) {
            try BlockTable.row(of: block.number)?.check(block)
        }
        var tally = Tally()
        if let block = blocks[Tally.block] { tally = try Tally(payload: block.payload) }
        var terms = Terms()
        if let block = blocks[Terms.block] { terms = try Terms(payload: block.payload) }
        return SlotFile(
            BlockFile(store: store, machine: machine, disk: disk, blocks: blocks),
            identity: identity, tally: tally, terms: terms)
    }

    /// Whether a recovery key can bring the store back, even if the rest of the file is damaged or
    /// from another machine.
    public var hasReadableRecovery: Bool {
        identity.condition == .live && (try? readableRecoveryBlocks()) != nil
    }

    /// Throws `.wrongSecret` where no recovery slot opens with this key. Reads no other block. The
    /// check of a recovery slot is not keyed, so the slot may be forged: the caller must first
    /// prove the store key on the records, and only then write anything new under it.
    public func openRecovery(_ key: borrowing RecoveryKey) throws(KeyError) -> SecretBytes {
        guard identity.condition == .live else { throw .erased }
        let slots: [RecoverySlot] = try readableRecoveryBlocks().slots()
        return try slots.open(key, store: store)
    }

    /// Brings a store that a recovery key opened under this machine's key. First a passcode slot is
    /// written, read back from the disk and opened. Only then the old slots are removed, and tries,
    /// label and owner are written; the caller vouches for `identity`. The recovery slots stay, so
    /// after a crash at any instant the recovery key opens the store again. The blocks of the
    /// history that the store key opens are kept, so that a recovery does not let a former passcode
    /// come back. The terms are not kept: those of another machine do not count here.
    package func adopted(
        by machine: MachineKey, identity: Identity, _ details: PasscodeDetails,
        derived: borrowing SecretBytes, storeKey: borrowing SecretBytes
    ) throws(KeyError) -> SlotFile {
        guard self.identity.condition == .live, identity.condition == .live
        else { throw .erased }
        let recovery = try readableRecoveryBlocks()
        let number =
            PasscodeDetails.blocks.first { Page.isEmpty($0, of: bytes) }
            ?? PasscodeDetails.blocks[0]
        var sequence = highestSequence(machine)
        func write(_ block: Int, _ payload: [UInt8]) throws(KeyError) {
            sequence += 1
            let bytes = try Block(number: block, sequence: sequence, payload: payload)
                .encoded(store, .machine(machine))
            // The whole page, because there may be damage after the block.
            try stored(try disk.write(Page.around(bytes), block: block))
        }
        try write(
            number,
            try PasscodeSlot.payload(storeKey, details, block: number, store: store) {
                (place) throws(KeyError) in
                try PasscodeSlot.key(derived: derived, at: place, machine: machine)
            })
        try stored(try disk.sync())
        try prove(number, machine, derived: derived, storeKey: storeKey)

        let history = readableHistory(storeKey)
        for (block, payload) in history.sorted(by: { $0.key < $1.key }) {
            try write(block, payload)
        }
        let kept =
            [Identity.ownerBlock, Identity.labelBlock, Tally.block, number] + history.keys
        for old in 0..<Block.count
        where !kept.contains(old) && recovery[old] == nil && !Page.isEmpty(old, of: bytes) {
            try stored(try disk.write(Page.empty, block: old))
        }
        try write(Tally.block, Tally().payload())
        try write(Identity.labelBlock, try identity.labelPayload())
        try write(Identity.ownerBlock, try identity.ownerPayload())
        try stored(try disk.sync())
        return try UncheckedSlotFile(
            store: store, disk: disk, bytes: try stored(try disk.readBack())
        ).checked(with: machine)
    }

    /// Reads the new slot from the disk itself and opens it, before anything that it replaces is
    /// removed.
    private func prove(
        _ number: Int, _ machine: MachineKey, derived: borrowing SecretBytes,
        storeKey: borrowing SecretBytes
    ) throws(KeyError) {
        let bytes = try stored(try disk.readBack())
        guard
            let block = try Block.checked(
                try Page.block(number, of: bytes), number: number, store: store, .machine(machine))
        else { throw .damaged(.readBack(number)) }
        let opened = try PasscodeSlot(block).open(store: store) { (place) throws(KeyError) in
            try PasscodeSlot.key(derived: derived, at: place, machine: machine)
        }
        guard opened.matches(storeKey) else { throw .damaged(.readBack(number)) }
    }

    /// For the reset of a store that cannot be checked: zeroes every block but the identity, and
    /// syncs.
    public func overwriteKeys() throws(KeyError) {
        for number in BlockTable.erased {
            try stored(try disk.write(Page.empty, block: number))
        }
        try stored(try disk.sync())
    }

    /// The MAC of these blocks is not checked: the seal under the store key proves that they belong
    /// to the store.
    private func readableHistory(_ storeKey: borrowing SecretBytes) -> [Int: [UInt8]] {
        var payloads: [Int: [UInt8]] = [:]
        for (index, number) in HistoryBook.blocks.enumerated() {
            // The rest of the page does not matter: the page is written anew.
            guard
                let glimpse = try? Block.glimpse(
                    Array(bytes[(number * Page.size)..<(number * Page.size + Block.size)]),
                    number: number, store: store),
                var book = try? HistoryBook(),
                (try? book.read(index, glimpse.block.payload, store: store, storeKey: storeKey))
                    != nil
            else { continue }
            payloads[number] = glimpse.block.payload
        }
        return payloads
    }

    private func block(_ number: Int, _ machine: MachineKey) throws(KeyError) -> Block? {
        let content = try Page.block(number, of: bytes)
        guard BlockTable.row(of: number) != nil else {
            guard content == Block.empty else { throw .damaged(.block(number)) }
            return nil
        }
        return try Block.checked(
            content, number: number, store: store, BlockTable.guardian(of: number, machine))
    }

    /// Of the blocks that can be checked. In a file from another machine these are only the
    /// recovery slots.
    private func highestSequence(_ machine: MachineKey) -> UInt64 {
        (0..<Block.count).compactMap { number in
            (try? block(number, machine)).flatMap(\.self)?.sequence
        }.max() ?? 0
    }

    /// All sixteen places, filled where a recovery slot can be read. Throws the reason where there
    /// is none.
    private func readableRecoveryBlocks() throws(KeyError) -> [Block?] {
        var blocks = [Block?](repeating: nil, count: Block.count)
        var reason = KeyError.noSuchSlot
        for number in RecoveryDetails.blocks {
            do throws(KeyError) {
                guard
                    let block = try Block.checked(
                        try Page.block(number, of: bytes), number: number, store: store, .anybody)
                else { continue }
                _ = try RecoverySlot(block)
                blocks[number] = block
            } catch {
                reason = error
            }
        }
        guard blocks.contains(where: { $0 != nil }) else { throw reason }
        return blocks
    }
}

extension SlotFile {
    /// Reads the file once. The result still has to be checked.
    public static func open(
        in folder: Folder, store: StoreID, reserve: DiskReserve? = nil
    ) throws(KeyError) -> UncheckedSlotFile {
        let file = try openFile(fileName, .readWrite, in: folder)
        return try UncheckedSlotFile(store: store, disk: FileDisk(file, reserve))
    }
}
