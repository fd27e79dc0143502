/// The names of records that hold items of the desktop's secrets, collections and aliases. Nobody
/// else may use names with their prefix.
package enum ItemName: Hashable, Sendable {
    case item(ItemID)
    case collection(ItemID)
    case alias([UInt8])

    /// NUL, "secret", NUL.
    package static let prefix: [UInt8] = [0, 0x73, 0x65, 0x63, 0x72, 0x65, 0x74, 0]

    private static let itemKind = UInt8(ascii: "i")
    private static let collectionKind = UInt8(ascii: "c")
    private static let aliasKind = UInt8(ascii: "a")

    package static func isReserved(_ name: [UInt8]) -> Bool {
        name.starts(with: prefix)
    }

    /// Nil if this is the name of any other record.
    package init?(_ name: Span<UInt8>) {
        let kindAt = Self.prefix.count
        guard name.count > kindAt else { return nil }
        for index in 0..<kindAt where name[index] != Self.prefix[index] { return nil }
        let rest = name.extracting((kindAt + 1)...)
        switch name[kindAt] {
        case Self.itemKind:
            guard let id = ItemID(rest), id != .zero else { return nil }
            self = .item(id)
        case Self.collectionKind:
            guard let id = ItemID(rest) else { return nil }
            self = .collection(id)
        case Self.aliasKind:
            guard rest.count > 0 else { return nil }
            var alias: [UInt8] = []
            for index in rest.indices { alias.append(rest[index]) }
            self = .alias(alias)
        default: return nil
        }
    }

    package var bytes: [UInt8] {
        switch self {
        case .item(let id): Self.prefix + [Self.itemKind] + id.bytes
        case .collection(let id): Self.prefix + [Self.collectionKind] + id.bytes
        case .alias(let name): Self.prefix + [Self.aliasKind] + name
        }
    }
}
