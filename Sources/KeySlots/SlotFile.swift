import Policy
import Posix
import Secrets

/// The checked slots file of one store: identity, tries, and the slots that wrap the store key.
///
/// Every write is one block at its place, in a page that no other block shares, and every call that
/// returns has synced. What a call that throws has left on the disk is the old or the new content of
/// each block, and always a store that opens. Confined to one queue at a time, which is what makes
/// it Sendable.
public final class SlotFile: @unchecked Sendable {
    public static let fileName = "slots"
    public static let size = blockCount * Page.size
    /// The generation of store keys that this release makes.
    public static let keyGeneration: UInt32 = 1

    static let blockCount = 16
    static let ownerBlock = 0
    static let labelBlock = 1
    static let tallyBlock = 2
    static let passcodeBlocks = [3, 4]
    static let deviceBlock = 5
    static let recoveryBlocks = [6, 7]
    static let termsBlock = 8
    static let historyBlocks = [9, 10, 11, 12]
    static let keyringBlock = 13
    static let spareBlocks = 14..<blockCount
    static let keyBlocks = [3, 4, 5, 6, 7]
    /// What an erase takes: everything but whose it was.
    static let erasedBlocks = keyBlocks + [tallyBlock, termsBlock] + historyBlocks + [keyringBlock]

    public let store: StoreID
    private var written: Identity
    public private(set) var tally: Tally
    public private(set) var terms: Terms
    let machine: MachineKey
    let disk: any BlockDisk
    private(set) var blocks: [Block?]
    // Written but perhaps not there: until a write of them succeeds, neither content may be counted
    // on.
    private var doubtful: Set<Int> = []

    init(
        store: StoreID, machine: MachineKey, disk: any BlockDisk, blocks: [Block?],
        identity: Identity, tally: Tally, terms: Terms = Terms()
    ) {
        self.store = store
        self.machine = machine
        self.disk = disk
        self.blocks = blocks
        written = identity
        self.tally = tally
        self.terms = terms
    }

    /// Makes the file, still without a slot. A store counts as made only when its folder gets its
    /// final name, so that a crash before the first slot leaves nothing that looks like a store.
    public static func create(
        in folder: Folder, store: StoreID, identity: Identity, machine: MachineKey,
        reserve: DiskReserve? = nil
    ) throws(KeyError) -> SlotFile {
        var bytes: [UInt8] = []
        var blocks: [Block?] = []
        let payloads = [
            try identity.ownerPayload(), try identity.labelPayload(), Tally().payload(),
        ]
        for (number, payload) in payloads.enumerated() {
            let block = Block(number: number, sequence: UInt64(number + 1), payload: payload)
            bytes += Page.around(try block.encoded(store, .machine(machine)))
            blocks.append(block)
        }
        bytes += [UInt8](repeating: 0, count: size - bytes.count)
        blocks += [Block?](repeating: nil, count: blockCount - blocks.count)
        let file = try openFile(fileName, .createNew(mode: 0o600), in: folder)
        try stored(try file.write(bytes.span, at: 0))
        try stored(try file.sync())
        try stored(try folder.sync())
        return SlotFile(
            store: store, machine: machine, disk: FileDisk(file, reserve), blocks: blocks,
            identity: identity, tally: Tally())
    }

    /// Reads the file once; what comes back still has to be checked.
    public static func open(
        in folder: Folder, store: StoreID, reserve: DiskReserve? = nil
    ) throws(KeyError) -> UncheckedSlotFile {
        let file = try openFile(fileName, .readWrite, in: folder)
        return try UncheckedSlotFile(store: store, disk: FileDisk(file, reserve))
    }

    // MARK: Identity, tries and terms

    /// Which way it goes is the passcode's word while there is one: it changes with the slot, at
    /// one instant.
    public var identity: Identity {
        var identity = written
        if let way = (try? passcodeSlots)?.first?.details.way { identity.way = way }
        return identity
    }

    /// Writes what changed of it.
    public func write(_ changed: Identity) throws(KeyError) {
        try write(Along(identity: changed))
    }

    public func write(_ changed: Terms) throws(KeyError) {
        try requireLive()
        try write(Along(terms: changed))
    }

