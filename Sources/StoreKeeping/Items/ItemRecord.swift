import Posix
import Wire

/// Where the parts of an item lie in the value of its record: FORMAT.md has the layout. Each record
/// has one encoding alone.
package struct ItemRecord: Equatable, Sendable {
    package static let version: UInt8 = 1

    package let created: UInt64
    package let modified: UInt64
    private let label: Range<Int>
    private let contentType: Range<Int>
    private let collection: Range<Int>
    /// One behind the other, each with its lengths.
    private let pairs: [Range<Int>]
    package let secret: Range<Int>

    package init(_ value: Span<UInt8>) throws(WireError) {
        var reader = Reader()
        guard try reader.u8(value) == Self.version else { throw .unknownValue }
        created = try reader.u64(value)
        modified = try reader.u64(value)
        label = try Self.text(&reader, value, limit: Limits.itemText)
        contentType = try Self.text(&reader, value, limit: Limits.text)
        collection = try reader.skip(ItemID.size, value)
        let count = Int(try reader.u16(value))
        guard count <= Limits.attributes else { throw .fieldTooLong }
        var pairs: [Range<Int>] = []
        pairs.reserveCapacity(count)
        var before: Range<Int>?
        for _ in 0..<count {
            let start = reader.position
            let name = try Self.text(&reader, value, limit: Limits.itemText)
            _ = try Self.text(&reader, value, limit: Limits.itemText)
            if let before, !Self.isBefore(value.extracting(before), value.extracting(name)) {
                throw .unknownValue
            }
            before = name
            pairs.append(start..<reader.position)
        }
        self.pairs = pairs
        let slice = try reader.payload(value, limit: Limits.value)
        secret = slice.start..<slice.start + slice.count
        try reader.end(value)
    }

    private static func text(
        _ reader: inout Reader, _ value: Span<UInt8>, limit: Int
    ) throws(WireError) -> Range<Int> {
        let count = Int(try reader.u16(value))
        guard count <= limit else { throw .fieldTooLong }
        let place = try reader.skip(count, value)
        guard UTF8Check.isText(value, start: place.lowerBound, count: count) else {
            throw .notText
        }
        return place
    }

    private static func isBefore(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
        for index in 0..<min(left.count, right.count) where left[index] != right[index] {
            return left[index] < right[index]
        }
        return left.count < right.count
    }

    // MARK: what it says

    package func collection(in value: Span<UInt8>) -> ItemID {
        ItemID(value.extracting(collection)) ?? .zero
    }

    /// All but the secret.
    package func item(_ id: ItemID, in value: Span<UInt8>) -> Item {
        var item = Item()
        item.id = id.bytes
        item.collection = Self.copy(value, collection)
        item.label = Self.copy(value, label)
        item.contentType = Self.copy(value, contentType)
        item.created = created
        item.modified = modified
        item.attributes = pairs.map { pair in
            let nameCount = Int(value[pair.lowerBound]) | Int(value[pair.lowerBound + 1]) << 8
            let name = pair.lowerBound + 2..<pair.lowerBound + 2 + nameCount
            return Item.Attribute(
                name: Self.copy(value, name),
                value: Self.copy(value, name.upperBound + 2..<pair.upperBound))
        }
        return item
    }

    package func contentType(in value: Span<UInt8>) -> [UInt8] {
        Self.copy(value, contentType)
    }

    private static func copy(_ value: Span<UInt8>, _ range: Range<Int>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(range.count)
        for index in range { bytes.append(value[index]) }
        return bytes
    }

    /// What the index keeps of it.
    package func facts(_ id: ItemID, in value: Span<UInt8>, _ key: ItemHashKey) -> ItemFacts {
        var hashes: [UInt64] = []
        hashes.reserveCapacity(pairs.count + 1)
        for pair in pairs { hashes.append(key.hash(pair: value.extracting(pair))) }
        let end = pairs.last?.upperBound ?? collection.upperBound + 2
        hashes.append(
            key.hash(whole: value.extracting(collection.lowerBound..<end)))
        return ItemFacts(id: id, collection: collection(in: value), hashes: hashes)
    }

    // MARK: encoding

    /// The attributes must be in order: `inOrder` makes them so.
    package static func encode(_ item: Item, secret: Span<UInt8>) -> WipedBuffer {
        var front: [UInt8] = [version]
        front.put64(item.created)
        front.put64(item.modified)
        var (label, contentType) = (item.label, item.contentType)
        front.text(&label, limit: Limits.itemText)
        front.text(&contentType, limit: Limits.text)
        front += whole(item)
        let value = WipedBuffer(capacity: front.count + 4 + secret.count)
        value.append(front.span)
        var length: [UInt8] = []
        length.put32(UInt32(secret.count))
        value.append(length.span)
        value.append(secret)
        return value
    }

    /// The collection and the attributes, as they stand in the record.
    static func whole(_ item: Item) -> [UInt8] {
        var bytes = item.collection
        bytes.put16(UInt16(item.attributes.count))
        for attribute in item.attributes { bytes += pair(attribute) }
        return bytes
    }

    static func pair(_ attribute: Item.Attribute) -> [UInt8] {
        var bytes: [UInt8] = []
        var (name, value) = (attribute.name, attribute.value)
        bytes.text(&name, limit: Limits.itemText)
        bytes.text(&value, limit: Limits.itemText)
        return bytes
    }

    /// In the order of their names; nil if two have the same name.
    package static func inOrder(_ attributes: [Item.Attribute]) -> [Item.Attribute]? {
        let sorted = attributes.sorted { $0.name.lexicographicallyPrecedes($1.name) }
        for (left, right) in zip(sorted, sorted.dropFirst()) where left.name == right.name {
            return nil
        }
        return sorted
    }
}

