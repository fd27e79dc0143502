import Policy
import Posix
import Secrets

/// The checked slots file of one store: identity, tries, terms, and the slots that wrap the store
/// key, each kind with its changes in a file of its own. What a call that throws has left on the
/// disk is always a store that opens. Confined to one queue at a time, which is what makes it
/// Sendable.
public final class SlotFile: @unchecked Sendable {
    public static let fileName = "slots"
    public static let size = Page.fileSize

    private var written: Identity
    public private(set) var tally: Tally
    public private(set) var terms: Terms
    let file: BlockFile

    init(_ file: BlockFile, identity: Identity, tally: Tally, terms: Terms = Terms()) {
        self.file = file
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
        var bytes = [UInt8](repeating: 0, count: Page.fileSize)
        var blocks = [Block?](repeating: nil, count: Block.count)
        let payloads = [
            (Identity.ownerBlock, try identity.ownerPayload()),
            (Identity.labelBlock, try identity.labelPayload()),
            (Tally.block, Tally().payload()),
        ]
        for (index, (number, payload)) in payloads.enumerated() {
            let block = Block(number: number, sequence: UInt64(index + 1), payload: payload)
            let encoded = try block.encoded(store, .machine(machine))
            let start = number * Page.size
            bytes.replaceSubrange(start..<(start + Block.size), with: encoded)
            blocks[number] = block
        }
        let file = try openFile(fileName, .createNew(mode: 0o600), in: folder)
        try stored(try file.write(bytes.span, at: 0))
        try stored(try file.sync())
        try stored(try folder.sync())
        return SlotFile(
            BlockFile(
                store: store, machine: machine, disk: FileDisk(file, reserve), blocks: blocks),
            identity: identity, tally: Tally())
    }

    public var store: StoreID { file.store }

    var machine: MachineKey { file.machine }

    // MARK: Identity, tries and terms

    /// Which way it goes is the passcode's word while there is one: it changes with the slot, at
    /// one instant.
    public var identity: Identity {
        var identity = written
        if let way = (try? file.slots(PasscodeDetails.self))?.first?.details.way {
            identity.way = way
        }
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

    /// Where this throws, nothing may be derived: the count may not be on the disk.
    public func write(_ changed: Tally) throws(KeyError) {
        try requireLive()
        try file.put([Tally.block: changed.payload()])
        tally = changed
    }

    /// What differs of identity and terms, and the history's blocks, in one go: none of them waits
    /// for another.
    func write(
        _ along: Along, history: [Int: [UInt8]] = [:], emptied: [Int] = []
    ) throws(KeyError) {
        // No crash leaves a login password where no finger is.
        if let changed = along.terms, !changed.fingerprintIsOn {
            try file.put([:], zeroing: [KeyringPassword.block])
        }
        var payloads = history
        if let changed = along.identity {
            let owner = try changed.ownerPayload()
            let label = try changed.labelPayload()
            if owner != (try written.ownerPayload()) || file.isDoubtful(Identity.ownerBlock) {
                payloads[Identity.ownerBlock] = owner
            }
            if label != (try written.labelPayload()) || file.isDoubtful(Identity.labelBlock) {
                payloads[Identity.labelBlock] = label
            }
        }
        if let changed = along.terms, changed != terms || file.isDoubtful(Terms.block) {
            payloads[Terms.block] = changed.payload()
        }
        try file.put(payloads, zeroing: emptied)
        if let changed = along.identity { written = changed }
        if let changed = along.terms { terms = changed }
    }

    func requireLive() throws(KeyError) {
        guard written.condition == .live else { throw .erased }
    }

    // MARK: Slots of every kind

    /// Written, synced, read back from the disk and opened: only then may an old one go.
    func add<Details>(
        _ details: Details, at number: Int, storeKey: borrowing SecretBytes,
        key: Slot<Details>.KeyMaker
    ) throws(KeyError) -> Slot<Details> {
        try file.put([
            number: try Slot.payload(storeKey, details, block: number, store: store, key: key)
        ])
        return try proven(number, storeKey: storeKey, key: key)
    }

    /// The slot as the disk has it, opened.
    func proven<Details>(
        _ number: Int, storeKey: borrowing SecretBytes, key: Slot<Details>.KeyMaker
    ) throws(KeyError) -> Slot<Details> {
        let slot = try Slot<Details>(try file.readBack(number))
        do throws(KeyError) {
            let opened = try slot.open(store: store, key: key)
            guard opened.matches(storeKey) else { throw .wrongSecret }
        } catch {
            throw error == .wrongSecret ? .damaged(.readBack(number)) : error
        }
        return slot
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
        try file.erase(BlockTable.erased)
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
}
