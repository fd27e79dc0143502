/// The name of a record: 1 to 255 bytes of any value. Written as a text it is that text's UTF-8.
public struct RecordName: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The bytes of the name.
    public var bytes: [UInt8]

    /// The name with these bytes.
    public init(bytes: [UInt8]) { self.bytes = bytes }

    /// The name with the UTF-8 of the text.
    public init(_ text: String) { bytes = Array(text.utf8) }

    /// The name with the UTF-8 of the text.
    public init(stringLiteral text: String) { self.init(text) }

    static let longest = 255

    /// Refuses a name that no record can have, before anything is sent.
    func check() throws(VaultError) {
        guard !bytes.isEmpty, bytes.count <= Self.longest else {
            throw VaultError(
                .invalidArgument, "the name of a record has 1 to \(Self.longest) bytes")
        }
    }
}

extension RecordName: CustomStringConvertible {
    /// The name as text; bytes that are no UTF-8 are shown as U+FFFD.
    public var description: String { String(decoding: bytes, as: UTF8.self) }
}

/// The name of a store. `OWNER/NAME` is one that another person shares with this one.
public struct StoreName: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The name as it is written.
    public var text: String

    /// The name with that text.
    public init(_ text: String) { self.text = text }

    /// The name with that text.
    public init(stringLiteral text: String) { self.init(text) }

    /// The store that each person has first.
    public static let `default`: StoreName = "default"

    var bytes: [UInt8] { Array(text.utf8) }

    func check() throws(VaultError) {
        guard !text.isEmpty, text.utf8.count <= 511, !text.utf8.contains(0) else {
            throw VaultError(.invalidArgument, "this is no name of a store")
        }
    }
}

extension StoreName: CustomStringConvertible {
    /// The name as it is written.
    public var description: String { text }
}