    /// What differs of identity and terms, and the history's blocks, in one go: none of them waits
    /// for another.
    func write(
        _ along: Along, history: [Int: [UInt8]] = [:], emptied: [Int] = []
    ) throws(KeyError) {
        // No crash leaves a login password where no finger is.
        if let changed = along.terms, !changed.fingerprintIsOn { try forgetKeyringPassword() }
        var payloads = history
        if let changed = along.identity {
            let owner = try changed.ownerPayload()
            let label = try changed.labelPayload()
            if owner != (try written.ownerPayload()) || doubtful.contains(Self.ownerBlock) {
                payloads[Self.ownerBlock] = owner
            }
            if label != (try written.labelPayload()) || doubtful.contains(Self.labelBlock) {
                payloads[Self.labelBlock] = label
            }
        }
        if let changed = along.terms, changed != terms || doubtful.contains(Self.termsBlock) {
            payloads[Self.termsBlock] = changed.payload()
        }
        try put(payloads, zeroing: emptied)
        if let changed = along.identity { written = changed }
        if let changed = along.terms { terms = changed }
    }

    /// Where this throws, nothing may be derived: the count may not be on the disk.
    public func write(_ changed: Tally) throws(KeyError) {
        try requireLive()
        try put([Self.tallyBlock: changed.payload()])
        tally = changed
    }

    // MARK: Opening

    /// The newest first; two only between a change of the login password and the unlock that proves
    /// one.
    public var passcodeSlots: [PasscodeSlot] {
        get throws(KeyError) {
            var slots: [PasscodeSlot] = []
            for number in Self.passcodeBlocks {
                if let block = blocks[number] { slots.append(try PasscodeSlot(block)) }
            }
            return slots.sorted { $0.sequence > $1.sequence }
        }
    }

    public var recoverySlots: [RecoverySlot] {
        get throws(KeyError) { try Self.recoverySlots(blocks) }
    }

    public var hasDeviceSlot: Bool { blocks[Self.deviceBlock] != nil }

    /// `.wrongSecret`: not this slot, try the next; everything else is final.
    public func openPasscode(
        _ slot: PasscodeSlot, derived: borrowing SecretBytes
    ) throws(KeyError) -> SecretBytes {
        try requireLive()
        return try slot.open(derived: derived, store: store, machine: machine)
    }

    public func openDevice() throws(KeyError) -> SecretBytes {
        try requireLive()
        guard let block = blocks[Self.deviceBlock] else { throw .noSuchSlot }
        return try DeviceSlot(block).open(store: store, machine: machine)
    }

    /// `.wrongSecret` where no recovery slot opens with this key.
    public func openRecovery(_ key: borrowing RecoveryKey) throws(KeyError) -> SecretBytes {
        try requireLive()
        return try Self.openRecovery(key, try recoverySlots, store)
    }

    /// `.wrongSecret` where this slot does not open with this key.
    public func openRecovery(
        _ slot: RecoverySlot, _ key: borrowing RecoveryKey
    ) throws(KeyError) -> SecretBytes {
        try requireLive()
        return try slot.open(key, store: store)
    }

    // MARK: Changing slots. Each new slot is written, synced, read back from the disk and opened
    // before an old one goes.

