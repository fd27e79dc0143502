public import AppVault
internal import FoundationEssentials

extension KeyValueStore {
    /// The value of the record, decoded from JSON; nil if there is no such record.
    ///
    /// ```swift
    /// let account = try await store.value(Account.self, for: "imap")
    /// ```
    ///
    /// - Throws: ``VaultError/Code/decodingFailed`` if the record is something else; then the coder's
    ///   error is ``VaultError/underlying``.
    public func value<Value: Decodable>(
        _ type: Value.Type, for name: RecordName
    ) async throws(VaultError) -> Value? {
        guard let bytes = try await get(name) else { return nil }
        do {
            return try JSONDecoder().decode(type, from: Data(bytes))
        } catch {
            throw VaultError(
                .decodingFailed, "the record \(name) is no \(type)", underlying: error)
        }
    }

    /// Stores the value as JSON. It has a name of its own: bytes are `Encodable`, too, and would
    /// otherwise be stored as a list of numbers without a word.
    ///
    /// ```swift
    /// try await store.setValue(account, for: "imap")
    /// ```
    ///
    /// - Throws: ``VaultError/Code/encodingFailed`` if it has no JSON; then nothing is stored, and the
    ///   coder's error is ``VaultError/underlying``.
    public func setValue<Value: Encodable & Sendable>(
        _ value: Value, for name: RecordName
    ) async throws(VaultError) {
        let bytes: [UInt8]
        do {
            let encoder = JSONEncoder()
            // The same value gives the same bytes.
            encoder.outputFormatting = [.sortedKeys]
            bytes = Array(try encoder.encode(value))
        } catch {
            throw VaultError(
                .encodingFailed, "\(Value.self) could not be encoded", underlying: error)
        }
        try await set(bytes, for: name)
    }
}
