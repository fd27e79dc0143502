internal import CSodium

/// SipHash-2-4 with 128 bits, as two lanes that can be summed.
public enum SipHash {
    public static let keySize = 16

    public struct Lanes: Equatable, Sendable {
        public var first: UInt64
        public var second: UInt64

        public init(first: UInt64, second: UInt64) {
            self.first = first
            self.second = second
        }
    }

    public static func hash(
        _ message: Span<UInt8>, key: borrowing SecretBytes
    ) throws(SecretsError) -> Lanes {
        try Sodium.start()
        guard key.count == keySize else { throw .wrongSize }
        var lanes = InlineArray<16, UInt8>(repeating: 0)
        var span = lanes.mutableSpan
        writing(&span) { out in
            reading(message) { bytes in
                // SAFETY: it writes 16 bytes, and the key's size is checked.
                _ = unsafe crypto_shorthash_siphashx24(
                    out, bytes, UInt64(message.count), key.memory)
            }
        }
        return Lanes(first: littleEndian(lanes.span, 0), second: littleEndian(lanes.span, 8))
    }

    private static func littleEndian(_ bytes: Span<UInt8>, _ offset: Int) -> UInt64 {
        var number: UInt64 = 0
        for index in 0..<8 { number |= UInt64(bytes[offset + index]) << UInt64(8 * index) }
        return number
    }
}
