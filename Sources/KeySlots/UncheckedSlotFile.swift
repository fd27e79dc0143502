import Policy
import Posix
import Secrets

/// A slots file as read. It is enough to say whose it is, and to open it with a recovery key.
/// Nothing else in it may be trusted before it is checked.
public final class UncheckedSlotFile: @unchecked Sendable {
    // Sendable for the same reason as SlotFile: only one queue at a time uses it.
    public let store: StoreID
    /// Not authenticated, unless it is the owner file's: what the blocks say, damaged or not, and
    /// else what is likely. For messages, and for a store that only its recovery key opens. Nil
    /// where nothing tells whose the store is.
    public let likely: Identity?
    private let copy: OwnerFile?
    /// Known after a check: the tries of a store whose owner's block, which would say that it is
    /// being erased, cannot be read. Nil where that block can be read.
    public private(set) var triesWithoutOwner: Tally?
    /// Likewise, and the tries are gone as an erase leaves them.
    private var showsErase = false
    private let disk: any BlockDisk
    private let bytes: [UInt8]

    package convenience init(
        store: StoreID, disk: any BlockDisk, owner copy: OwnerFile? = nil
    ) throws(KeyError) {
        self.init(store: store, disk: disk, copy, bytes: try stored(try disk.read()))
    }

    private init(store: StoreID, disk: any BlockDisk, _ copy: OwnerFile?, bytes: [UInt8]) {
        self.store = store
        self.disk = disk
        self.bytes = bytes
        self.copy = copy
        likely = copy?.identity ?? Self.likelyIdentity(of: bytes, store) ?? copy?.likelyOwner
    }

    /// Checks every block. Before this the daemon counts no try and derives nothing. A block that
    /// cannot be read is damage where it is needed to open the store, and else it is made anew when
    /// the store was opened.
    public func checked(with machine: MachineKey) throws(KeyError) -> SlotFile {
        var pages = try Pages(bytes, store, machine)
        let ownerIsLost = pages.lost[Identity.ownerBlock] != nil
        if ownerIsLost { try note(erase: pages) }
        if let copy, copy.identity != nil {
            pages.replace(Identity.ownerBlock, with: copy.owner)
            pages.replace(Identity.labelBlock, with: copy.label)
        }
        guard let owner = pages.blocks[Identity.ownerBlock],
            let label = pages.blocks[Identity.labelBlock]
        else { throw pages.damage ?? .damaged(.block(Identity.ownerBlock)) }
        let identity = try Identity(owner: owner.payload, label: label.payload)
        var tally = Tally()
        if let block = pages.blocks[Tally.block] { tally = try Tally(payload: block.payload) }
        if identity.condition == .live {
            if pages.blocks[Tally.block] == nil {
                // The owner's block would say whether the store was being erased. Without it, the
                // erased tries are what is left to show that.
                guard !ownerIsLost else { throw .damaged(.block(Identity.ownerBlock)) }
                // If the tries could vanish, whoever removes them would get new ones.
                pages.lose(Tally.block)
            }
            guard identity.kind == .shared || pages.hasWayIn else {
                throw pages.damage ?? .damaged(.noSlot)
            }
        }
        var terms = Terms()
        if let block = pages.blocks[Terms.block] { terms = try Terms(payload: block.payload) }
        return SlotFile(
            BlockFile(store: store, machine: machine, disk: disk, pages),
            CommitNote(store: store, machine: machine, disk: disk, bytes), identity: identity,
            tally: tally, terms: terms)
    }

    /// The owner's block cannot be read: what else shows that an erase was under way? A file of
    /// another machine has nothing that could be read here. Throws if anything shows it.
    private func note(erase pages: Pages) throws(KeyError) {
        let foreign = KeyError.damaged(.foreignMachineKey)
        guard ![Identity.ownerBlock, Identity.labelBlock].allSatisfy({ pages.lost[$0] == foreign })
        else { return }
        showsErase = pages.blocks[Tally.block] == nil && pages.lost[Tally.block] == nil
        triesWithoutOwner = try pages.blocks[Tally.block].map { (block) throws(KeyError) in
            try Tally(payload: block.payload)
        }
        guard isLive else { throw .damaged(.block(Identity.ownerBlock)) }
    }

    /// The commit that block 14 says was answered; 0 where it says none.
    public func notedCommit(_ machine: MachineKey) -> UInt64 {
        CommitNote.generation(in: bytes, store, machine)
    }

