/// Stores as folders of plain files: for settings and other things that are no secret. Whoever may
/// read the folder may read the records.
///
/// Each record is a file that is replaced as a whole, so that a crash leaves the former value or the
/// new one. A call waits for the disk on the thread of its task.
public struct FileStorage: StoreProvider {
    private let folder: String
    private var context = StoreContext()

    /// The stores in that folder, which is made when the first store is.
    public init(folder: String) { self.folder = folder }

    /// The same place within a context, whose labels are folders around the store's.
    public func applying(_ context: StoreContext) -> FileStorage {
        var other = self
        other.context = context
        return other
    }

    private func path(_ name: StoreName) throws(VaultError) -> String {
        try name.check()
        // A mark at the end, because a label and a store may have the same name.
        let labels = context.path(name).map { FileName.encoded(Array($0.utf8)) }
        return folder + "/" + labels.joined(separator: "/") + ".store"
    }

    /// Whether there is a store of that name.
    public func exists(_ name: StoreName) async throws(VaultError) -> Bool {
        Files.isFolder(try path(name))
    }

    /// Makes an empty store.
    public func create(
        _ name: StoreName, with prompter: some Prompter
    ) async throws(VaultError) -> FileStore {
        let path = try self.path(name)
        let isNew: Bool
        do throws(SystemError) {
            isNew = try Files.makeFolder(path)
        } catch {
            throw .file(path, error)
        }
        guard isNew else { throw AppVault.exists(name) }
        return FileStore(path)
    }

    /// The store of that name.
    public func open(
        _ name: StoreName, with prompter: some Prompter
    ) async throws(VaultError) -> FileStore {
        guard try await exists(name) else { throw missing(name) }
        return FileStore(try path(name))
    }

    /// Removes the folder of the store.
    public func remove(_ name: StoreName, with prompter: some Prompter) async throws(VaultError) {
        guard try await exists(name) else { throw missing(name) }
        let path = try self.path(name)
        do throws(SystemError) {
            try Files.removeFolder(path)
        } catch {
            throw .file(path, error)
        }
    }
}

/// Records in plain files.
public actor FileStore: KeyValueStore {
    private let path: String
    private let hub = StoreEventHub()

    init(_ path: String) { self.path = path }

    /// The value of the record; nil if there is no such record.
    public func get(_ name: RecordName) async throws(VaultError) -> [UInt8]? {
        try name.check()
        try checkCancelled()
        let file = self.file(name)
        do throws(SystemError) {
            return try Files.read(file)
        } catch {
            if error.isMissing { return nil }
            throw .file(file, error)
        }
    }

    /// Stores the value, in place of one that is there.
    public func set(_ value: [UInt8], for name: RecordName) async throws(VaultError) {
        try name.check()
        try checkValue(value)
        try checkCancelled()
        let file = self.file(name)
        do throws(SystemError) {
            let inner = FileName.folders(name.bytes)
            if !inner.isEmpty, Files.isFolder(path) { try Files.makeFolder("\(path)/\(inner)") }
            try Files.replace(file, value)
        } catch {
            throw error.isMissing ? gone : .file(file, error)
        }
        hub.post(StoreEvent(.recordSet, record: name))
    }

    /// Removes the record; returns whether there was one.
    @discardableResult
    public func delete(_ name: RecordName) async throws(VaultError) -> Bool {
        try name.check()
        try checkCancelled()
        let file = self.file(name)
        do throws(SystemError) {
            try Files.remove(file)
        } catch {
            if error.isMissing { return false }
            throw .file(file, error)
        }
        hub.post(StoreEvent(.recordDeleted, record: name))
        return true
    }

    /// The names of all records that begin so.
    public func names(beginningWith prefix: [UInt8]) async throws(VaultError) -> [RecordName] {
        try checkCancelled()
        do throws(SystemError) {
            return try names(in: path, after: "").filter { $0.bytes.starts(with: prefix) }
        } catch {
            throw error.isMissing ? gone : .file(path, error)
        }
    }

    /// What is stored and removed from now on by this very object.
    public nonisolated func events() -> StoreEvents { hub.events() }

    private var gone: VaultError {
        VaultError(.doesNotExist, "there is no store at \(path)")
    }

    private func file(_ name: RecordName) -> String { "\(path)/\(FileName.encoded(name.bytes))" }

    private func names(in folder: String, after begin: String) throws(SystemError) -> [RecordName] {
        var found: [RecordName] = []
        for name in try Files.names(folder) {
            let whole = begin.isEmpty ? name : "\(begin)/\(name)"
            if name.hasSuffix(FileName.more) {
                found += try names(in: "\(folder)/\(name)", after: whole)
            } else if let bytes = FileName.decoded(whole) {
                found.append(RecordName(bytes: bytes))
            }
        }
        return found
    }
}

extension VaultError {
    static func file(_ path: String, _ error: SystemError) -> VaultError {
        VaultError(.fileFailed, "\(path): \(error.text)")
    }
}
