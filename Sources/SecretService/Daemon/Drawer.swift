import Wire

/// A store that programs see as one collection.
struct Drawer: Equatable {
    let id: SecretID
    /// As requests name it: with its owner's name before it where it is somebody else's.
    private(set) var name: [UInt8]
    let kind: Kind
    /// The store that it follows, if it follows one.
    let leader: [UInt8]?
    let role: StoreRole
    let createdAt: UInt64
    /// It is a collection also while it is empty, and before it was opened.
    let isMarked: Bool

    enum Kind: Equatable {
        /// Its own passcode opens it, or what opens the store that it follows.
        case own
        /// What opens the person's store `default` opens it.
        case shared
    }

    /// Nil where it is no store for that. Shared configuration holds no secrets, and a store of the
    /// person's own that was not made for it has nothing to do with a desktop.
    init?(_ entry: StoreList.Entry) {
        guard let id = SecretID(entry.store), id != .zero else { return nil }
        switch entry.lock {
        case .locked, .unlocked, .retryLocked, .barred: break
        case .absent, .erased, .damaged, .ownerChanged: return nil
        }
        let isMarked = CollectionMark.isOn(entry.store)
        switch entry.kind {
        case .shared where entry.role != .none: kind = .shared
        case .own where isMarked, .follows where isMarked: kind = .own
        case .shared, .own, .follows, .configuration: return nil
        }
        self.id = id
        self.isMarked = isMarked
        leader = entry.kind == .follows ? entry.parent : nil
        role = entry.role
        createdAt = entry.createdAt
        name =
            entry.role == .owner
            ? entry.name : entry.owner.name + [UInt8(ascii: "/")] + entry.name
    }

    var standing: Standing {
        switch (role, kind) {
        case (.owner, .own): .own
        case (.owner, .shared): .ownShared
        case (.writer, _), (.reader, _), (.none, _): .others
        }
    }

    var collection: ItemCollection {
        var collection = ItemCollection()
        collection.id = id.bytes
        collection.label = name
        (collection.created, collection.modified) = (createdAt, createdAt)
        return collection
    }

    func renamed(_ name: [UInt8]) -> Drawer {
        var renamed = self
        renamed.name = name
        return renamed
    }
}
