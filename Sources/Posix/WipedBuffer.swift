internal import CLinux

/// Heap memory that is wiped before it is freed: for values, and for frames while they are built.
/// It is not locked block by block, because that costs more than a whole request; instead the unit
/// runs with swap off.
@safe
public final class WipedBuffer: @unchecked Sendable {
    // Used by one owner at a time: the loop, or the worker thread to which a closure was handed.
    private var base: UnsafeMutablePointer<UInt8>
    public private(set) var capacity: Int
    public private(set) var count: Int
    private var isMapped = false

    public init(capacity: Int) {
        let room = max(capacity, 1)
        // SAFETY: the memory is owned by this object alone until its deinit.
        unsafe base = UnsafeMutablePointer<UInt8>.allocate(capacity: room)
        unsafe base.initialize(repeating: 0, count: room)
        self.capacity = room
        count = 0
    }

    /// Locked into memory if the limit allows it; a page costs memory from its first use on. It is
    /// wiped in any case.
    public init(lockedCapacity: Int) {
        capacity = (max(lockedCapacity, 1) + 4095) & ~4095
        count = 0
        if let pages = unsafe appvault_locked_map(capacity) {
            // SAFETY: new pages of this size, used only as bytes.
            unsafe base = pages.assumingMemoryBound(to: UInt8.self)
            isMapped = true
        } else {
            // SAFETY: as in the other initialiser.
            unsafe base = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
            unsafe base.initialize(repeating: 0, count: capacity)
        }
    }

    public convenience init(copying bytes: Span<UInt8>) {
        self.init(capacity: bytes.count)
        append(bytes)
    }

    deinit {
        release()
    }

    private func release() {
        // SAFETY: the whole memory is ours, and nothing reads it any more.
        unsafe appvault_wipe(base, capacity)
        if isMapped {
            unsafe munmap(base, capacity)
        } else {
            unsafe base.deallocate()
        }
    }

    public func withBytes<R, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        // SAFETY: as above; self is alive during the call.
        let span = unsafe Span(_unsafeStart: base, count: count)
        return try body(span)
    }

    /// The memory from `start` to the end of the capacity, to be filled; then `setCount` says how
    /// many bytes are valid.
    public func withRoom<R, E: Error>(
        from start: Int = 0, _ body: (UnsafeMutableRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        precondition(start >= 0 && start <= capacity)
        // SAFETY: start was checked against the capacity.
        return try unsafe body(
            UnsafeMutableRawBufferPointer(start: base + start, count: capacity - start))
    }

    /// The whole capacity as a span.
    public func withMutableSpan<R, E: Error>(
        _ body: (inout MutableSpan<UInt8>) throws(E) -> R
    ) throws(E) -> R {
        // SAFETY: the memory is initialised, and self is alive during the call.
        var span = unsafe MutableSpan(_unsafeStart: base, count: capacity)
        return try body(&span)
    }

    public func setCount(_ count: Int) {
        precondition(count >= 0 && count <= capacity)
        self.count = count
    }

    public func append(_ bytes: Span<UInt8>) {
        grow(to: count + bytes.count)
        // SAFETY: grow made the room.
        unsafe bytes.withUnsafeBufferPointer { source in
            guard let start = source.baseAddress else { return }
            unsafe (base + count).update(from: start, count: source.count)
        }
        count += bytes.count
    }

    public convenience init(bytes: [UInt8]) {
        self.init(capacity: bytes.count)
        append(bytes.span)
    }

    public func append(_ byte: UInt8) {
        if count == capacity { grow(to: count + 1) }
        // SAFETY: grow made the room.
        unsafe base[count] = byte
        count += 1
    }

    /// Wipes the first `used` bytes and does not touch pages that were never used.
    public func wipe(first used: Int) {
        precondition(used >= 0 && used <= capacity)
        unsafe appvault_wipe(base, used)
        count = 0
    }

    /// Drops the first bytes, moves the rest to the front, and wipes what is left behind it.
    public func removeFirst(_ dropped: Int) {
        precondition(dropped >= 0 && dropped <= count)
        let rest = count - dropped
        // SAFETY: both ranges lie within `count`; the ranges may overlap, which update(from:)
        // allows.
        unsafe base.update(from: base + dropped, count: rest)
        unsafe appvault_wipe(base + rest, dropped)
        count = rest
    }

    public func wipe() {
        unsafe appvault_wipe(base, capacity)
        count = 0
    }

    public func grow(to wanted: Int) {
        guard wanted > capacity else { return }
        grow(toExactly: max(wanted, capacity * 2))
    }

    public func grow(toExactly room: Int) {
        guard room > capacity else { return }
        // SAFETY: the old memory is wiped before it is freed, and only `count` bytes are carried
        // over.
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: room)
        unsafe larger.initialize(repeating: 0, count: room)
        unsafe larger.update(from: base, count: count)
        release()
        unsafe base = larger
        isMapped = false
        capacity = room
    }
}
