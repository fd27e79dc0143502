/// The desktop's keyring as a place for stores, for machines on which no appvaultd runs:
/// gnome-keyring, KWallet, KeePassXC, or whatever owns `org.freedesktop.secrets` on the session bus.
///
/// Each record is an item of the keyring's default collection. Other programs of the same person can
/// read it there, and over the session bus it goes as it is: a keyring keeps secrets from others who
/// have the disk, and not from the person's own programs.
///
/// A store has no passcode of its own; the keyring asks the person where it is locked.
public struct SecretServiceStorage: StoreProvider {
    private let application: String
    private let bus: String
    private var context = StoreContext()

    /// The stores of one application in the keyring.
    ///
    /// - Parameters:
    ///   - application: A name that no other application has, such as `org.example.Mail`.
    ///   - bus: The address of the bus; nil: the session's.
    public init(application: String, bus: String? = nil) {
        self.application = application
        self.bus = bus ?? BusAddress.session
    }

    /// The same place within a context, whose labels are attributes of each item. Programs that name
    /// the same access group share their stores, whatever their application.
    public func applying(_ context: StoreContext) -> SecretServiceStorage {
        var other = self
        other.context = context
        return other
    }

    private static let schema = "xdg:schema"
    static let store = "org.appvault.Store"
    static let record = "org.appvault.Record"

    private func attributes(_ name: StoreName) -> [String: String] {
        var attributes = ["store": name.text, Self.schema: Self.store]
        if let group = context.accessGroup {
            attributes["access-group"] = group
        } else {
            attributes["application"] = application
        }
        attributes["folder"] = context.folder ?? ""
        return attributes
    }

    private func connect(_ name: StoreName) async throws(VaultError) -> SecretService {
        try name.check()
        // D-Bus has no text with a NUL.
        for text in [application, context.accessGroup ?? "", context.folder ?? ""] {
            guard !text.utf8.contains(0) else {
                throw VaultError(.invalidArgument, "a label cannot have a NUL in it")
            }
        }
        return try await SecretService.connect(bus)
    }

    /// Whether there is a store of that name.
    public func exists(_ name: StoreName) async throws(VaultError) -> Bool {
        let service = try await connect(name)
        return try await !service.items(attributes(name)).isEmpty
    }

    /// Makes an empty store. Where two programs do so at the same time, both may succeed, and have
    /// the same one.
    public func create(
        _ name: StoreName, with prompter: some Prompter
    ) async throws(VaultError) -> SecretServiceStore {
        let service = try await connect(name)
        let attributes = attributes(name)
        try await service.unlock()
        guard try await service.items(attributes).isEmpty else { throw AppVault.exists(name) }
        try await service.put("\(application): \(name)", attributes, [])
        return SecretServiceStore(service, attributes, label: "\(application): \(name)")
    }

    /// The store of that name. The keyring asks the person where it is locked.
    public func open(
        _ name: StoreName, with prompter: some Prompter
    ) async throws(VaultError) -> SecretServiceStore {
        let service = try await connect(name)
        guard try await !service.items(attributes(name)).isEmpty else { throw missing(name) }
        try await service.unlock()
        return SecretServiceStore(service, attributes(name), label: "\(application): \(name)")
    }

    /// Removes the store and all its records.
    public func remove(_ name: StoreName, with prompter: some Prompter) async throws(VaultError) {
        let store = try await open(name, with: prompter)
        for record in try await store.names() { try await store.delete(record) }
        try await store.removeMark()
    }
}

/// Records in the desktop's keyring.
public final class SecretServiceStore: KeyValueStore {
    private let service: SecretService
    private let mark: [String: String]
    private let label: String
    private let hub = StoreEventHub()

    init(_ service: SecretService, _ mark: [String: String], label: String) {
        self.service = service
        self.mark = mark
        self.label = label
    }

    /// Attributes are texts without a NUL, so a name is written as a file's would be.
    private func attributes(_ name: RecordName?) -> [String: String] {
        var attributes = mark
        attributes["xdg:schema"] = SecretServiceStorage.record
        if let name { attributes["record"] = FileName.escaped(name.bytes) }
        return attributes
    }

    /// The value of the record; nil if there is no such record.
    public func get(_ name: RecordName) async throws(VaultError) -> [UInt8]? {
        try name.check()
        try checkCancelled()
        guard let item = try await service.items(attributes(name)).first else { return nil }
        return try await service.secret(item)
    }

    /// Stores the value, in place of one that is there.
    public func set(_ value: [UInt8], for name: RecordName) async throws(VaultError) {
        try name.check()
        try checkValue(value)
        try checkCancelled()
        try await service.put(
            "\(label): \(FileName.escaped(name.bytes))", attributes(name), value)
        hub.post(StoreEvent(.recordSet, record: name))
    }

    /// Removes the record; returns whether there was one.
    @discardableResult
    public func delete(_ name: RecordName) async throws(VaultError) -> Bool {
        try name.check()
        try checkCancelled()
        let items = try await service.items(attributes(name))
        for item in items { try await service.delete(item) }
        if !items.isEmpty { hub.post(StoreEvent(.recordDeleted, record: name)) }
        return !items.isEmpty
    }

    /// The names of all records that begin so.
    public func names(beginningWith prefix: [UInt8]) async throws(VaultError) -> [RecordName] {
        try checkCancelled()
        var names: Set<RecordName> = []
        for item in try await service.items(attributes(nil)) {
            guard let text = try await service.attributes(item)["record"],
                let bytes = FileName.unescaped(text), bytes.starts(with: prefix)
            else { continue }
            names.insert(RecordName(bytes: bytes))
        }
        return Array(names)
    }

    /// What is stored and removed from now on by this very object.
    public func events() -> StoreEvents { hub.events() }

    func removeMark() async throws(VaultError) {
        for item in try await service.items(mark) { try await service.delete(item) }
    }
}