/// A collection's record. That of a deleted one stays until the items in it are gone.
package struct CollectionRecord: Equatable, Sendable {
    package static let version: UInt8 = 1

    package var label: [UInt8] = []
    package var created: UInt64 = 0
    package var modified: UInt64 = 0
    package var isDeleted = false

    package init(label: [UInt8] = [], created: UInt64 = 0, modified: UInt64 = 0) {
        self.label = label
        self.created = created
        self.modified = modified
    }

    package init(_ value: Span<UInt8>) throws(WireError) {
        var reader = Reader()
        guard try reader.u8(value) == Self.version else { throw .unknownValue }
        isDeleted = try reader.flag(value)
        created = try reader.u64(value)
        modified = try reader.u64(value)
        label = try reader.text(value, limit: Limits.collectionText)
        try reader.end(value)
    }

    package func encode() -> WipedBuffer {
        var bytes: [UInt8] = [Self.version]
        var (isDeleted, label) = (isDeleted, label)
        bytes.flag(&isDeleted)
        bytes.put64(created)
        bytes.put64(modified)
        bytes.text(&label, limit: Limits.collectionText)
        return WipedBuffer(bytes: bytes)
    }
}

/// What an alias means: a collection of its own store, or another store, which programs see as one
/// collection.
package enum AliasTarget: Equatable, Sendable {
    case collection(ItemID)
    case store(ItemID)

    package var id: ItemID {
        switch self {
        case .collection(let id), .store(let id): id
        }
    }
}

package enum AliasRecord {
    private static let ofCollection: UInt8 = 1
    private static let ofStore: UInt8 = 2

    package static func decode(_ value: Span<UInt8>) throws(WireError) -> AliasTarget {
        var reader = Reader()
        let version = try reader.u8(value)
        let id = ItemID(try reader.fixed(ItemID.size, value))
        try reader.end(value)
        guard let id else { throw .cutShort }
        switch version {
        case ofCollection: return .collection(id)
        case ofStore: return .store(id)
        default: throw .unknownValue
        }
    }

    package static func encode(_ target: AliasTarget) -> WipedBuffer {
        switch target {
        case .collection(let id): WipedBuffer(bytes: [ofCollection] + id.bytes)
        case .store(let id): WipedBuffer(bytes: [ofStore] + id.bytes)
        }
    }
}
