internal import Glibc
internal import Wire

/// Heap memory that grows at its end, is taken from at its start, and is wiped before it is freed.
@safe
struct WipedBytes: ~Copyable, @unchecked Sendable {
    // Of one owner alone: the type cannot be copied.
    private var base: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    private var start = 0
    private var end = 0

    init(capacity: Int) {
        self.capacity = max(capacity, 16)
        // SAFETY: initialised to its end just below, and freed in deinit alone.
        unsafe base = UnsafeMutablePointer<UInt8>.allocate(capacity: self.capacity)
        unsafe base.initialize(repeating: 0, count: self.capacity)
    }

    deinit {
        // SAFETY: the whole memory is ours, and nothing reads it any more.
        unsafe explicit_bzero(base, capacity)
        unsafe base.deallocate()
    }

    var count: Int { end - start }

    func withSpan<R: ~Copyable, E: Error>(
        from first: Int = 0, _ body: (Span<UInt8>) throws(E) -> R
    ) throws(E) -> R {
        precondition(first >= 0 && first <= count)
        // SAFETY: from `start` to `end` it is initialised, and self is alive during the call.
        let span = unsafe Span(_unsafeStart: base + start + first, count: count - first)
        return try body(span)
    }

    /// At least `room` bytes behind what is there; returns how many of them were filled.
    mutating func fill(
        room: Int, _ body: (UnsafeMutableRawBufferPointer) -> Int
    ) -> Int {
        reserve(room)
        // SAFETY: reserve has made the room.
        let filled = unsafe body(
            UnsafeMutableRawBufferPointer(start: base + end, count: capacity - end))
        if filled > 0 { end += min(filled, capacity - end) }
        return filled
    }

    mutating func reserve(_ room: Int) {
        guard capacity - end < room else { return }
        let used = count
        if capacity >= used + room, start >= used {
            // SAFETY: the two do not overlap, and what is left behind is wiped.
            unsafe base.update(from: base + start, count: used)
            unsafe explicit_bzero(base + start, used)
        } else {
            let wanted = max(used + room, capacity * 2)
            // SAFETY: the new memory has room for all of the old, which is wiped before it is freed.
            let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: wanted)
            unsafe larger.initialize(repeating: 0, count: wanted)
            unsafe larger.update(from: base + start, count: used)
            unsafe explicit_bzero(base, capacity)
            unsafe base.deallocate()
            unsafe base = larger
            capacity = wanted
        }
        start = 0
        end = used
    }

    mutating func dropFirst(_ dropped: Int) {
        precondition(dropped >= 0 && dropped <= count)
        // SAFETY: within what is there.
        unsafe explicit_bzero(base + start, dropped)
        start += dropped
        if start == end { (start, end) = (0, 0) }
    }

    /// Wipes the last byte, and returns what it was.
    mutating func dropLast() -> UInt8 {
        precondition(count > 0)
        end -= 1
        // SAFETY: there was a byte.
        defer { unsafe base[end] = 0 }
        return unsafe base[end]
    }

    /// Overwrites four bytes that are there, little-endian.
    mutating func replace32(at offset: Int, with number: UInt32) {
        precondition(offset >= 0 && offset + 4 <= count)
        for index in 0..<4 {
            // SAFETY: the range was checked.
            unsafe base[start + offset + index] = UInt8(
                truncatingIfNeeded: number >> (8 * UInt32(index)))
        }
    }

    mutating func removeAll() {
        dropFirst(count)
    }
}

extension WipedBytes: Sink, Coder {
    mutating func put(_ byte: UInt8) {
        reserve(1)
        // SAFETY: reserve has made the room.
        unsafe base[end] = byte
        end += 1
    }

    mutating func put(_ bytes: Span<UInt8>) {
        reserve(bytes.count)
        // SAFETY: as above.
        unsafe bytes.withUnsafeBufferPointer { source in
            guard let first = source.baseAddress else { return }
            unsafe (base + end).update(from: first, count: source.count)
        }
        end += bytes.count
    }
}
