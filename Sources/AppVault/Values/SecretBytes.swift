/// A passcode, a passphrase or another secret: bytes that have one owner, cannot be copied, and are
/// wiped when that owner lets go of them.
///
/// A `String` cannot be wiped, so use one of these from where the secret is typed on. A secret
/// cannot be printed: there is no description of it.
public struct SecretBytes: ~Copyable, Sendable {
    private var bytes: WipedBytes

    /// A copy of the bytes; the original stays where it is.
    public init(copying bytes: Span<UInt8>) {
        self.bytes = WipedBytes(capacity: bytes.count)
        self.bytes.put(bytes)
    }

    /// A copy of the bytes; the original stays where it is.
    public init(copying bytes: [UInt8]) {
        self.init(copying: bytes.span)
    }

    /// The UTF-8 of a text. For tests, and for programs with a fixed passcode: the text itself is
    /// not wiped.
    public init(copying text: String) {
        self.init(copying: Array(text.utf8))
    }

    /// An empty one, to be filled by ``append(_:)``.
    public init() {
        bytes = WipedBytes(capacity: 64)
    }

    /// How many bytes there are.
    public var count: Int { bytes.count }

    /// Whether there are none.
    public var isEmpty: Bool { bytes.count == 0 }

    /// Adds a byte at the end.
    public mutating func append(_ byte: UInt8) {
        bytes.put(byte)
    }

    /// Takes the last character off: a byte, and those of UTF-8 that go on from it.
    public mutating func dropCharacter() {
        while bytes.count > 0, bytes.dropLast() & 0xC0 == 0x80 {}
    }

    /// Wipes all of it.
    public mutating func removeAll() {
        bytes.removeAll()
    }

    /// Lends the bytes for as long as the closure runs.
    public func withBytes<R: ~Copyable, E: Error>(
        _ body: (Span<UInt8>) throws(E) -> R
    ) throws(E) -> R {
        try bytes.withSpan(body)
    }

    /// Whether both are the same; takes the same time wherever they differ.
    public func isEqual(to other: borrowing SecretBytes) -> Bool {
        guard count == other.count else { return false }
        return withBytes { own in
            other.withBytes { other in
                var difference: UInt8 = 0
                for index in 0..<own.count { difference |= own[index] ^ other[index] }
                return difference == 0
            }
        }
    }
}
