internal import CSodium
internal import Posix
internal import Synchronization

/// Where secrets lie. A daemon reserves cells at its start, which are taken and given back without
/// a system call. Without them, or where they are used up, a block is made with libsodium, and some
/// are kept, wiped, for the next secret: making one takes several system calls that change the
/// process's memory map, and each of them waits for every derivation that is filling its memory at
/// that moment. One person's `get` would wait for another's login.
enum GuardedBlocks {
    @safe
    struct Block: @unchecked Sendable {
        // Unchecked because of the pointer: whoever took the block is its only owner.
        let start: UnsafeMutableRawPointer
        let room: Int
        let isLocked: Bool
    }

    /// Together with libsodium's canary, these fill exactly one page and two pages.
    private static let sizes = (small: 4096 - 16, large: 8192 - 16)
    private static let kept = 64
    /// In front of a cell's secret and behind it. Random, so that no one can write it back.
    private static let canarySize = 16
    private static let roomInCell = GuardedCells.size - 2 * canarySize

    @safe
    private struct Spare: @unchecked Sendable {
        // Unchecked because of the pointers: the code that takes one out of a list is its only
        // owner.
        var small: [UnsafeMutableRawPointer] = unsafe []
        var large: [UnsafeMutableRawPointer] = unsafe []
        var cells: GuardedCells?
        var free: [Int32] = []
        var canary: [UInt8] = []
    }

    private static let spare = Mutex(Spare())

    /// Called before there is a second thread; only the first call counts. False where the memory
    /// cannot be locked; then each block is locked by itself, as far as the limit reaches.
    static func reserve(rows: Int) -> Bool {
        let isReserved = spare.withLock { $0.cells != nil }
        guard !isReserved else { return true }
        guard let cells = GuardedCells(rows: rows) else { return false }
        var canary = [UInt8](repeating: 0, count: canarySize)
        // SAFETY: it has so many bytes.
        unsafe randombytes_buf(&canary, canarySize)
        spare.withLock { spare in
            spare.cells = cells
            spare.canary = canary
            // The last one is taken first, so that few pages are used.
            spare.free = (0..<Int32(cells.count)).reversed()
        }
        return true
    }

    /// A zeroed block of at least `count` bytes.
    static func take(_ count: Int) -> Block? {
        if count <= roomInCell, let block = takeCell() { return block }
        let room =
            count <= sizes.small ? sizes.small : count <= sizes.large ? sizes.large : count
        if let block = takeKept(room) { return block }
        // SAFETY: the block is the caller's alone until `giveBack`.
        guard let block = unsafe sodium_malloc(room) else { return nil }
        // When the lock limit is reached, sodium_malloc still hands out memory and reports no
        // error.
        // SAFETY: the block has `room` bytes.
        let isLocked = unsafe sodium_mlock(block, room) == 0
        // SAFETY: as above; sodium_malloc fills with 0xdb.
        unsafe sodium_memzero(block, room)
        return unsafe Block(start: block, room: room, isLocked: isLocked)
    }

    private static func takeCell() -> Block? {
        spare.withLock { spare in
            guard let cells = spare.cells, let number = spare.free.popLast() else { return nil }
            let cell = unsafe cells.cell(Int(number))
            for index in 0..<canarySize {
                // SAFETY: both ends lie within the cell, which is the caller's from here on.
                unsafe cell.storeBytes(
                    of: spare.canary[index], toByteOffset: index, as: UInt8.self)
                unsafe cell.storeBytes(
                    of: spare.canary[index], toByteOffset: canarySize + roomInCell + index,
                    as: UInt8.self)
            }
            return unsafe Block(start: cell + canarySize, room: roomInCell, isLocked: true)
        }
    }

    private static func takeKept(_ room: Int) -> Block? {
        spare.withLock { spare in
            // SAFETY: the pointer is out of the list, so no other secret has this block.
            let found =
                unsafe room == sizes.small
                ? spare.small.popLast() : room == sizes.large ? spare.large.popLast() : nil
            guard let found = unsafe found else { return nil }
            return unsafe Block(start: found, room: room, isLocked: true)
        }
    }

    /// Wipes the whole block.
    static func giveBack(_ block: Block) {
        // SAFETY: the caller gives up the block, which has `room` bytes.
        unsafe sodium_memzero(block.start, block.room)
        let isKept = spare.withLock { spare -> Bool in
            if let cells = spare.cells,
                let number = unsafe cells.number(of: block.start - canarySize)
            {
                requireUntouched(block, spare.canary)
                spare.free.append(Int32(number))
                return true
            }
            if block.room == sizes.small, unsafe spare.small.count < kept {
                unsafe spare.small.append(block.start)
                return true
            }
            if block.room == sizes.large, unsafe spare.large.count < kept {
                unsafe spare.large.append(block.start)
                return true
            }
            return false
        }
        // SAFETY: the block came from sodium_malloc and is in no list.
        if !isKept { unsafe sodium_free(block.start) }
    }

    /// Ends the process where code has written in front of the secret or behind it: what it wrote
    /// over may be another person's.
    private static func requireUntouched(_ block: Block, _ canary: [UInt8]) {
        let isWhole = unsafe canary.withUnsafeBytes { canary in
            // SAFETY: a cell has a canary in front of its room and one behind it.
            unsafe sodium_memcmp(block.start - canarySize, canary.baseAddress!, canarySize) == 0
                && sodium_memcmp(block.start + block.room, canary.baseAddress!, canarySize) == 0
        }
        // What libsodium does for its own blocks: it ends the process.
        if !isWhole { sodium_misuse() }
    }
}
