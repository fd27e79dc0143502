import Posix

/// The blocks of a slots file. Every write is one block at its place, in a page that no other block
/// shares. A call that returns has synced. After a call that throws, each block on the disk has
/// either its old content or its new one.
final class BlockFile {
    let store: StoreID
    let machine: MachineKey
    private let disk: any BlockDisk
    private var blocks: [Block?]
    // Blocks that were written but perhaps did not reach the disk. Until a write of them succeeds,
    // neither their old nor their new content can be relied on.
    private var doubtful: Set<Int> = []
    /// Blocks that could not be read when the file was opened, and that were not written since.
    private(set) var lost: Set<Int> = []
    /// Pages whose block could be read, but which are not as they should be.
    private var unclean: Set<Int> = []

    init(store: StoreID, machine: MachineKey, disk: any BlockDisk, blocks: [Block?]) {
        self.store = store
        self.machine = machine
        self.disk = disk
        self.blocks = blocks
    }

    convenience init(store: StoreID, machine: MachineKey, disk: any BlockDisk, _ pages: Pages) {
        self.init(store: store, machine: machine, disk: disk, blocks: pages.blocks)
        lost = Set(pages.lost.keys)
        unclean = pages.unclean
    }

    subscript(number: Int) -> Block? { blocks[number] }

    func isFull(_ number: Int) -> Bool { blocks[number] != nil || isDoubtful(number) }

    func isDoubtful(_ number: Int) -> Bool { doubtful.contains(number) || lost.contains(number) }

    var isWhole: Bool { lost.isEmpty && unclean.isEmpty }

    /// Writes the pages again whose blocks are known. Each block stays what it is, with its
    /// sequence. What is behind the last page goes.
    func tidy() throws(KeyError) {
        for number in unclean.subtracting(lost).sorted() {
            let bytes = try blocks[number]?.encoded(store, BlockTable.guardian(of: number, machine))
            try stored(try disk.write(Page.around(bytes ?? Block.empty), block: number))
        }
        try stored(try disk.trim())
        try stored(try disk.sync())
        unclean.formIntersection(lost)
    }

    /// The rest of a damaged page goes with the block that was in it.
    private func write(_ bytes: [UInt8], at number: Int) throws(KeyError) {
        let isDamaged = lost.contains(number) || unclean.contains(number)
        try stored(try disk.write(isDamaged ? Page.around(bytes) : bytes, block: number))
    }

    func slots<Details>(_: Details.Type = Details.self) throws(KeyError) -> [Slot<Details>] {
        try blocks.slots()
    }

    func holds<Details>(_ slot: Slot<Details>) -> Bool {
        blocks[slot.block]?.sequence == slot.sequence
    }

    /// Writes the blocks in the order of their numbers, then zeroes over those of `numbers` that
    /// are not empty, then syncs once.
    func put(_ payloads: [Int: [UInt8]], zeroing numbers: [Int] = []) throws(KeyError) {
        let full = numbers.filter { isFull($0) }
        guard !payloads.isEmpty || !full.isEmpty else { return }
        var sequence = blocks.compactMap { $0?.sequence }.max() ?? 0
        var filled: [Block] = []
        for (number, payload) in payloads.sorted(by: { $0.key < $1.key }) {
            sequence += 1
            let block = Block(
                number: number, sequence: sequence,
                payload: payload + [UInt8](repeating: 0, count: Block.payloadSize - payload.count))
            let bytes = try block.encoded(store, BlockTable.guardian(of: number, machine))
            doubtful.insert(number)
            try write(bytes, at: number)
            filled.append(block)
        }
        for number in full {
            doubtful.insert(number)
            try write(Block.empty, at: number)
        }
        try stored(try disk.sync())
        for block in filled { settle(block.number, block) }
        for number in full { settle(number, nil) }
    }

    private func settle(_ number: Int, _ block: Block?) {
        blocks[number] = block
        doubtful.remove(number)
        lost.remove(number)
        unclean.remove(number)
    }

    /// Writes zeroes over these blocks, also over those that are thought to be empty.
    func erase(_ numbers: [Int]) throws(KeyError) {
        doubtful.formUnion(numbers)
        try put([:], zeroing: numbers)
    }

    /// Reads the block from the disk itself. It must be what was written last.
    func readBack(_ number: Int) throws(KeyError) -> Block {
        let bytes = try stored(try disk.readBack())
        guard
            let block = try Block.checked(
                try Page.block(number, of: bytes), number: number, store: store,
                BlockTable.guardian(of: number, machine)),
            block == blocks[number]
        else { throw .damaged(.readBack(number)) }
        return block
    }
}
