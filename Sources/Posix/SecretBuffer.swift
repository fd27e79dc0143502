internal import CLinux

/// Secret bytes in pages of their own, which are locked if the limit allows it and wiped at the
/// end. For programs that do not link libsodium; the daemon uses SecretBytes.
@safe
public struct SecretBuffer: ~Copyable {
    public private(set) var count = 0
    public private(set) var capacity: Int
    private var base: UnsafeMutablePointer<UInt8>

    public init(capacity: Int = 4096) {
        self.capacity = SecretBuffer.pages(capacity)
        // SAFETY: new pages of this capacity, which only this buffer uses.
        unsafe base = SecretBuffer.map(self.capacity)
    }

    deinit {
        // SAFETY: base was mapped with this capacity, and no reference to it is left.
        unsafe appvault_secret_unmap(base, count, capacity)
    }

    private static func pages(_ bytes: Int) -> Int {
        (max(bytes, 1) + 4095) & ~4095
    }

    private static func map(_ size: Int) -> UnsafeMutablePointer<UInt8> {
        // SAFETY: new pages of this size, used only as bytes.
        guard let pages = unsafe appvault_secret_map(size) else {
            preconditionFailure("out of memory")
        }
        return unsafe pages.assumingMemoryBound(to: UInt8.self)
    }

    public var isEmpty: Bool { count == 0 }

    /// Makes room for `more` bytes. If the bytes have to move, their old place is wiped.
    public mutating func reserve(_ more: Int) {
        guard more > capacity - count else { return }
        let larger = SecretBuffer.pages(max(count + more, capacity * 2))
        // SAFETY: both mappings hold at least count bytes and do not overlap.
        let target = unsafe SecretBuffer.map(larger)
        unsafe target.update(from: base, count: count)
        unsafe appvault_secret_unmap(base, count, capacity)
        unsafe base = target
        capacity = larger
    }

    public mutating func append(_ byte: UInt8) {
        if count == capacity { reserve(1) }
        // SAFETY: count is below the capacity now.
        unsafe base[count] = byte
        count += 1
    }

    public mutating func append(_ bytes: Span<UInt8>) {
        let more = bytes.count
        guard more > 0 else { return }
        reserve(more)
        // SAFETY: reserve made room for all of them, and the span cannot point into these pages.
        unsafe bytes.withUnsafeBufferPointer { source in
            unsafe (base + count).update(from: source.baseAddress!, count: more)
        }
        count += more
    }

    public mutating func append(_ other: borrowing SecretBuffer) {
        other.withSpan { append($0) }
    }

    public mutating func append(_ text: [UInt8]) {
        append(text.span)
    }

    public mutating func removeAll() {
        // SAFETY: the first count bytes are ours.
        unsafe appvault_wipe(base, count)
        count = 0
    }

    public mutating func truncate(to shorter: Int) {
        guard shorter >= 0, shorter < count else { return }
        // SAFETY: both ends lie within the first count bytes.
        unsafe appvault_wipe(base + shorter, count - shorter)
        count = shorter
    }

    /// Removes the first `number` bytes and moves the rest to the front.
    public mutating func dropFirst(_ number: Int) {
        guard number > 0 else { return }
        guard number < count else { return removeAll() }
        // SAFETY: memmove stays within the first count bytes.
        unsafe memmove(base, base + number, count - number)
        truncate(to: count - number)
    }

    public subscript(_ index: Int) -> UInt8 {
        precondition(index >= 0 && index < count)
        // SAFETY: the index was checked in the line above.
        return unsafe base[index]
    }

    public func withSpan<R, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        try withSpan(from: 0, count: count, body)
    }

    public func withSpan<R, E: Error>(
        from start: Int, count length: Int, _ body: (Span<UInt8>) throws(E) -> R
    ) throws(E) -> R {
        precondition(start >= 0 && length >= 0 && length <= count - start)
        // SAFETY: the range was checked, and self is borrowed for as long as the closure runs.
        let bytes = unsafe UnsafeBufferPointer(start: base + start, count: length)
        return try body(unsafe bytes.span)
    }

    /// What is there from `start` on, to be changed in place.
    public mutating func withMutableBytes<R, E: Error>(
        from start: Int, _ body: (UnsafeMutableRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        precondition(start >= 0 && start <= count)
        // SAFETY: the range was checked, and nobody else uses these pages meanwhile.
        return try unsafe body(
            UnsafeMutableRawBufferPointer(start: base + start, count: count - start))
    }

    public func contains(_ byte: UInt8) -> Bool {
        withSpan { span in span.indices.contains { span[$0] == byte } }
    }

    public func isEqual(to other: borrowing SecretBuffer) -> Bool {
        guard count == other.count else { return false }
        var difference: UInt8 = 0
        var index = 0
        while index < count {
            difference |= self[index] ^ other[index]
            index += 1
        }
        return difference == 0
    }

    /// Appends one read of at most `limit` bytes; returns 0 at the end.
    public mutating func read(from descriptor: Int32, atMost limit: Int) throws(PosixError) -> Int {
        reserve(limit)
        while true {
            // SAFETY: reserve made room for limit bytes behind count.
            let got = unsafe CLinux.read(descriptor, base + count, limit)
            if got >= 0 {
                count += got
                return got
            }
            guard appvault_errno() == EINTR else { throw PosixError.last("read") }
        }
    }

    /// Appends what one receive gives and fits; returns 0 if the peer has closed.
    mutating func receive(from socket: Int32) throws(PosixError) -> Int {
        while true {
            // SAFETY: the bytes between count and capacity are ours.
            let got = unsafe recv(socket, base + count, capacity - count, 0)
            if got >= 0 {
                count += got
                return got
            }
            guard appvault_errno() == EINTR else { throw PosixError.last("recv") }
        }
    }

    /// A NUL-terminated view, for C functions that copy it.
    public mutating func withCString<R>(_ body: (UnsafePointer<CChar>) -> R) -> R {
        append(0)
        defer { truncate(to: count - 1) }
        // SAFETY: the last of the count bytes is a NUL, and chars and bytes have the same layout.
        return unsafe base.withMemoryRebound(to: CChar.self, capacity: count) { unsafe body($0) }
    }
}
