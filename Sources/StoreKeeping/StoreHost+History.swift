import KeySlots
import Policy
import Secrets
import Words

/// Former passcodes, which may not come back.
extension StoreHost {
    package func isReused(
        _ candidate: SecretBox, _ key: SecretBox, latest count: UInt32,
        _ among: PasscodeHistory.Among
    ) async throws(Refusal) -> Bool {
        let history = try await history(key)
        return try await history.isReused(latest: Int(count), among) {
            (salt) async throws(Refusal) -> SecretBox in
            try await self.historyHash(candidate, salt)
        }
    }

    private func history(_ key: SecretBox) async throws(Refusal) -> PasscodeHistory {
        try await inTurn(.own) { () async throws(Refusal) in
            let file = try requireLive()
            return try await onDisk(file, .read) {
                (file) throws(KeyError) in
                try Self.with(key) { (storeKey) throws(KeyError) in
                    try file.history(storeKey: storeKey)
                }
            }
        }
    }

    /// The present passcode gets its entry while somebody knows it.
    package func remember(_ opening: Opening, keep count: UInt32) async throws(Refusal) {
        let key = opening.key
        guard count > 0, let typed = opening.typed, let slot = slot(of: opening.ground),
            try await !history(key).has(slot)
        else { return }
        let hash = HistoryHash(
            of: slot.details, hash: try await historyHash(typed, slot.details.salt))
        let change = HistoryChange(former: nil, present: hash, keep: Int(count))
        try await inTurn(.own) { () async throws(Refusal) in
            try await onDisk(try requireLive(), .terms) { (file) throws(KeyError) in
                try Self.with(key) { (storeKey) throws(KeyError) in
                    try file.write(change, storeKey: storeKey)
                }
            }
        }
    }

    /// What a passcode leaves in the history, under the salt of its slot.
    package func historyHash(_ typed: SecretBox, _ salt: [UInt8]) async throws(Refusal) -> SecretBox
    {
        try await workers.deriveKey(
            try typed.copied(), salt, PasscodeHistory.cost, .own, of: identity.uid)
    }

    /// A look at a key that is needed once more.
    package nonisolated static func with<R: Sendable>(
        _ key: SecretBox, _ body: (borrowing SecretBytes) throws(KeyError) -> R
    ) throws(KeyError) -> R {
        let result: Result<R, KeyError>?
        do {
            result = try key.read { (secret) throws(SecretsError) in
                Result { () throws(KeyError) in try body(secret) }
            }
        } catch {
            throw .secrets(error)
        }
        guard let result else { throw .noSuchSlot }
        return try result.get()
    }
}

extension SecretBox {
    package func copied() throws(Refusal) -> SecretBox {
        do throws(SecretsError) {
            let copy = try read { (secret) throws(SecretsError) in SecretBox(try secret.copy()) }
            guard let copy else { throw .wrongSize }
            return copy
        } catch {
            throw .outOfMemory
        }
    }
}
