import ForeignStores
import Posix
import Wire

/// The same items have the same, in one collection. Where attributes say nothing about an item, as
/// those of a note do, its label counts too, and its secret.
struct ItemIdentity: Hashable {
    private var attributes: [[UInt8]: [UInt8]]
    private var label: [UInt8]?

    init(_ label: [UInt8], _ attributes: [[UInt8]: [UInt8]]) {
        self.attributes = attributes
        // Some programs write it and others leave it out, and both mean the same.
        if attributes[ForeignItem.schema] == ForeignItem.generic {
            self.attributes[ForeignItem.schema] = nil
        }
        if attributes.keys.allSatisfy({ $0 == ForeignItem.schema }) { self.label = label }
    }

    var isBare: Bool { label != nil }
}

/// The store that things arrive in: what it has already, and what is added. Nothing that is there
/// is changed, so that an import may be cut short and begun again.
final class Arrivals {
    private struct Identity: Hashable {
        var collection: [UInt8]
        var item: ItemIdentity
    }

    /// What has this identity already.
    private enum Present {
        case stored([UInt8])
        /// A dry run would have stored it. What it says of its secret is enough to tell it from another.
        case planned(Int)
    }

    /// What the store has of an item that comes.
    enum Presence: Equatable {
        case absent
        case same
        /// With the same attributes, and another secret.
        case different
    }

    private let connection: Connection
    private let store: [UInt8]
    private var present: [Identity: [Present]] = [:]
    private var ids: Set<[UInt8]> = []
    private var collections: [[UInt8]: [UInt8]] = [:]

    private static let login = [UInt8](repeating: 0, count: 16)
    /// Stands for a collection that a dry run does not make.
    private static let unmade = [UInt8](repeating: 0xFF, count: 16)

    /// With `isEmpty` it is a store that is not there yet.
    init(_ connection: Connection, store: [UInt8], isEmpty: Bool) throws(ClientError) {
        self.connection = connection
        self.store = store
        if !isEmpty { try look() }
    }

    private func look() throws(ClientError) {
        // What cannot be read is not known; the same item may come once more.
        var damaged: [DamagedRecords.Entry] = []
        let all = try connection.allItems(store: store, damaged: &damaged)
        for item in all.items {
            guard ids.insert(item.id).inserted else { continue }
            let identity = identity(item.collection, item.label, item.attributeMap)
            present[identity, default: []].append(.stored(item.id))
        }
        for collection in all.collections where collections[collection.label] == nil {
            collections[collection.label] = collection.id
        }
    }

    private func identity(
        _ collection: [UInt8], _ label: [UInt8], _ attributes: [[UInt8]: [UInt8]]
    ) -> Identity {
        Identity(collection: collection, item: ItemIdentity(label, attributes))
    }

    // MARK: Collections

    func collection(_ landing: Landing, isDry: Bool) throws(ClientError) -> [UInt8] {
        guard case .labelled(let label) = landing else { return Self.login }
        if let id = collections[label] { return id }
        guard !isDry else { return Self.unmade }
        var collection = ItemCollection()
        collection.label = label
        let made = try connection.ask(
            .collectionPut, PutCollection(store: store, collection: collection),
            for: .collection, ItemCollection.self)
        collections[label] = made.id
        return made.id
    }

    // MARK: Items

    /// Whether there is anything that it could be; only the secret tells whether it is the same.
    func hasLike(_ item: ForeignItem, in collection: [UInt8]) -> Bool {
        present[identity(collection, item.label, item.attributes)] != nil
    }

    func presence(
        of item: ForeignItem, _ secret: borrowing SecretBuffer, in collection: [UInt8]
    ) throws(ClientError) -> Presence {
        let identity = identity(collection, item.label, item.attributes)
        guard let there = present[identity] else { return .absent }
        for each in there {
            switch each {
            case .stored(let id):
                let request = GetSecrets(store: store, ids: [id])
                if try connection.hasSecret(secret, request) { return .same }
            case .planned(let hash): if hash == Self.hash(secret) { return .same }
            }
        }
        return identity.item.isBare ? .absent : .different
    }

    /// Under a key of this process.
    private static func hash(_ secret: borrowing SecretBuffer) -> Int {
        var hasher = Hasher()
        secret.withSpan { span in for place in span.indices { hasher.combine(span[place]) } }
        return hasher.finalize()
    }

    /// With attributes of its own it replaces what has come by the same ones meanwhile, from a second
    /// import at the same time: so nothing is there twice.
    func put(
        _ item: ForeignItem, _ secret: borrowing SecretBuffer, in collection: [UInt8], isDry: Bool
    ) throws(ClientError) {
        let identity = identity(collection, item.label, item.attributes)
        guard !isDry else {
            return present[identity, default: []].append(.planned(Self.hash(secret)))
        }
        var sent = Item()
        sent.collection = collection
        sent.label = item.label
        sent.contentType = item.contentType
        sent.attributes = item.attributes.sorted { $0.key.lexicographicallyPrecedes($1.key) }
            .map { .init(name: $0.key, value: $0.value) }
        sent.created = item.created
        sent.modified = item.modified
        let request = PutItem(store: store, item: sent, replace: !identity.item.isBare)
        let stored = try secret.withSpan { span throws(ClientError) in
            try connection.send(.itemPut, request, payload: span)
            return try connection.expect(.item, Item.self)
        }
        present[identity, default: []].append(.stored(stored.id))
    }
}

extension Item {
    var attributeMap: [[UInt8]: [UInt8]] {
        Dictionary(attributes.map { ($0.name, $0.value) }) { $1 }
    }
}

extension Connection {
    fileprivate func hasSecret(
        _ secret: borrowing SecretBuffer, _ request: GetSecrets
    ) throws(ClientError) -> Bool {
        try send(.itemSecrets, request)
        try receive(.secrets)
        let (given, slice) = try readPayload(GivenSecrets.self, limit: Limits.frame)
        defer { release() }
        guard !given.entries.isEmpty, slice.count == secret.count else { return false }
        return withPayload(slice) { there in
            secret.withSpan { here in here.indices.allSatisfy { here[$0] == there[$0] } }
        }
    }
}
