import Posix
import Wire

/// Keeps items in this process alone: the collection `session`, and whatever a test needs.
@LoopActor
final class MemoryKeeper: Keeper {
    static let mostItems = 1_024
    static let mostBytes = 16 << 20

    let mirror = Mirror()
    var isOpen = true {
        didSet {
            if isOpen { wasOpen = true }
            turned?()
        }
    }
    private(set) var wasOpen: Bool
    var exists: Bool { true }
    var isAway = false {
        didSet { turned?() }
    }
    var opener = "secrets"
    var comesBy: UInt64 = 0
    var standing = Standing.inside
    var told: (@LoopActor (Mirror.Changes) -> Void)?
    var turned: (@LoopActor () -> Void)?
    private var secrets: [SecretID: KeptSecret] = [:]
    private var bytes = 0
    /// Of everything but the secrets.
    private var weight: Int {
        mirror.collections.keys.reduce(0) { sum, id in
            mirror.items(in: id).reduce(sum) { $0 + (mirror.item($1)?.weight ?? 0) }
        }
    }

    /// With these collections from the beginning.
    init(_ collections: [ItemCollection], isOpen: Bool = true) {
        self.isOpen = isOpen
        wasOpen = isOpen
        var changes = Mirror.Changes()
        for each in collections { mirror.put(each, &changes) }
    }

    private static var now: UInt64 { Clock.wallSeconds() }

    func ready(until deadline: UInt64) async -> Bool { true }

    private func tell(_ changes: Mirror.Changes) {
        if !changes.isEmpty { told?(changes) }
    }

    private func mustBeOpen() throws(KeeperError) {
        guard isOpen else { throw .locked }
    }

    func follow() async -> Bool { true }

    func put(
        _ item: Item, _ secret: WipedBuffer, replace: Bool, until deadline: UInt64
    ) async throws(KeeperError) -> Item {
        try mustBeOpen()
        guard let collection = SecretID(item.collection), mirror.collections[collection] != nil
        else { throw .notFound }
        var stored = item
        var former: SecretID?
        if replace {
            let wanted = Set(item.attributes)
            former = mirror.search(item.attributes, in: collection).first {
                mirror.item($0).map { Set($0.attributes) == wanted } ?? false
            }
        }
        let now = Self.now
        stored.created = former.flatMap { mirror.item($0)?.created } ?? now
        stored.modified = now
        let id = former ?? .random()
        stored.id = id.bytes
        guard former != nil || mirror.count < Self.mostItems else {
            throw .full("there are too many items")
        }
        try requireRoom(for: item)
        try keep(KeptSecret(contentType: item.contentType, bytes: secret), of: id)
        var changes = Mirror.Changes()
        mirror.put(stored, &changes)
        tell(changes)
        return stored
    }

    private func keep(_ secret: KeptSecret, of id: SecretID) throws(KeeperError) {
        let rest = bytes - (secrets[id]?.bytes.count ?? 0)
        guard rest + secret.bytes.count <= Self.mostBytes else {
            throw .full("there is no more room for secrets")
        }
        let locked = WipedBuffer(lockedCapacity: secret.bytes.count)
        secret.bytes.withBytes { locked.append($0) }
        bytes = rest + locked.count
        secrets[id] = KeptSecret(contentType: secret.contentType, bytes: locked)
    }

    func change(_ change: ChangedItem, until deadline: UInt64) async throws(KeeperError) {
        try mustBeOpen()
        guard var item = mirror.item(change.id) else { throw .notFound }
        if let label = change.label { item.label = label }
        if let attributes = change.attributes { item.attributes = attributes }
        if let secret = change.secret {
            try keep(secret, of: change.id)
            item.contentType = secret.contentType
        }
        try requireRoom(for: item)
        item.modified = Self.now
        var changes = Mirror.Changes()
        mirror.put(item, &changes)
        tell(changes)
    }

    private func requireRoom(for item: Item) throws(KeeperError) {
        guard weight + item.weight <= Self.mostBytes else {
            throw .full("there is no more room for attributes")
        }
    }

    func delete(_ item: SecretID, until deadline: UInt64) async throws(KeeperError) {
        try mustBeOpen()
        guard mirror.item(item) != nil else { throw .notFound }
        forget(item)
        var changes = Mirror.Changes()
        mirror.remove(item, &changes)
        tell(changes)
    }

    private func forget(_ item: SecretID) {
        if let old = secrets.removeValue(forKey: item) { bytes -= old.bytes.count }
    }

    func secrets(
        _ items: [SecretID], until deadline: UInt64
    ) async throws(KeeperError) -> [SecretID: KeptSecret] {
        try mustBeOpen()
        return secrets.filter { items.contains($0.key) }
    }

    func put(
        _ collection: ItemCollection, until deadline: UInt64
    ) async throws(KeeperError) -> ItemCollection {
        try mustBeOpen()
        var stored = collection
        stored.id = SecretID.random().bytes
        stored.created = Self.now
        return keep(stored)
    }

    func relabel(
        _ collection: ItemCollection, until deadline: UInt64
    ) async throws(KeeperError) -> ItemCollection {
        try mustBeOpen()
        return keep(collection)
    }

    private func keep(_ collection: ItemCollection) -> ItemCollection {
        var stored = collection
        stored.modified = Self.now
        var changes = Mirror.Changes()
        mirror.put(stored, &changes)
        tell(changes)
        return stored
    }

    func delete(collection: SecretID, until deadline: UInt64) async throws(KeeperError) {
        try mustBeOpen()
        guard mirror.collections[collection] != nil else { throw .notFound }
        for item in mirror.items(in: collection) { forget(item) }
        var changes = Mirror.Changes()
        mirror.remove(collection: collection, &changes)
        tell(changes)
    }

    func setAlias(
        _ name: [UInt8], _ collection: SecretID?, until deadline: UInt64
    ) async throws(KeeperError) {
        try mustBeOpen()
        mirror.setAlias(name, collection)
    }

    func lock(until deadline: UInt64) async throws(KeeperError) { isOpen = false }

    func hasBeenOpened() {}
}