    /// The new passcode is the only way in beside a recovery key that somebody proved something for:
    /// other passcode slots, the device slot and other recovery keys go. `proven` is the slot that
    /// the current passcode opened, nil where something else opened the store.
    ///
    /// In this order, so that a crash never leaves a former passcode that nobody remembers, and
    /// never one remembered that was not there: the former one into the history; the new slot; the
    /// old slots away; then the rest, each part of which may be missing.
    @discardableResult
    public func replacePasscode(
        _ details: PasscodeSlot.Details, derived: borrowing SecretBytes,
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
    public func addPasscode(
        _ details: PasscodeSlot.Details, derived: borrowing SecretBytes,
        storeKey: borrowing SecretBytes, proven: PasscodeSlot?
    ) throws(KeyError) -> PasscodeSlot {
        try requireLive()
        let number = try freePasscodeBlock(proven)
        let payload = try PasscodeSlot.payload(
            storeKey, derived: derived, details: details, block: number, store: store,
            machine: machine)
        try put([number: payload])
        let slot = try PasscodeSlot(try readBack(number))
        let opened = try slot.open(derived: derived, store: store, machine: machine)
        guard opened.matches(storeKey) else { throw .damaged(.readBack(number)) }
        return slot
    }

    /// The second step: an unlock proved this slot, so the other one goes, and so does what a crash
    /// left beside it. Writes nothing where there is nothing.
    public func settle(on proven: PasscodeSlot) throws(KeyError) {
        try requireLive()
        guard isThere(proven) else { throw .noSuchSlot }
        try clear(otherThan: proven)
    }

    /// The passcode is turned off, or was never on: the device slot stands, and the passcode slots
    /// go. What goes along is written before that: why there is no passcode is known from the
    /// instant at which there is none.
    public func replacePasscodeWithDevice(
        storeKey: borrowing SecretBytes, with along: Along = Along()
    ) throws(KeyError) {
        try requireLive()
        try remember(along.history, storeKey: storeKey)
        let payload = try DeviceSlot.payload(
            storeKey, block: Self.deviceBlock, store: store, machine: machine)
        // What is kept for people who prove something is not for everybody who has the disk.
        try forgetKeyringPassword()
        // Where a device slot stands already, it is the one way in: it is not written over.
        if !hasDeviceSlot || doubtful.contains(Self.deviceBlock) {
            try put([Self.deviceBlock: payload])
        }
        let slot = try DeviceSlot(try readBack(Self.deviceBlock))
        let opened = try slot.open(store: store, machine: machine)
        guard opened.matches(storeKey) else { throw .damaged(.readBack(Self.deviceBlock)) }
        try finish(along, storeKey: storeKey)
        try put([:], zeroing: Self.passcodeBlocks)
    }

    /// A new recovery key; the former one opens nothing any more.
    public func replaceRecovery(
        _ key: borrowing RecoveryKey, setAt: UInt64, storeKey: borrowing SecretBytes
    ) throws(KeyError) {
        try settleRecovery(on: try addRecovery(key, setAt: setAt, storeKey: storeKey))
    }

    /// The first of two steps: beside the former key, which opens until the new one was seen.
    public func addRecovery(
        _ key: borrowing RecoveryKey, setAt: UInt64, storeKey: borrowing SecretBytes,
        isProven: Bool = true
    ) throws(KeyError) -> RecoverySlot {
        try requireLive()
        let present = try recoverySlots
        // Both taken: a crash came before the newer one was settled. The older is the one that somebody holds.
        let number =
            Self.recoveryBlocks.first { number in !present.contains { $0.block == number } }
            ?? present.first?.block ?? Self.recoveryBlocks[0]
        try put([
            number: try RecoverySlot.payload(
                storeKey, key: key, setAt: setAt, isProven: isProven, block: number, store: store)
        ])
        let slot = try RecoverySlot(try readBack(number))
        let opened = try slot.open(key, store: store)
        guard opened.matches(storeKey) else { throw .damaged(.readBack(number)) }
        return slot
    }

    /// The second step: the other one goes.
    public func settleRecovery(on slot: RecoverySlot) throws(KeyError) {
        try requireLive()
        guard blocks[slot.block]?.sequence == slot.sequence else { throw .noSuchSlot }
        try put([:], zeroing: Self.recoveryBlocks.filter { $0 != slot.block })
    }

    /// Instead of the second step, where nobody has seen the new key.
    public func withdrawRecovery(_ slot: RecoverySlot) throws(KeyError) {
        try requireLive()
        let passcodes = try passcodeSlots
        guard blocks[slot.block]?.sequence == slot.sequence, hasDeviceSlot || !passcodes.isEmpty
        else { throw .noSuchSlot }
        try put([:], zeroing: [slot.block])
    }

    /// Where it would be the last way in, it stays: `.noSuchSlot`.
    public func removeRecovery() throws(KeyError) {
        try requireLive()
        let passcodes = try passcodeSlots
        guard hasDeviceSlot || !passcodes.isEmpty else { throw .noSuchSlot }
        try put([:], zeroing: Self.recoveryBlocks)
    }

    /// The present passcode was judged under other rules and found good: no slot is made anew.
    public func write(policyDigest: [UInt8], on slot: PasscodeSlot) throws(KeyError) {
        try requireLive()
        guard isThere(slot) else { throw .noSuchSlot }
        try put([slot.block: try slot.payload(policyDigest: policyDigest)])
    }

    // MARK: Erasing

    /// For the reset of a store whose slots file cannot even be read: every byte of it is
    /// overwritten, synced.
    public static func overwrite(in folder: Folder) throws(KeyError) {
        guard folder.exists(fileName) else { return }
        let file = try openFile(fileName, .readWrite, in: folder)
        let count = max(try stored(try file.size()), 0)
        let zeroes = [UInt8](repeating: 0, count: min(count, 1 << 20))
        try stored(try file.write(zeroes.span, at: 0))
        try stored(try file.sync())
    }

    /// First the intent, synced; then tries and slots are zeroed, synced. After a crash in between,
    /// the identity says `erasing`, and calling it again ends it.
    public func eraseKeys() throws(KeyError) {
        if written.condition == .live {
            var changed = identity
            changed.condition = .erasing
            try write(changed)
        }
        // All of them, whatever was believed to be there.
        doubtful.formUnion(Self.erasedBlocks)
        try put([:], zeroing: Self.erasedBlocks)
        tally = Tally()
        terms = Terms()
    }

    /// The tombstone: after the records are gone as well.
    public func finishErasing() throws(KeyError) {
        guard written.condition != .live else { throw .noSuchSlot }
        var changed = written
        changed.condition = .erased
        try write(changed)
    }

    // MARK: Blocks

    func requireLive() throws(KeyError) {
        guard written.condition == .live else { throw .erased }
    }

    func isFull(_ number: Int) -> Bool { blocks[number] != nil || doubtful.contains(number) }

    func isDoubtful(_ number: Int) -> Bool { doubtful.contains(number) }

    private func isThere(_ slot: PasscodeSlot) -> Bool {
        blocks[slot.block]?.sequence == slot.sequence
    }

    private func freePasscodeBlock(_ proven: PasscodeSlot?) throws(KeyError) -> Int {
        if let proven {
            guard isThere(proven) else { throw .noSuchSlot }
            return proven.block == Self.passcodeBlocks[0]
                ? Self.passcodeBlocks[1] : Self.passcodeBlocks[0]
        }
        if let free = Self.passcodeBlocks.first(where: { blocks[$0] == nil }) { return free }
        // Both taken and neither proven: the older one was on its way out.
        return try passcodeSlots.last?.block ?? Self.passcodeBlocks[0]
    }

    /// True where a recovery key went as well, which is then to be offered anew.
    @discardableResult
    private func clear(otherThan slot: PasscodeSlot) throws(KeyError) -> Bool {
        let unproven = try recoverySlots.filter { !$0.isProven }.map(\.block)
        var changed = terms
        if !unproven.isEmpty { changed.recoveryWasOffered = false }
        // Synced before the key goes: afterwards nothing shows that there was one.
        try write(Along(terms: changed))
        let others = (Self.passcodeBlocks + [Self.deviceBlock]).filter { $0 != slot.block }
        try put([:], zeroing: others + unproven)
        return !unproven.isEmpty
    }

    /// Blocks in the order of their numbers, then zeroes over those that are not empty, then one sync.
    func put(
        _ payloads: [Int: [UInt8]], zeroing numbers: [Int] = []
    ) throws(KeyError) {
        let full = numbers.filter { isFull($0) }
        guard !payloads.isEmpty || !full.isEmpty else { return }
        var sequence = blocks.compactMap { $0?.sequence }.max() ?? 0
        var filled: [Block] = []
        for (number, payload) in payloads.sorted(by: { $0.key < $1.key }) {
            sequence += 1
            let block = Block(
                number: number, sequence: sequence,
                payload: payload + [UInt8](repeating: 0, count: Block.payloadSize - payload.count))
            let bytes = try block.encoded(store, guardian(number))
            doubtful.insert(number)
            try stored(try disk.write(bytes, block: number))
            filled.append(block)
        }
        for number in full {
            doubtful.insert(number)
            try stored(try disk.write(Block.empty, block: number))
        }
        try stored(try disk.sync())
        for block in filled {
            blocks[block.number] = block
            doubtful.remove(block.number)
        }
        for number in full {
            blocks[number] = nil
            doubtful.remove(number)
        }
    }

    private func readBack(_ number: Int) throws(KeyError) -> Block {
        let bytes = try stored(try disk.readBack())
        guard bytes.count == Self.size else { throw .damaged(.fileSize) }
        guard
            let block = try Block.checked(
                try Page.block(number, of: bytes), number: number, store: store, guardian(number)),
            block == blocks[number]
        else { throw .damaged(.readBack(number)) }
        return block
    }

    private func guardian(_ number: Int) -> Block.Guardian {
        Self.guardian(number, machine)
    }

    static func guardian(_ number: Int, _ machine: MachineKey) -> Block.Guardian {
        recoveryBlocks.contains(number) ? .anybody : .machine(machine)
    }

    static func recoverySlots(_ blocks: [Block?]) throws(KeyError) -> [RecoverySlot] {
        var slots: [RecoverySlot] = []
        for number in recoveryBlocks {
            if let block = blocks[number] { slots.append(try RecoverySlot(block)) }
        }
        return slots.sorted { $0.sequence > $1.sequence }
    }

    static func openRecovery(
        _ key: borrowing RecoveryKey, _ slots: [RecoverySlot], _ store: StoreID
    ) throws(KeyError) -> SecretBytes {
        guard !slots.isEmpty else { throw .noSuchSlot }
        for slot in slots {
            do {
                return try slot.open(key, store: store)
            } catch {
                guard error == .wrongSecret else { throw error }
            }
        }
        throw .wrongSecret
    }
}
