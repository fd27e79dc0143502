internal import CSodium
internal import Synchronization

/// Guarded blocks that were wiped and are kept for the next secret. Making a block takes several
/// system calls that change the process's memory map. Such calls wait for every derivation that is
/// filling its memory at that moment: one person's `get` would wait for another's login.
enum GuardedBlocks {
    /// Together with libsodium's canary, these fill exactly one page and two pages.
    static let sizes = (small: 4096 - 16, large: 8192 - 16)
    private static let kept = 64

    @safe
    private struct Spare: @unchecked Sendable {
        // Unchecked because of the pointers: the code that takes one out of a list is its only
        // owner.
        var small: [UnsafeMutableRawPointer] = unsafe []
        var large: [UnsafeMutableRawPointer] = unsafe []
    }

    private static let spare = Mutex(Spare())

    static func room(for count: Int) -> Int {
        count <= sizes.small ? sizes.small : count <= sizes.large ? sizes.large : count
    }

    /// A zeroed block of `room` bytes, or NULL. `isLocked` is false only for a new block that could
    /// not be locked.
    static func take(room: Int) -> (block: UnsafeMutableRawPointer?, isLocked: Bool) {
        let old = spare.withLock { spare -> Spare in
            var found = Spare()
            // SAFETY: the pointer is out of the list, so no other secret has this block.
            if room == sizes.small, let last = unsafe spare.small.popLast() {
                unsafe found.small.append(last)
            } else if room == sizes.large, let last = unsafe spare.large.popLast() {
                unsafe found.small.append(last)
            }
            return found
        }
        if let block = unsafe old.small.first { return unsafe (block, true) }
        // SAFETY: the block is the caller's alone until `giveBack`.
        guard let block = unsafe sodium_malloc(room) else { return (nil, false) }
        // When the lock limit is reached, sodium_malloc still hands out memory and reports no
        // error.
        // SAFETY: the block has `room` bytes.
        let isLocked = unsafe sodium_mlock(block, room) == 0
        // SAFETY: as above; sodium_malloc fills with 0xdb.
        unsafe sodium_memzero(block, room)
        return unsafe (block, isLocked)
    }

    /// Wipes the whole block.
    static func giveBack(_ block: UnsafeMutableRawPointer, room: Int) {
        // SAFETY: the caller gives up the block, which has `room` bytes.
        unsafe sodium_memzero(block, room)
        let single = unsafe Spare(small: [block])
        let isKept = spare.withLock { spare -> Bool in
            guard let block = unsafe single.small.first else { return false }
            if room == sizes.small, unsafe spare.small.count < kept {
                unsafe spare.small.append(block)
                return true
            }
            if room == sizes.large, unsafe spare.large.count < kept {
                unsafe spare.large.append(block)
                return true
            }
            return false
        }
        // SAFETY: the block came from sodium_malloc and is in no list.
        if !isKept { unsafe sodium_free(block) }
    }
}
