/// What a listing or an export could not give.
public struct DamagedRecord: Equatable, Hashable, Sendable {
    public enum Kind: UInt8, CaseIterable, Sendable {
        /// A record that does not open.
        case broken = 1
        /// A record that opens, but nothing shows any more whether it is the one that was stored
        /// last: something else in its bucket is missing or was replaced.
        case unproven = 2
        /// In this bucket, or in one of this node's, records are missing or were replaced by older
        /// ones. Nobody knows which.
        case missing = 3
    }

    public let kind: Kind
    /// The row's id; of `missing`, the first one that the bucket can have.
    public let id: UInt64
    /// Empty if it cannot be read.
    public let name: [UInt8]

    public init(kind: Kind, id: UInt64, name: [UInt8]) {
        self.kind = kind
        self.id = id
        self.name = name
    }
}

/// What became of damage that the owner has acknowledged.
public struct Mended: Equatable, Sendable {
    /// Records that a damaged page had hidden, and are back.
    public var found = 0
    /// Rows that did not open, and are gone.
    public var removed = 0
    /// Records that are accepted as they are, although nothing showed that they were stored last.
    public var accepted = 0
}
