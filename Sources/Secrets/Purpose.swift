/// What a hash is for: BLAKE2b's personalisation, so that one key serves many uses without mixing them.
public struct Purpose: Equatable, Sendable {
    /// 16 bytes, padded with zeroes.
    let bytes: [UInt8]

    public static let size = 16

    /// From an ASCII text of at most 16 bytes.
    public init(_ text: StaticString) {
        var bytes = Array(text.description.utf8)
        precondition(bytes.count <= Self.size, "a purpose has at most 16 bytes")
        bytes.append(contentsOf: repeatElement(0, count: Self.size - bytes.count))
        self.bytes = bytes
    }
}
