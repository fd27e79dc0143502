import Secrets

/// Of an item or a collection: 16 random bytes.
package struct ItemID: Hashable, Sendable {
    package static let size = 16
    /// In a message: one that is not stored yet. Among collections: the one that is always there.
    package static let zero = ItemID(first: 0, last: 0)

    private let first: UInt64
    private let last: UInt64

    private init(first: UInt64, last: UInt64) {
        self.first = first
        self.last = last
    }

    /// Nil unless these are 16 bytes.
    package init?(_ bytes: Span<UInt8>) {
        guard bytes.count == Self.size else { return nil }
        var (first, last) = (UInt64.zero, UInt64.zero)
        for index in 0..<8 {
            first = first << 8 | UInt64(bytes[index])
            last = last << 8 | UInt64(bytes[8 + index])
        }
        self.init(first: first, last: last)
    }

    package init?(_ bytes: [UInt8]) {
        self.init(bytes.span)
    }

    /// A new one.
    package static func random() throws(SecretsError) -> ItemID {
        while true {
            let made = ItemID(try Random.bytes(size))
            if let made, made != zero { return made }
        }
    }

    package var bytes: [UInt8] {
        [first, last].flatMap { half in
            (0..<8).map { UInt8(truncatingIfNeeded: half >> UInt64(56 - 8 * $0)) }
        }
    }
}
