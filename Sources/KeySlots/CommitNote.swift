import Posix

/// Block 14: the last commit of the records that is known to be on the disk. It is written after
/// that commit's sync and is not synced itself, so it may lag behind, and never says too much: if
/// the records are older than it says, commits that were answered are missing. Any thread may use
/// it. Nobody waits for it, and no page of the slots file but its own is touched.
public final class CommitNote: @unchecked Sendable {
    static let block = 14

    private let store: StoreID
    private let machine: MachineKey
    private let disk: any BlockDisk

    // Guarded by `mutex`.
    private let mutex = Mutex()
    private var written: UInt64
    private var isEnded = false
    /// The page holds the block as it was written, and nothing else.
    private var isClean: Bool

    init(store: StoreID, machine: MachineKey, disk: any BlockDisk, _ file: [UInt8]) {
        self.store = store
        self.machine = machine
        self.disk = disk
        written = Self.generation(in: file, store, machine)
        let found = Page.found(Self.block, of: file)
        let isWhole =
            (try? Block.checked(
                found?.block ?? [], number: Self.block, store: store, .machine(machine))) != nil
        isClean = isWhole && found?.isClean == true
    }

    /// The number of the commit; 0 where none is noted, or where the note cannot be read.
    public var generation: UInt64 {
        mutex.lock()
        defer { mutex.unlock() }
        return written
    }

    /// Notes a commit that was synced. An older one than the one that is noted changes nothing. If
    /// this fails, the note lags behind.
    public func note(_ generation: UInt64) {
        mutex.lock()
        defer { mutex.unlock() }
        guard !isEnded, generation > written || !isClean else { return }
        let latest = max(generation, written)
        guard (try? put(latest)) != nil else { return }
        written = latest
    }

    /// Notes that the records are at this commit, whatever was noted before, and syncs.
    public func settle(on generation: UInt64) throws(KeyError) {
        mutex.lock()
        defer { mutex.unlock() }
        guard !isEnded else { return }
        try put(generation)
        written = generation
        try stored(try disk.sync())
    }

    /// Before an erase: from here on nothing is written.
    func end() {
        mutex.lock()
        defer { mutex.unlock() }
        isEnded = true
    }

    private func put(_ generation: UInt64) throws(KeyError) {
        var writer = FieldWriter()
        writer.put(generation)
        // It has no part in the order of the other blocks.
        let block = Block(number: Self.block, sequence: 0, payload: writer.bytes)
        let bytes = try block.encoded(store, .machine(machine))
        try stored(try disk.note(isClean ? bytes : Page.around(bytes), block: Self.block))
        isClean = true
    }

    /// A note that is damaged is none: it may be that a power cut has torn it.
    static func generation(in file: [UInt8], _ store: StoreID, _ machine: MachineKey) -> UInt64 {
        guard let found = Page.found(block, of: file),
            let reading = try? Block.reading(
                found.block, number: block, store: store, .machine(machine))
        else { return 0 }
        switch reading {
        case .block(let block), .corrected(let block):
            var reader = FieldReader(block.payload)
            guard let generation = reader.number(UInt64.self), reader.restIsZero else { return 0 }
            return generation
        case .empty, .unreadable: return 0
        }
    }
}
