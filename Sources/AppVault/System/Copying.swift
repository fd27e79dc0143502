/// The bytes of a span, in memory of their own.
func copied(_ bytes: Span<UInt8>) -> [UInt8] {
    // SAFETY: the buffer is only read while the span is alive.
    unsafe bytes.withUnsafeBufferPointer { unsafe Array($0) }
}
