import Wire

/// Before the first opening nobody knows what a search would find. So it finds one locked item, and
/// unlocking that one asks the person and gives what the search has found then.
struct Placeholders {
    struct Search: Hashable {
        let attributes: [Item.Attribute]
        /// Nil: in all.
        let collection: SecretID?
    }

    private static let most = 1_024

    private var searches: [SecretID: Search] = [:]
    private var ids: [Search: SecretID] = [:]
    private var order: [SecretID] = []

    /// The same search has the same one.
    mutating func id(of search: Search) -> SecretID {
        if let known = ids[search] { return known }
        if order.count >= Self.most {
            let oldest = order.removeFirst()
            if let search = searches.removeValue(forKey: oldest) { ids[search] = nil }
        }
        let id = SecretID.random()
        searches[id] = search
        ids[search] = id
        order.append(id)
        return id
    }

    func search(_ id: SecretID) -> Search? { searches[id] }
}

/// Whose the items of the collection `session` are: one program must not fill it.
struct Passers {
    static let mostItems = 256
    static let mostBytes = 4 << 20

    private struct Owned {
        let owner: String
        let bytes: Int
    }

    private var items: [SecretID: Owned] = [:]

    func has(_ client: String) -> Bool { items.values.contains { $0.owner == client } }

    /// `id` is the item that gets them, if it is there already.
    func hasRoom(for bytes: Int, of client: String, in id: SecretID? = nil) -> Bool {
        let own = items.filter { $0.value.owner == client && $0.key != id }.values
        return own.count < Self.mostItems
            && own.reduce(bytes) { $0 + $1.bytes } <= Self.mostBytes
    }

    func bytes(of id: SecretID) -> Int { items[id]?.bytes ?? 0 }

    mutating func keep(_ id: SecretID, _ bytes: Int, of client: String) {
        items[id] = Owned(owner: client, bytes: bytes)
    }

    mutating func remove(_ id: SecretID) { items[id] = nil }
}

extension Item {
    /// What it takes in memory, without its secret.
    var weight: Int {
        attributes.reduce(label.count + 256) { $0 + $1.name.count + $1.value.count + 64 }
    }
}