    /// Whether a recovery key can bring the store back, even if the rest of the file is damaged or
    /// from another machine.
    public var hasReadableRecovery: Bool {
        isLive && (try? recoverySlots) != nil
    }

    private var isLive: Bool {
        let isSaid = likely.map { $0.condition == .live } ?? true
        // The owner file says nothing of an erase, and what is left of the block may.
        let said = Self.likelyIdentity(of: bytes, store)?.condition ?? .live
        return isSaid && said == .live && !showsErase
    }

    /// Throws `.wrongSecret` where no recovery slot opens with this key. Reads no other block. The
    /// check of a recovery slot is not keyed, so the slot may be forged: the caller must first
    /// prove the store key on the records, and only then write anything new under it.
    public func openRecovery(_ key: borrowing RecoveryKey) throws(KeyError) -> SecretBytes {
        guard isLive else { throw .erased }
        return try recoverySlots.open(key, store: store)
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
        guard isLive, identity.condition == .live else { throw .erased }
        _ = try recoverySlots
        let number =
            PasscodeDetails.blocks.first { Page.isEmpty($0, of: bytes) }
            ?? PasscodeDetails.blocks[0]
        var sequence = highestSequence(machine) + 1
        try write(
            number, sequence, machine,
            try PasscodeSlot.payload(storeKey, details, block: number, store: store) {
                (place) throws(KeyError) in
                try PasscodeSlot.key(derived: derived, at: place, machine: machine)
            })
        try stored(try disk.sync())
        try prove(number, machine, derived: derived, storeKey: storeKey)

        let history = readableHistory(storeKey)
        for (block, payload) in history.sorted(by: { $0.key < $1.key }) {
            sequence += 1
            try write(block, sequence, machine, payload)
        }
        return try adopted(
            by: machine, identity, sequence: sequence, keeping: [number] + history.keys)
    }

    /// Likewise for a shared store. What opens it is not in this file, and the caller has written it
    /// already.
    package func adopted(
        by machine: MachineKey, identity: Identity
    ) throws(KeyError) -> SlotFile {
        guard isLive, identity.condition == .live else { throw .erased }
        // Whoever was a member elsewhere may still have what they opened it with.
        let sequence = highestSequence(machine) + 1
        try write(Terms.block, sequence, machine, Terms(newKeyIsDue: true).payload())
        return try adopted(by: machine, identity, sequence: sequence, keeping: [Terms.block])
    }

    /// Under this machine's key, as whole pages, because there may be damage after a block.
    private func write(
        _ block: Int, _ sequence: UInt64, _ machine: MachineKey, _ payload: [UInt8]
    ) throws(KeyError) {
        let bytes = try Block(number: block, sequence: sequence, payload: payload)
            .encoded(store, .machine(machine))
        try stored(try disk.write(Page.around(bytes), block: block))
    }

