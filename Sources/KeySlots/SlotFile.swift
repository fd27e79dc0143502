import Policy
import Posix
import Secrets

/// The checked slots file of one store: identity, tries, terms, and the slots that wrap the store
/// key. The changes of each kind of slot are in a file of their own. After a call that throws, the
/// store on the disk still opens. Only one queue at a time uses this object; that is what makes it
/// Sendable.
public final class SlotFile: @unchecked Sendable {
    public static let fileName = "slots"
    public static let size = Page.fileSize

    private var written: Identity
    public private(set) var tally: Tally
    public private(set) var terms: Terms
    let file: BlockFile
    /// Which commits of the records were answered.
    public let commits: CommitNote

    init(
        _ file: BlockFile, _ commits: CommitNote, identity: Identity, tally: Tally,
        terms: Terms = Terms()
    ) {
        self.file = file
        self.commits = commits
        written = identity
        self.tally = tally
        self.terms = terms
    }

    /// Makes the file, still without a slot. A store counts as made only when its folder gets its
    /// final name, so a crash before the first slot is written leaves nothing that looks like a
    /// store.
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
        let disk = FileDisk(file, reserve)
        return SlotFile(
            BlockFile(store: store, machine: machine, disk: disk, blocks: blocks),
            CommitNote(store: store, machine: machine, disk: disk, bytes), identity: identity,
            tally: Tally())
    }

    public var store: StoreID { file.store }

    var machine: MachineKey { file.machine }

    // MARK: Damage

    /// Whether every page was as it should be, or is by now.
    public var isWhole: Bool { file.isWhole }

    /// The blocks that could not be read, in their order.
    public var lost: [Int] { file.lost.sorted() }

    /// Whose store it is was not said by this file.
    public var ownerIsLost: Bool { file.lost.contains(Identity.ownerBlock) }

    /// Nobody may make a try before the caller has written a tally that stands for the lost one.
    public var triesAreLost: Bool { file.lost.contains(Tally.block) }

    /// What could not be made anew.
    public struct Mended: Equatable, Sendable {
        public var recoveryKeyIsGone = false
    }

    /// Makes every page whole again, after the store was opened: from what the other blocks and the
    /// owner file say, and empty where nothing says what was there. It is no loss to be cut short:
    /// each page is the damaged or the whole one, and what opened the store stays.
    public func mend() throws(KeyError) -> Mended {
        try requireLive()
        guard !isWhole else { return Mended() }
        try file.tidy()
        let lost = file.lost
        // Beside a slot that is there, the other one was empty, or a key that nobody has seen.
        let mended = Mended(
            recoveryKeyIsGone: RecoveryDetails.blocks.contains { lost.contains($0) }
                && RecoveryDetails.blocks.allSatisfy { file[$0] == nil })
        if mended.recoveryKeyIsGone { terms.recoveryWasOffered = false }
        let known = [
            Identity.ownerBlock: try written.ownerPayload(),
            Identity.labelBlock: try written.labelPayload(),
            Tally.block: tally.payload(), Terms.block: terms.payload(),
        ].filter { lost.contains($0.key) || $0.key == Terms.block && mended.recoveryKeyIsGone }
        try file.put(known, zeroing: lost.filter { known[$0] == nil }.sorted())
        return mended
    }

    // MARK: Identity, tries and terms

    /// While there is a passcode slot, `way` comes from the newest one, so that it changes at the
    /// same instant as the slot. So does it that the store follows no other one any more.
    public var identity: Identity {
        var identity = written
        if let way = (try? file.slots(PasscodeDetails.self))?.first?.details.way {
            identity.way = way
            if identity.kind.parent != nil { identity.kind = .own }
        }
        return identity
    }

    /// Writes the blocks that changed.
    public func write(_ changed: Identity) throws(KeyError) {
        try write(Along(identity: changed))
    }

    public func write(_ changed: Terms) throws(KeyError) {
        try requireLive()
        try write(Along(terms: changed))
    }

    /// If this throws, the caller must not derive anything: the count may not be on the disk.
    public func write(_ changed: Tally) throws(KeyError) {
        try requireLive()
        try file.put([Tally.block: changed.payload()])
        tally = changed
    }

    /// Writes what changed in identity and terms, and the blocks of the history, with one sync.
    /// None of them depends on another.
    func write(
        _ along: Along, history: [Int: [UInt8]] = [:], emptied: [Int] = []
    ) throws(KeyError) {
        // Before the terms, so that no crash leaves a login password in a store whose fingers are
        // off.
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

    /// Writes and syncs a slot, reads it back from the disk and opens it. Only after that may an
    /// old slot be removed.
    func add<Details>(
        _ details: Details, at number: Int, storeKey: borrowing SecretBytes,
        key: Slot<Details>.KeyMaker
    ) throws(KeyError) -> Slot<Details> {
        try file.put([
            number: try Slot.payload(storeKey, details, block: number, store: store, key: key)
        ])
        return try proven(number, storeKey: storeKey, key: key)
    }

    /// Reads the slot from the disk and opens it.
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

    /// For the reset of a store whose slots file cannot even be read: overwrites every byte of it,
    /// up to 1 MiB, and syncs.
    public static func overwrite(in folder: Folder) throws(KeyError) {
        guard folder.exists(fileName) else { return }
        let file = try openFile(fileName, .readWrite, in: folder)
        let count = max(try stored(try file.size()), 0)
        let zeroes = [UInt8](repeating: 0, count: min(count, 1 << 20))
        try stored(try file.write(zeroes.span, at: 0))
        try stored(try file.sync())
    }

    /// Writes `erasing` into the identity and syncs; then zeroes every block but the identity, the
    /// slots first, and syncs. After a crash in between, the identity says `erasing`, and another
    /// call finishes the erase. The tombstone says whether the orders of an organisation wanted it so.
    public func eraseKeys(wipedUnder orders: OrdersMark? = nil) throws(KeyError) {
        if written.condition == .live {
            var changed = identity
            changed.condition = .erasing
            if let orders {
                changed.isWiped = true
                changed.madeUnder = orders
            }
            try write(changed)
        }
        commits.end()
        try file.erase(BlockTable.erased)
        tally = Tally()
        terms = Terms()
    }

    /// Makes the store a tombstone, after its records are erased as well.
    public func finishErasing() throws(KeyError) {
        guard written.condition != .live else { throw .noSuchSlot }
        var changed = written
        changed.condition = .erased
        try write(changed)
    }
}
