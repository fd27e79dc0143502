import ForeignStores
import Posix
import Wire

/// The store that things arrive in: what it has already, and what is added. Nothing that is there
/// is changed, so that an import may be cut short and begun again.
final class Arrivals {
    /// The same items have the same. Where attributes say nothing about an item, as those of a note
    /// do, its label counts too, and its secret.
    private struct Identity: Hashable {
        var collection: [UInt8]
        var attributes: [[UInt8]: [UInt8]]
        var label: [UInt8]?
    }

    private let connection: Connection
    private let store: [UInt8]
    /// The ids of what is there.
    private var present: [Identity: [[UInt8]]] = [:]
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
            let identity = identity(item.collection, item.label, item.attributeMap)
            if present[identity]?.contains(item.id) != true {
                present[identity, default: []].append(item.id)
            }
        }
        for collection in all.collections where collections[collection.label] == nil {
            collections[collection.label] = collection.id
        }
    }

    private func identity(
        _ collection: [UInt8], _ label: [UInt8], _ attributes: [[UInt8]: [UInt8]]
    ) -> Identity {
        let isBare = attributes.keys.allSatisfy { $0 == ForeignItem.schema }
        return Identity(
            collection: collection, attributes: attributes, label: isBare ? label : nil)
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

    /// Nil where only the secret can tell.
    func isPresent(_ item: ForeignItem, in collection: [UInt8]) -> Bool? {
        let identity = identity(collection, item.label, item.attributes)
        guard let ids = present[identity], !ids.isEmpty else { return false }
        return identity.label == nil ? true : nil
    }

    func isPresent(
        _ item: ForeignItem, _ secret: borrowing SecretBuffer, in collection: [UInt8]
    ) throws(ClientError) -> Bool {
        if let known = isPresent(item, in: collection) { return known }
        let identity = identity(collection, item.label, item.attributes)
        for id in present[identity] ?? [] where id != Self.unmade {
            guard try connection.hasSecret(secret, GetSecrets(store: store, ids: [id])) else {
                continue
            }
            return true
        }
        return false
    }

    /// With attributes of its own it replaces what has come by the same ones meanwhile, from a second
    /// import at the same time: so nothing is there twice.
    func put(
        _ item: ForeignItem, _ secret: borrowing SecretBuffer, in collection: [UInt8], isDry: Bool
    ) throws(ClientError) {
        let identity = identity(collection, item.label, item.attributes)
        guard !isDry else { return present[identity, default: []].append(Self.unmade) }
        var sent = Item()
        sent.collection = collection
        sent.label = item.label
        sent.contentType = item.contentType
        sent.attributes = item.attributes.sorted { $0.key.lexicographicallyPrecedes($1.key) }
            .map { .init(name: $0.key, value: $0.value) }
        sent.created = item.created
        sent.modified = item.modified
        let request = PutItem(store: store, item: sent, replace: identity.label == nil)
        let stored = try secret.withSpan { span throws(ClientError) in
            try connection.send(.itemPut, request, payload: span)
            return try connection.expect(.item, Item.self)
        }
        present[identity, default: []].append(stored.id)
    }
}

extension Item {
    fileprivate var attributeMap: [[UInt8]: [UInt8]] {
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
