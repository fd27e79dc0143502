/// One large guarded buffer, made once, for values that only pass through. A guarded block for each
/// value would cost more than the request itself.
public struct WipedSlab: ~Copyable, Sendable {
    private var memory: SecretBytes

    public init(count: Int) throws(SecretsError) {
        memory = try SecretBytes(count: count)
    }

    public var count: Int { memory.count }

    public borrowing func withBytes<R: ~Copyable, E: Error>(
        _ body: (Span<UInt8>) throws(E) -> R
    ) throws(E) -> R {
        try memory.withBytes(body)
    }

    public mutating func withMutableBytes<R: ~Copyable, E: Error>(
        _ body: (inout MutableSpan<UInt8>) throws(E) -> R
    ) throws(E) -> R {
        try memory.withMutableBytes(body)
    }

    /// Wipes the part of the range that lies within the slab.
    public mutating func wipe(_ range: Range<Int>) {
        memory.wipe(range)
    }

    public var description: String { "[REDACTED]" }
}
