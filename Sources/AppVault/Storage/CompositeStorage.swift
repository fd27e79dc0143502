/// Records that are in memory first, and in a persistent store once there is one.
///
/// An application may keep things before its person has made a store: during onboarding, for
/// example. ``makePersistent(in:)`` hands them over.
///
/// ```swift
/// let storage = CompositeStorage()
/// try await storage.set(address, for: "server")            // in memory
/// try await storage.makePersistent {
///     try await vault.openStore("mail", orCreate: .ownPasscode, with: prompter)
/// }
/// ```
public actor CompositeStorage: KeyValueStore {
    private var memory = MemoryStore()
    private var persistent: (any KeyValueStore)?
    private var additional: [String: any KeyValueStore] = [:]
    private var isHandingOver = false
    /// Set or deleted in memory while what is there is handed over.
    private var changed: Set<RecordName> = []
    private var forwarding: Task<Void, Never>?
    private let hub = StoreEventHub()

    /// An empty one, in memory.
    public init() {}

    deinit { forwarding?.cancel() }

    /// Whether there is a persistent store.
    public var isPersistent: Bool { persistent != nil }

    private var present: any KeyValueStore { persistent ?? memory }

    // MARK: Records

    /// The value of the record; nil if there is no such record.
    public func get(_ name: RecordName) async throws(VaultError) -> [UInt8]? {
        try await present.get(name)
    }

    /// Stores the value, in place of one that is there.
    public func set(_ value: [UInt8], for name: RecordName) async throws(VaultError) {
        let store = present
        if isHandingOver { changed.insert(name) }
        try await store.set(value, for: name)
        hub.post(StoreEvent(.recordSet, record: name))
    }

    /// Removes the record; returns whether there was one.
    @discardableResult
    public func delete(_ name: RecordName) async throws(VaultError) -> Bool {
        let store = present
        if isHandingOver { changed.insert(name) }
        let wasThere = try await store.delete(name)
        if wasThere { hub.post(StoreEvent(.recordDeleted, record: name)) }
        return wasThere
    }

    /// The names of all records that begin so.
    public func names(beginningWith prefix: [UInt8]) async throws(VaultError) -> [RecordName] {
        try await present.names(beginningWith: prefix)
    }

    /// What is stored and removed through this object from now on, and what happens to the
    /// persistent store as a whole.
    public nonisolated func events() -> StoreEvents { hub.events() }

    // MARK: Memory and the persistent store

    /// Makes or opens the persistent store, and hands over to it what is in memory. From then on all
    /// records are there.
    ///
    /// If the closure fails, or a value cannot be stored, everything is in memory as before. Where the
    /// store has another value under the same name already, the one in memory is newer and takes its
    /// place; a ``StoreEvent/Kind/collided`` says so.
    ///
    /// - Throws: ``VaultError/Code/alreadyExists`` if there is a persistent store already,
    ///   ``VaultError/Code/busy`` if one is being made.
    public func makePersistent<Storage: KeyValueStore>(
        in make: sending () async throws -> Storage
    ) async throws(VaultError) {
        guard persistent == nil else {
            throw VaultError(.alreadyExists, "there is a persistent store already")
        }
        guard !isHandingOver else {
            throw VaultError(.busy, "a persistent store is being made")
        }
        isHandingOver = true
        defer {
            isHandingOver = false
            changed = []
        }
        let store: Storage
        do {
            store = try await make()
        } catch {
            throw VaultError(error)
        }
        changed = Set(try await memory.names())
        while let name = changed.popFirst() {
            if let value = try await memory.get(name) {
                if let former = try await store.get(name), former != value {
                    hub.post(StoreEvent(.collided, record: name))
                }
                try await store.set(value, for: name)
            } else {
                // It was handed over, and deleted since.
                try await store.delete(name)
            }
        }
        persistent = store
        memory = MemoryStore()
        let events = store.events()
        forwarding = Task { [hub] in
            // Of records this object tells itself, in the order of its calls.
            for await event in events where event.record == nil { hub.post(event) }
        }
    }

    /// Lets go of the persistent store, for example because it is locked from now on. What is in it
    /// stays there; here there is an empty memory again.
    public func releasePersistentStore() {
        persistent = nil
        forwarding?.cancel()
        forwarding = nil
    }

    // MARK: Additional stores

    /// Keeps another store under a label.
    ///
    /// - Throws: ``VaultError/Code/alreadyExists`` if the label is taken.
    public func register(_ store: any KeyValueStore, as label: String) throws(VaultError) {
        guard additional[label] == nil else {
            throw VaultError(.alreadyExists, "there is a store with the label \(label) already")
        }
        additional[label] = store
    }

    /// The store with that label; nil if there is none.
    public func store(_ label: String) -> (any KeyValueStore)? { additional[label] }

    /// Forgets the store with that label; returns whether there was one.
    @discardableResult
    public func unregister(_ label: String) -> Bool { additional.removeValue(forKey: label) != nil }
}
