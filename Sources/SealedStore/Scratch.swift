internal import Secrets

/// Memory that records pass through on their way to and from the file. It is wiped after each use
/// and then used again. It is plain memory, because guarded memory costs more than a whole request;
/// a record stays in it for microseconds.
@safe final class Scratch {
    private var memory: UnsafeMutablePointer<UInt8>
    private(set) var capacity: Int
    private(set) var count = 0

    init(capacity: Int) {
        self.capacity = capacity
        // SAFETY: initialised at once.
        unsafe memory = .allocate(capacity: capacity)
        unsafe memory.initialize(repeating: 0, count: capacity)
    }

    deinit {
        wipe(from: 0)
        // SAFETY: allocated by us, freed once.
        unsafe memory.deallocate()
    }

    /// Sets the size: new bytes are zero, and surplus bytes are wiped.
    func resize(to newCount: Int) {
        precondition(newCount >= 0, "a size is not negative")
        if newCount > capacity { move(to: max(newCount, capacity * 2)) }
        if newCount < count { wipe(from: newCount) }
        count = newCount
    }

    func append(_ bytes: Span<UInt8>) {
        let end = count
        resize(to: end + bytes.count)
        withMutableBytes { target in copy(bytes, to: &target, at: end) }
    }

    func append(_ byte: UInt8) {
        resize(to: count + 1)
        // SAFETY: the byte was just made by resize.
        unsafe memory[count - 1] = byte
    }

    /// Removes the first bytes and moves the rest to the front.
    func dropFirst(_ gone: Int) {
        precondition(gone >= 0 && gone <= count, "no more than there is")
        // SAFETY: both ranges lie within the block, and `update` allows them to overlap.
        unsafe memory.update(from: memory + gone, count: count - gone)
        resize(to: count - gone)
    }

    /// Wipes the content, and gives back the memory that a large value took.
    func clear(keeping most: Int = 65_536) {
        resize(to: 0)
        if capacity > most { move(to: most) }
    }

    func withBytes<R: ~Copyable, E: Error>(
        _ body: (Span<UInt8>) throws(E) -> R
    ) throws(E) -> R {
        // SAFETY: `count` bytes are initialised, and no resize happens during the call.
        let bytes = unsafe UnsafeBufferPointer(start: memory, count: count)
        return try body(unsafe bytes.span)
    }

    func withMutableBytes<R: ~Copyable, E: Error>(
        _ body: (inout MutableSpan<UInt8>) throws(E) -> R
    ) throws(E) -> R {
        // SAFETY: as above.
        let bytes = unsafe UnsafeMutableBufferPointer(start: memory, count: count)
        var span = unsafe bytes.mutableSpan
        return try body(&span)
    }

    private func move(to newCapacity: Int) {
        // SAFETY: the new block is initialised to its end; the old one is wiped and freed.
        let moved = UnsafeMutablePointer<UInt8>.allocate(capacity: newCapacity)
        unsafe moved.initialize(from: memory, count: count)
        unsafe (moved + count).initialize(repeating: 0, count: newCapacity - count)
        wipe(from: 0)
        unsafe memory.deallocate()
        unsafe memory = moved
        capacity = newCapacity
    }

    private func wipe(from start: Int) {
        // SAFETY: the range lies within the bytes in use.
        let bytes = unsafe UnsafeMutableBufferPointer(start: memory + start, count: count - start)
        var span = unsafe bytes.mutableSpan
        Secrets.wipe(&span)
    }
}
