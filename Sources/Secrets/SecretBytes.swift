internal import CSodium
internal import Synchronization

/// Secret bytes: in guarded memory, wiped at the end of their life, readable only inside a closure.
@safe public struct SecretBytes: ~Copyable, @unchecked Sendable {
    // Unchecked because of the pointer: it has one owner, and borrowers only read through it.
    let memory: UnsafeMutablePointer<UInt8>
    private let block: GuardedBlocks.Block

    public private(set) var count: Int

    /// How many blocks could not be locked into memory since the start. Health reports it.
    public static var unlockedCount: Int { unlocked.load(ordering: .relaxed) }
    private static let unlocked = Atomic<Int>(0)

    /// Reserves locked memory for secrets, to be called once at a start: from then on most secrets
    /// come and go without a system call. Without it, or where it is used up, each secret of its
    /// own asks the system for memory.
    public static func reserve(rows: Int) throws(SecretsError) -> Bool {
        try Sodium.start()
        return GuardedBlocks.reserve(rows: rows)
    }

    /// All bytes are zero.
    public init(count: Int) throws(SecretsError) {
        guard count >= 0 else { throw .wrongSize }
        try Sodium.start()
        guard let block = GuardedBlocks.take(count) else { throw .outOfMemory }
        if !block.isLocked { Self.unlocked.add(1, ordering: .relaxed) }
        self.block = block
        // At the block's end, as near to what guards it as a 16-byte alignment allows.
        let offset = (block.room - count) & ~15
        // SAFETY: the block is ours alone until it is given back in deinit. Offset plus count is at
        // most the room; a byte needs no alignment.
        unsafe memory = (block.start + offset).bindMemory(to: UInt8.self, capacity: count)
        self.count = count
    }

    public init(copying source: Span<UInt8>) throws(SecretsError) {
        try self.init(count: source.count)
        for index in source.indices {
            // SAFETY: `memory` has as many bytes as the source.
            unsafe memory[index] = source[index]
        }
    }

    deinit {
        // SAFETY: the block is ours since init and is given back once; giveBack wipes all of it.
        GuardedBlocks.giveBack(block)
    }

    public static func random(_ count: Int) throws(SecretsError) -> SecretBytes {
        let bytes = try SecretBytes(count: count)
        // SAFETY: the block has `count` bytes.
        unsafe randombytes_buf(bytes.memory, count)
        return bytes
    }

    public borrowing func withBytes<R: ~Copyable, E: Error>(
        _ body: (Span<UInt8>) throws(E) -> R
    ) throws(E) -> R {
        // SAFETY: `count` initialised bytes that live as long as self, which is borrowed here.
        let bytes = unsafe UnsafeBufferPointer(start: memory, count: count)
        return try body(unsafe bytes.span)
    }

    public mutating func withMutableBytes<R: ~Copyable, E: Error>(
        _ body: (inout MutableSpan<UInt8>) throws(E) -> R
    ) throws(E) -> R {
        // SAFETY: `count` initialised bytes; self is held exclusively here.
        let bytes = unsafe UnsafeMutableBufferPointer(start: memory, count: count)
        var span = unsafe bytes.mutableSpan
        return try body(&span)
    }

    public borrowing func copy() throws(SecretsError) -> SecretBytes {
        try withBytes { (bytes) throws(SecretsError) in try SecretBytes(copying: bytes) }
    }

    /// A copy of a part, as a secret of its own.
    public borrowing func slice(_ range: Range<Int>) throws(SecretsError) -> SecretBytes {
        guard range.lowerBound >= 0, range.upperBound <= count else { throw .wrongSize }
        return try withBytes { (bytes) throws(SecretsError) in
            try SecretBytes(copying: bytes.extracting(range))
        }
    }

    /// Keeps the first bytes and wipes the others. Nothing moves.
    public mutating func shorten(to newCount: Int) {
        guard newCount >= 0, newCount < count else { return }
        // SAFETY: the rest of the same block.
        unsafe sodium_memzero(memory + newCount, count - newCount)
        count = newCount
    }

    /// Writes zeroes over the range.
    public mutating func wipe(_ range: Range<Int>) {
        let used = range.clamped(to: 0..<count)
        // SAFETY: clamped to the block.
        unsafe sodium_memzero(memory + used.lowerBound, used.count)
    }

    /// The time depends only on the lengths.
    public borrowing func matches(_ other: borrowing SecretBytes) -> Bool {
        guard count == other.count else { return false }
        // SAFETY: both blocks have `count` bytes.
        return unsafe sodium_memcmp(memory, other.memory, count) == 0
    }

    /// The time depends only on the lengths.
    public borrowing func matches(_ other: Span<UInt8>) -> Bool {
        withBytes { bytes in constantTimeEqual(bytes, other) }
    }

    // A non-copyable type cannot conform to CustomStringConvertible, and string interpolation
    // rejects it. Code that asks for a description by name gets no byte and no length.
    public var description: String { "[REDACTED]" }
    public var debugDescription: String { "[REDACTED]" }
}

/// Compares MACs and other short values. The time depends only on the lengths.
public func constantTimeEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    return reading(left, right) { leftBytes, rightBytes in
        // SAFETY: both have the same number of bytes.
        unsafe sodium_memcmp(leftBytes, rightBytes, left.count) == 0
    }
}

/// Wipes bytes that are not SecretBytes. The optimiser does not remove this.
public func wipe(_ bytes: inout MutableSpan<UInt8>) {
    let count = bytes.count
    writing(&bytes) { start in
        // SAFETY: the span's own bytes.
        unsafe sodium_memzero(start, count)
    }
}
