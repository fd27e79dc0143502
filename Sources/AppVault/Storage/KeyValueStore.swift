/// Records by name: what a program needs of a place for its secrets or its settings.
///
/// ``Store`` keeps them in AppVault, ``MemoryStore`` in memory, ``FileStore`` in plain files,
/// ``SecretServiceStore`` in the desktop's keyring, and ``CompositeStorage`` in memory until there
/// is another place. A program that takes `some KeyValueStore` runs with each, and its tests with
/// ``MemoryStore``.
///
/// A name has 1 to 255 bytes and a value at most 1 MiB, wherever they are kept; the empty value is a
/// value. All calls may be made at the same time from any task.
public protocol KeyValueStore: Sendable {
    /// The value of the record; nil if there is no such record.
    ///
    /// A task that is cancelled does not wait for the answer: the call throws
    /// ``VaultError/Code/cancelled``.
    func get(_ name: RecordName) async throws(VaultError) -> [UInt8]?

    /// Stores the value, in place of one that is there. When the call returns, the value is where it
    /// stays.
    ///
    /// A task that is cancelled before the call has begun its work stores nothing, and the call
    /// throws ``VaultError/Code/cancelled``. After that it waits for the outcome.
    func set(_ value: [UInt8], for name: RecordName) async throws(VaultError)

    /// Removes the record; returns whether there was one. Cancelled like ``set(_:for:)``.
    @discardableResult
    func delete(_ name: RecordName) async throws(VaultError) -> Bool

    /// The names of all records that begin so, in no order that means anything. Cancelled like
    /// ``get(_:)``.
    func names(beginningWith prefix: [UInt8]) async throws(VaultError) -> [RecordName]

    /// What happens to the store from now on, for this caller alone.
    func events() -> StoreEvents
}

extension KeyValueStore {
    /// The names of all records, in no order that means anything.
    public func names() async throws(VaultError) -> [RecordName] {
        try await names(beginningWith: [])
    }

    /// The names of all records that begin so, in no order that means anything.
    public func names(beginningWith prefix: String) async throws(VaultError) -> [RecordName] {
        try await names(beginningWith: Array(prefix.utf8))
    }
}

// In bytes, as the daemon has it.
let longestValue = 1 << 20

func checkValue(_ value: [UInt8]) throws(VaultError) {
    guard value.count <= longestValue else {
        throw VaultError(
            .tooLarge, "a value has at most \(longestValue) bytes",
            parameters: ["limit": "\(longestValue)"])
    }
}

/// Refuses to begin what a cancelled task asks for.
func checkCancelled() throws(VaultError) {
    if Task.isCancelled { throw .cancelled }
}
