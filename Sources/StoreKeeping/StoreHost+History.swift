import KeySlots
import Policy
import Secrets
import Words

/// Former passcodes, which may not be used again.
extension StoreHost {
    package func isReused(
        _ candidate: TypedPasscode, _ key: StoreKey, latest count: UInt32,
        _ among: PasscodeHistory.Among
    ) async throws(Refusal) -> Bool {
        let history = try await history(key)
        return try await history.isReused(latest: Int(count), among) {
            (salt) async throws(Refusal) -> SecretBox in
            try await self.historyHash(candidate, salt)
        }
    }

    private func history(_ key: StoreKey) async throws(Refusal) -> PasscodeHistory {
        try await inTurn(.own) { () async throws(Refusal) in
            let file = try requireLive()
            return try await onDisk(file, .read) {
                (file) throws(KeyError) in
                try file.history(storeKey: key.bytes)
            }
        }
    }

    /// Enters the present passcode into the history now, because the person has just typed it.
    package func remember(_ opening: Opening, keep count: UInt32) async throws(Refusal) {
        let key = opening.key
        guard count > 0, let typed = opening.typed, let slot = slot(of: opening.ground),
            slot.details.way == .own, try await !history(key).has(slot)
        else { return }
        let hash = HistoryHash(
            of: slot.details, hash: try await historyHash(typed, slot.details.salt))
        let change = HistoryChange(former: nil, present: hash, keep: Int(count))
        try await inTurn(.own) { () async throws(Refusal) in
            try await onDisk(try requireLive(), .terms) { (file) throws(KeyError) in
                try file.write(change, storeKey: key.bytes)
            }
        }
    }

    /// What a passcode leaves in the history, under the salt of its slot.
    package func historyHash(_ typed: TypedPasscode, _ salt: [UInt8]) async throws(Refusal)
        -> SecretBox
    {
        try await workers.deriveKey(
            typed, salt, PasscodeHistory.cost, .own, of: identity.uid)
    }
}
