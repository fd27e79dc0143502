/// Stores in memory: for tests, and for what is to be forgotten with the process.
public final class MemoryStorage: StoreProvider {
    private let stores: Shared
    private let context: StoreContext

    private final class Shared: Sendable {
        let all = Locked<[[String]: MemoryStore]>([:])
    }

    /// A place without stores.
    public convenience init() { self.init(Shared(), StoreContext()) }

    private init(_ stores: Shared, _ context: StoreContext) {
        self.stores = stores
        self.context = context
    }

    /// The same stores, those of that context.
    public func applying(_ context: StoreContext) -> Self { Self(stores, context, ()) }

    private convenience init(_ stores: Shared, _ context: StoreContext, _: Void) {
        self.init(stores, context)
    }

    /// Whether there is a store of that name.
    public func exists(_ name: StoreName) async throws(VaultError) -> Bool {
        stores.all.withLock { $0[context.path(name)] != nil }
    }

    /// Makes an empty store.
    public func create(
        _ name: StoreName, with prompter: some Prompter
    ) async throws(VaultError) -> MemoryStore {
        try name.check()
        let made = stores.all.withLock { all -> MemoryStore? in
            guard all[context.path(name)] == nil else { return nil }
            let store = MemoryStore()
            all[context.path(name)] = store
            return store
        }
        guard let made else { throw AppVault.exists(name) }
        return made
    }

    /// The store of that name.
    public func open(
        _ name: StoreName, with prompter: some Prompter
    ) async throws(VaultError) -> MemoryStore {
        guard let store = stores.all.withLock({ $0[context.path(name)] }) else {
            throw missing(name)
        }
        return store
    }

    /// Forgets the store and all in it.
    public func remove(_ name: StoreName, with prompter: some Prompter) async throws(VaultError) {
        guard stores.all.withLock({ $0.removeValue(forKey: context.path(name)) }) != nil else {
            throw missing(name)
        }
    }
}

/// Records in memory.
public final class MemoryStore: KeyValueStore {
    private let records = Locked<[RecordName: [UInt8]]>([:])
    private let hub = StoreEventHub()

    /// An empty store.
    public init() {}

    /// The value of the record; nil if there is no such record.
    public func get(_ name: RecordName) async throws(VaultError) -> [UInt8]? {
        try name.check()
        try checkCancelled()
        return records.withLock { $0[name] }
    }

    /// Stores the value, in place of one that is there.
    public func set(_ value: [UInt8], for name: RecordName) async throws(VaultError) {
        try name.check()
        try checkValue(value)
        try checkCancelled()
        records.withLock { $0[name] = value }
        hub.post(StoreEvent(.recordSet, record: name))
    }

    /// Removes the record; returns whether there was one.
    @discardableResult
    public func delete(_ name: RecordName) async throws(VaultError) -> Bool {
        try name.check()
        try checkCancelled()
        guard records.withLock({ $0.removeValue(forKey: name) }) != nil else { return false }
        hub.post(StoreEvent(.recordDeleted, record: name))
        return true
    }

    /// The names of all records that begin so.
    public func names(beginningWith prefix: [UInt8]) async throws(VaultError) -> [RecordName] {
        try checkCancelled()
        return records.withLock { $0.keys.filter { $0.bytes.starts(with: prefix) } }
    }

    /// What is stored and removed from now on.
    public func events() -> StoreEvents { hub.events() }
}
