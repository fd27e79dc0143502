import Secrets
import Wire

/// The key of one index's hashes, drawn when the index is made: nobody can choose attributes that
/// have the same hash.
package final class ItemHashKey: Sendable {
    private let key: SecretBytes

    package init() throws(SecretsError) {
        key = try SecretBytes.random(SipHash.keySize)
    }

    /// Of an attribute's name and value, as they stand in a record.
    func hash(pair: Span<UInt8>) -> UInt64 {
        hash(pair)?.first ?? 0
    }

    /// Of a collection and all attributes of an item: the other half, so that it is no pair's.
    func hash(whole: Span<UInt8>) -> UInt64 {
        hash(whole)?.second ?? 0
    }

    /// The key has the right size, so nothing is refused.
    private func hash(_ bytes: Span<UInt8>) -> SipHash.Lanes? {
        try? SipHash.hash(bytes, key: key)
    }

    package func hash(_ attribute: Item.Attribute) -> UInt64 {
        hash(pair: ItemRecord.pair(attribute).span)
    }

    /// The attributes must be in order.
    package func hash(whole item: Item) -> UInt64 {
        hash(whole: ItemRecord.whole(item).span)
    }

    package func facts(_ item: Item) -> ItemFacts? {
        guard let id = ItemID(item.id), let collection = ItemID(item.collection) else { return nil }
        return ItemFacts(
            id: id, collection: collection,
            hashes: item.attributes.map { hash($0) } + [hash(whole: item)])
    }
}

/// What the index keeps of an item.
package struct ItemFacts: Equatable, Sendable {
    package var id: ItemID
    package var collection: ItemID
    /// One for each attribute, and then one for all of them together.
    package var hashes: [UInt64]

    package init(id: ItemID, collection: ItemID, hashes: [UInt64]) {
        self.id = id
        self.collection = collection
        self.hashes = hashes
    }
}