    private func adopted(
        by machine: MachineKey, _ identity: Identity, sequence: UInt64, keeping own: [Int]
    ) throws(KeyError) -> SlotFile {
        let recovery = try recoverySlots
        let kept = [Identity.ownerBlock, Identity.labelBlock, Tally.block] + own
        for old in 0..<Block.count where !kept.contains(old) && !Page.isEmpty(old, of: bytes) {
            guard let slot = recovery.first(where: { $0.block == old }) else {
                try stored(try disk.write(Page.empty, block: old))
                continue
            }
            if (try? Page.block(old, of: bytes)).map({ isWhole($0, old) }) == true { continue }
            // As it is, in a whole block and a clean page. Its seal has proven it, or never will.
            let block = Block(
                number: old, sequence: slot.sequence,
                payload: try slot.payload(with: slot.details))
            let bytes = try block.encoded(store, .anybody)
            try stored(try disk.write(Page.around(bytes), block: old))
        }
        try write(Tally.block, sequence + 1, machine, Tally().payload())
        try write(Identity.labelBlock, sequence + 2, machine, try identity.labelPayload())
        try write(Identity.ownerBlock, sequence + 3, machine, try identity.ownerPayload())
        try stored(try disk.trim())
        try stored(try disk.sync())
        return try UncheckedSlotFile(
            store: store, disk: disk, copy, bytes: try stored(try disk.readBack())
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

    /// Root says whose store it is: writes the blocks that say so, unless they say it already.
    /// Where the tries are empty, the store may have been being erased when its owner's block was
    /// lost, and nothing is written.
    public func write(_ owner: Identity, _ machine: MachineKey) throws(KeyError) {
        guard let tries = Page.found(Tally.block, of: bytes), !Block.isEmpty(tries.block)
        else { return }
        var owner = owner
        owner.condition = likely?.condition ?? .live
        var sequence = highestSequence(machine)
        let payloads = [
            (Identity.labelBlock, try owner.labelPayload()),
            (Identity.ownerBlock, try owner.ownerPayload()),
        ]
        for (number, payload) in payloads {
            sequence += 1
            let bytes = try Block(number: number, sequence: sequence, payload: payload)
                .encoded(store, .machine(machine))
            try stored(try disk.write(Page.around(bytes), block: number))
        }
        try stored(try disk.sync())
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
            guard let found = Page.found(number, of: bytes),
                let glimpse = try? Block.glimpse(found.block, number: number, store: store),
                var book = try? HistoryBook(),
                (try? book.read(index, glimpse.block.payload, store: store, storeKey: storeKey))
                    != nil
            else { continue }
            payloads[number] = glimpse.block.payload
        }
        return payloads
    }

    /// Of the blocks that can be checked. In a file from another machine these are only the
    /// recovery slots.
    private func highestSequence(_ machine: MachineKey) -> UInt64 {
        (0..<Block.count).compactMap { number in
            guard let found = Page.found(number, of: bytes) else { return nil }
            return
                (try? Block.checked(
                    found.block, number: number, store: store,
                    BlockTable.guardian(of: number, machine))).flatMap(\.self)?.sequence
        }.max() ?? 0
    }

    private func isWhole(_ block: [UInt8], _ number: Int) -> Bool {
        (try? Block.checked(block, number: number, store: store, .anybody)) != nil
    }

    /// The newest first. Throws the reason where there is none. What is around a slot is not needed
    /// to open it: its own seal proves it, so a slot counts also where its block's check is wrong.
    private var recoverySlots: [RecoverySlot] {
        get throws(KeyError) {
            var slots: [RecoverySlot] = []
            var reason = KeyError.noSuchSlot
            for number in RecoveryDetails.blocks {
                guard let found = Page.found(number, of: bytes) else {
                    reason = .damaged(.fileSize)
                    continue
                }
                do throws(KeyError) {
                    guard let slot = try Self.recoverySlot(found.block, number, store)
                    else { continue }
                    guard slot.details.isProven || hasNoPasscode else {
                        throw .damaged(.block(PasscodeDetails.blocks[0]))
                    }
                    slots.append(slot)
                } catch {
                    reason = error
                }
            }
            guard !slots.isEmpty else { throw reason }
            return slots.sorted { $0.sequence > $1.sequence }
        }
    }

    /// Whether it is certain that there is no passcode slot. A recovery key that was made while there
    /// was none must not open a store whose passcode slot was destroyed. A slot under another
    /// machine key than the device slot's is one that an adoption has just written, before it was
    /// cut short.
    private var hasNoPasscode: Bool {
        func machineID(_ number: Int, _ block: [UInt8]) -> [UInt8]? {
            (try? Block.glimpse(block, number: number, store: store))?.machineID
        }
        let device = Page.found(DeviceDetails.block, of: bytes)
            .flatMap { machineID(DeviceDetails.block, $0.block) }
        return PasscodeDetails.blocks.allSatisfy { number in
            guard let found = Page.found(number, of: bytes) else { return false }
            if Block.isEmpty(found.block) { return true }
            guard let device, let own = machineID(number, found.block) else { return false }
            return own != device
        }
    }

    private static func recoverySlot(
        _ bytes: [UInt8], _ number: Int, _ store: StoreID
    ) throws(KeyError) -> RecoverySlot? {
        switch try Block.reading(bytes, number: number, store: store, .anybody) {
        case .empty: return nil
        case .block(let block), .corrected(let block): return try RecoverySlot(block)
        case .unreadable(let error):
            let payload = bytes[
                Block.payloadOffset..<(Block.payloadOffset + Block.payloadSize)]
            guard
                let slot = try? RecoverySlot(
                    Block(number: number, sequence: 0, payload: Array(payload))),
                slot.keyGeneration == WrappedKey.generation
            else { throw error }
            return slot
        }
    }
}

extension SlotFile {
    /// Reads the file once. The result still has to be checked.
    public static func open(
        in folder: Folder, store: StoreID, reserve: DiskReserve? = nil, owner: OwnerFile? = nil
    ) throws(KeyError) -> UncheckedSlotFile {
        let file = try openFile(fileName, .readWrite, in: folder)
        return try UncheckedSlotFile(store: store, disk: FileDisk(file, reserve), owner: owner)
    }
}
