import Posix
import Wire

/// What is known of the items of a store, without a secret: ids, labels, attributes and times. It
/// stays when the store locks.
@LoopActor
final class Mirror {
    /// One item, packed: a desktop may have a hundred thousand.
    private struct Slot {
        let id: SecretID
        let collection: SecretID
        let modified: UInt64
        let packed: [UInt8]

        var item: Item {
            var reader = Reader()
            // What stands here was written by this code.
            return (try? Item(&reader, packed.span)) ?? Item()
        }
    }

    private(set) var collections: [SecretID: ItemCollection] = [:]
    private(set) var aliases: [[UInt8]: SecretID] = [:]
    private var slots: [Slot?] = []
    private var free: [UInt32] = []
    private var places: [SecretID: UInt32] = [:]
    private var index = AttributeIndex()
    /// Those that the answer under way has named, where it names all.
    private var named: Set<SecretID>?

    var count: Int { places.count }
    /// About what it takes in memory, in bytes.
    private(set) var weight = 0
    private static let slotWeight = 256

    func item(_ id: SecretID) -> Item? { places[id].flatMap { slots[Int($0)]?.item } }

    func collection(of id: SecretID) -> SecretID? {
        places[id].flatMap { slots[Int($0)]?.collection }
    }

    /// The items of a collection, in no order that means anything.
    func items(in collection: SecretID) -> [SecretID] {
        slots.compactMap { $0.flatMap { $0.collection == collection ? $0.id : nil } }
    }

    /// Those that have all of these attributes, what was changed last first.
    func search(_ attributes: [Item.Attribute], in collection: SecretID? = nil) -> [SecretID] {
        var found: [Slot] = []
        func take(_ slot: Slot?) {
            guard let slot, collection == nil || collection == slot.collection else { return }
            if !attributes.isEmpty {
                let own = Set(slot.item.attributes)
                guard attributes.allSatisfy(own.contains) else { return }
            }
            found.append(slot)
        }
        if attributes.isEmpty {
            slots.forEach(take)
        } else {
            for place in index.candidates(attributes) { take(slots[Int(place)]) }
        }
        if found.count > 1 {
            found.sort { ($0.modified, $1.id) > ($1.modified, $0.id) }
        }
        return found.map(\.id)
    }

    // MARK: changes

    /// What is different from before.
    struct Changes: Equatable, Sendable {
        var created: [Place] = []
        var changed: [Place] = []
        var deleted: [Place] = []
        var newCollections: [SecretID] = []
        var changedCollections: [SecretID] = []
        var goneCollections: [SecretID] = []
        /// It was there before, and is only known now.
        var isFirst = false

        var isEmpty: Bool { self == Changes() }
    }

    struct Place: Equatable, Sendable {
        let collection: SecretID
        let id: SecretID
    }

    func put(_ item: Item, _ changes: inout Changes) {
        guard let id = SecretID(item.id), let collection = SecretID(item.collection) else { return }
        named?.insert(id)
        var sink = PackedSink()
        item.write(to: &sink)
        let slot = Slot(
            id: id, collection: collection, modified: item.modified, packed: sink.packed)
        let place: UInt32
        if let known = places[id], let old = slots[Int(known)] {
            guard old.packed != slot.packed else { return }
            weight -= old.packed.count + Self.slotWeight
            index.remove(old.item.attributes, known)
            if old.collection == collection {
                changes.changed.append(Place(collection: collection, id: id))
            } else {
                changes.deleted.append(Place(collection: old.collection, id: id))
                changes.created.append(Place(collection: collection, id: id))
            }
            place = known
        } else {
            changes.created.append(Place(collection: collection, id: id))
            place = free.popLast() ?? UInt32(slots.count)
            if Int(place) == slots.count { slots.append(nil) }
            places[id] = place
        }
        slots[Int(place)] = slot
        weight += slot.packed.count + Self.slotWeight
        index.add(item.attributes, place)
    }

    func remove(_ id: SecretID, _ changes: inout Changes) {
        guard let place = places.removeValue(forKey: id), let old = slots[Int(place)] else {
            return
        }
        index.remove(old.item.attributes, place)
        slots[Int(place)] = nil
        weight -= old.packed.count + Self.slotWeight
        free.append(place)
        changes.deleted.append(Place(collection: old.collection, id: id))
    }

    func put(_ collection: ItemCollection, _ changes: inout Changes) {
        guard let id = SecretID(collection.id) else { return }
        switch collections.updateValue(collection, forKey: id) {
        case nil: changes.newCollections.append(id)
        case let old?: if old != collection { changes.changedCollections.append(id) }
        }
    }

    func remove(collection: SecretID, _ changes: inout Changes) {
        for id in items(in: collection) { remove(id, &changes) }
        aliases = aliases.filter { $0.value != collection }
        if collections.removeValue(forKey: collection) != nil {
            changes.goneCollections.append(collection)
        }
    }

    func setAlias(_ name: [UInt8], _ collection: SecretID?) { aliases[name] = collection }

    /// One page of what the daemon tells. Collections and aliases are on the first page, all of them.
    func apply(_ news: ItemNews, isFirst: Bool, _ changes: inout Changes) {
        if isFirst || news.isAnew {
            named = news.isAnew ? [] : nil
            for each in news.collections { put(each, &changes) }
            let there = Set(news.collections.compactMap { SecretID($0.id) })
            for each in Array(collections.keys) where !there.contains(each) {
                remove(collection: each, &changes)
            }
            aliases = [:]
            for alias in news.aliases { aliases[alias.name] = SecretID(alias.collection) }
        }
        for item in news.items { put(item, &changes) }
        for id in news.gone.compactMap({ SecretID($0) }) { remove(id, &changes) }
        guard news.cursor == 0, let named else { return }
        self.named = nil
        for id in Array(places.keys) where !named.contains(id) { remove(id, &changes) }
    }

    /// The store is no more.
    func clear(_ changes: inout Changes) {
        for id in Array(places.keys) { remove(id, &changes) }
        for id in Array(collections.keys) where id != .zero { remove(collection: id, &changes) }
        aliases = [:]
    }
}

/// Into bytes that stay.
private struct PackedSink: Sink {
    private var bytes: [UInt8] = []

    /// With no room for more, as an array has that has grown: it would stay, too.
    var packed: [UInt8] {
        var packed: [UInt8] = []
        packed.reserveCapacity(bytes.count)
        packed.append(contentsOf: bytes)
        return packed
    }

    mutating func put(_ byte: UInt8) { bytes.append(byte) }
    mutating func put(_ more: Span<UInt8>) { more.append(to: &bytes) }
}

extension Span<UInt8> {
    fileprivate func append(to bytes: inout [UInt8]) {
        // SAFETY: the buffer is read while the span is there.
        unsafe withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
    }
}
