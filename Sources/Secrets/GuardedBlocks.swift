internal import CSodium
internal import Synchronization

/// Guarded blocks that were wiped and wait for their next secret. To make one takes several calls into the kernel
/// that change the process's memory map, and those wait for every derivation that is just filling its memory: a
/// person's `get` would wait for another's login.
enum GuardedBlocks {
    /// With libsodium's canary these fill one page and two.
    static let sizes = (small: 4096 - 16, large: 8192 - 16)
    private static let kept = 64

    @safe
    private struct Spare: @unchecked Sendable {
        // Unchecked because of the pointers: whoever takes one out is its only owner.
        var small: [UnsafeMutableRawPointer] = unsafe []
        var large: [UnsafeMutableRawPointer] = unsafe []
    }

    private static let spare = Mutex(Spare())

    static func room(for count: Int) -> Int {
        count <= sizes.small ? sizes.small : count <= sizes.large ? sizes.large : count
    }

    /// A zeroed block of `room` bytes, or NULL. `isLocked` is false where it is a new one that could not be locked.
    static func take(room: Int) -> (block: UnsafeMutableRawPointer?, isLocked: Bool) {
        let old = spare.withLock { spare -> Spare in
            var found = Spare()
            // SAFETY: out of the list, so nobody else has it.
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
        // sodium_malloc hands out memory past the lock limit as well, and says nothing.
        // SAFETY: the block has `room` bytes.
        let isLocked = unsafe sodium_mlock(block, room) == 0
        // SAFETY: as above; sodium_malloc fills with 0xdb.
        unsafe sodium_memzero(block, room)
        return unsafe (block, isLocked)
    }

    /// Wipes the whole of it.
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
        // SAFETY: from sodium_malloc, and in no list.
        if !isKept { unsafe sodium_free(block) }
    }
}
