// For programs of their own; the module in other people's processes has no use for them.
#if !hasFeature(Embedded)

    /// What a program of the desktop keeps, but for the secret itself: that follows as a payload
    /// where it is sent.
    public struct Item: Body, Fields, Equatable {
        public struct Attribute: Fields, Hashable, Sendable {
            public var name: [UInt8] = []
            public var value: [UInt8] = []

            public init(name: [UInt8], value: [UInt8]) {
                self.name = name
                self.value = value
            }

            init() {}

            mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
                coder.text(&name, limit: Limits.itemText)
                coder.text(&value, limit: Limits.itemText)
            }
        }

        /// 16 bytes; zero where it is not stored yet.
        public var id = [UInt8](repeating: 0, count: 16)
        /// 16 bytes; zero is the collection that is always there, `login`.
        public var collection = [UInt8](repeating: 0, count: 16)
        public var label: [UInt8] = []
        public var contentType: [UInt8] = []
        /// Each name once.
        public var attributes: [Attribute] = []
        /// Seconds since 1970; zero where it is not stored yet: the daemon's clock counts.
        public var created: UInt64 = 0
        public var modified: UInt64 = 0

        public init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.fixed(&id, 16)
            coder.fixed(&collection, 16)
            coder.text(&label, limit: Limits.itemText)
            coder.text(&contentType, limit: Limits.text)
            coder.list(&attributes, .u16(0...Limits.attributes))
            coder.u64(&created)
            coder.u64(&modified)
        }
    }

    /// Items in it are found and locked together.
    public struct ItemCollection: Body, Fields, Equatable {
        public var id = [UInt8](repeating: 0, count: 16)
        public var label: [UInt8] = []
        public var created: UInt64 = 0
        public var modified: UInt64 = 0

        public init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.fixed(&id, 16)
            coder.text(&label, limit: Limits.collectionText)
            coder.u64(&created)
            coder.u64(&modified)
        }
    }

    /// The secret follows as the payload. Answered by the item as it is stored.
    public struct PutItem: Body, Fields, Equatable {
        public var store: [UInt8] = []
        /// With an id of zero it is a new one, with another id that one, whether it is there or
        /// not; with times of zero they are now.
        public var item = Item()
        /// If the collection has an item with exactly these attributes, that one gets everything
        /// but the id and the time when it was created.
        public var replace = false

        public init(store: [UInt8], item: Item, replace: Bool) {
            self.store = store
            self.item = item
            self.replace = replace
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.text(&store, limit: Limits.storeText)
            coder.part(&item)
            coder.flag(&replace)
        }
    }

    /// What of an item is to become what stands here; the rest of it stays. The secret follows as
    /// the payload, empty where it stays. Answered by the item as it is stored.
    public struct ChangeItem: Body, Fields, Equatable {
        public var store: [UInt8] = []
        public var item = Item()
        public var label = false
        public var attributes = false
        /// And its content type.
        public var secret = false

        public init(store: [UInt8], item: Item) {
            self.store = store
            self.item = item
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.text(&store, limit: Limits.storeText)
            coder.part(&item)
            coder.flag(&label)
            coder.flag(&attributes)
            coder.flag(&secret)
        }
    }

    /// Which items have all of these attributes. Without any, all are found.
    public struct FindItems: Body, Fields, Equatable {
        public var store: [UInt8] = []
        /// In one collection alone, or in all of the store.
        public var isOneCollection = false
        public var collection = [UInt8](repeating: 0, count: 16)
        public var attributes: [Item.Attribute] = []
        /// 0 at first, then what the page before gave.
        public var cursor: UInt64 = 0

        public init(store: [UInt8], attributes: [Item.Attribute], cursor: UInt64 = 0) {
            self.store = store
            self.attributes = attributes
            self.cursor = cursor
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.text(&store, limit: Limits.storeText)
            coder.flag(&isOneCollection)
            coder.fixed(&collection, 16)
            coder.list(&attributes, .u16(0...Limits.attributes))
            coder.u64(&cursor)
        }
    }

    /// One page of what was found; cursor 0 ends it.
    public struct ItemList: Body, Fields, Equatable {
        public var cursor: UInt64 = 0
        public var items: [Item] = []

        public init(cursor: UInt64, items: [Item]) {
            self.cursor = cursor
            self.items = items
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.u64(&cursor)
            coder.list(&items, .u16(0...Limits.page))
        }
    }

    /// An item or a collection of a store: `itemDelete`, `collectionDelete`.
    public struct StoredID: Body, Fields, Equatable {
        public var store: [UInt8] = []
        public var id = [UInt8](repeating: 0, count: 16)

        public init(store: [UInt8], id: [UInt8]) {
            self.store = store
            self.id = id
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.text(&store, limit: Limits.storeText)
            coder.fixed(&id, 16)
        }
    }

    /// The secrets of several items.
    public struct GetSecrets: Body, Fields, Equatable {
        public var store: [UInt8] = []
        public var ids: [[UInt8]] = []

        public init(store: [UInt8], ids: [[UInt8]]) {
            self.store = store
            self.ids = ids
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.text(&store, limit: Limits.storeText)
            coder.each(&ids, .u16(1...Limits.page), blank: []) { coder, id in
                coder.fixed(&id, 16)
            }
        }
    }

    /// As many as fit, in the order in which they were asked for; the peer asks for the others once
    /// more. An item that is not there is left out, and counts as given. The secrets follow as one
    /// payload, one behind the other.
    public struct GivenSecrets: Body, Fields, Equatable {
        public struct Entry: Fields, Equatable, Sendable {
            public var id = [UInt8](repeating: 0, count: 16)
            public var contentType: [UInt8] = []
            public var length: UInt32 = 0

            public init(id: [UInt8], contentType: [UInt8], length: UInt32) {
                self.id = id
                self.contentType = contentType
                self.length = length
            }

            init() {}

            mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
                coder.fixed(&id, 16)
                coder.text(&contentType, limit: Limits.text)
                coder.u32(&length)
            }
        }

        /// How many of those asked for are dealt with.
        public var done: UInt16 = 0
        public var entries: [Entry] = []

        public init(done: UInt16, entries: [Entry]) {
            self.done = done
            self.entries = entries
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.u16(&done)
            coder.list(&entries, .u16(0...Limits.page))
        }
    }

    /// What has changed among a store's items since the peer asked last.
    public struct ItemChanges: Body, Fields, Equatable {
        public var store: [UInt8] = []
        /// Both as the answer before gave them; zero at first.
        public var opening: UInt64 = 0
        public var since: UInt64 = 0
        /// 0 at first, then what the page before gave.
        public var cursor: UInt64 = 0

        public init(store: [UInt8], opening: UInt64 = 0, since: UInt64 = 0, cursor: UInt64 = 0) {
            self.store = store
            self.opening = opening
            self.since = since
            self.cursor = cursor
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.text(&store, limit: Limits.storeText)
            coder.u64(&opening)
            coder.u64(&since)
            coder.u64(&cursor)
        }
    }

    /// One page; cursor 0 ends it. What changes while pages are asked for is in the next answer:
    /// `since` is then what the first page gave as `now`.
    public struct ItemNews: Body, Fields, Equatable {
        public struct Alias: Fields, Equatable, Sendable {
            public var name: [UInt8] = []
            public var collection = [UInt8](repeating: 0, count: 16)

            public init(name: [UInt8], collection: [UInt8]) {
                self.name = name
                self.collection = collection
            }

            init() {}

            mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
                coder.text(&name, limit: Limits.aliasText)
                coder.fixed(&collection, 16)
            }
        }

        public var opening: UInt64 = 0
        public var now: UInt64 = 0
        /// The first page of all items: the peer forgets what it had, and whatever pages came
        /// before. It is so at first, after another opening, and where too much has happened since.
        /// The pages that follow it are not anew.
        public var isAnew = false
        public var cursor: UInt64 = 0
        /// All of them, on the first page; on others there are none.
        public var collections: [ItemCollection] = []
        public var aliases: [Alias] = []
        public var items: [Item] = []
        /// The ids of items that are no more. Those of a collection that is no more are not named.
        public var gone: [[UInt8]] = []

        public init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.u64(&opening)
            coder.u64(&now)
            coder.flag(&isAnew)
            coder.u64(&cursor)
            coder.list(&collections, .u16(0...Limits.collections))
            coder.list(&aliases, .u16(0...Limits.collections))
            coder.list(&items, .u16(0...Limits.page))
            coder.each(&gone, .u16(0...Limits.page), blank: []) { coder, id in
                coder.fixed(&id, 16)
            }
        }
    }

    /// Makes a collection, or changes the label of one. Answered by the collection as it is stored.
    public struct PutCollection: Body, Fields, Equatable {
        public var store: [UInt8] = []
        /// Then its id does not count, and it gets one. Otherwise the id says which one it is.
        public var isNew = false
        /// Times are not taken from here.
        public var collection = ItemCollection()

        /// New if its id is zero and nothing else is said.
        public init(store: [UInt8], collection: ItemCollection, isNew: Bool? = nil) {
            self.store = store
            self.collection = collection
            self.isNew = isNew ?? collection.id.allSatisfy { $0 == 0 }
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.text(&store, limit: Limits.storeText)
            coder.flag(&isNew)
            coder.part(&collection)
        }
    }

    /// From now on this name means that collection, or none.
    public struct SetAlias: Body, Fields, Equatable {
        public var store: [UInt8] = []
        public var name: [UInt8] = []
        public var isNone = false
        public var collection = [UInt8](repeating: 0, count: 16)

        public init(store: [UInt8], name: [UInt8], collection: [UInt8]?) {
            self.store = store
            self.name = name
            isNone = collection == nil
            if let collection { self.collection = collection }
        }

        init() {}

        mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
            coder.text(&store, limit: Limits.storeText)
            coder.text(&name, limit: Limits.aliasText)
            coder.flag(&isNone)
            coder.fixed(&collection, 16)
        }
    }

#endif
