import KeySlots
import Policy
import Posix
import Secrets
import Words

/// The login password that the store keeps for a login by finger.
extension StoreHost {
    package var keepsKeyringPassword: Bool { snapshot.hasKeyringPassword }

    /// The kept login password, for a login by finger; nil if there is none or it cannot be read.
    package func keyringPassword(_ opening: Opening) async -> SecretBox? {
        guard keepsKeyringPassword else { return nil }
        let kept = try? await inTurn(.own) { () async throws(Refusal) in
            let file = try requireLive()
            try require(opening.ground)
            return try await onDisk(file, .read) { (file) throws(KeyError) -> SecretBox? in
                guard let password = try file.keyringPassword(storeKey: opening.key.bytes) else {
                    return nil
                }
                return SecretBox(password)
            }
        }
        return kept ?? nil
    }

    /// False if this password was kept already.
    package func keepKeyringPassword(
        _ password: TypedPasscode, _ opening: Opening
    ) async throws(Refusal) -> Bool {
        try await inTurn(.own) { () async throws(Refusal) in
            let file = try requireLive()
            try require(opening.ground)
            return try await onDisk(file, .keyring) { (file) throws(KeyError) in
                try file.write(keyringPassword: password.bytes, storeKey: opening.key.bytes)
            }
        }
    }

    /// After the login password changed: replaces the kept one, if it was the former one. True if
    /// it was replaced.
    package func renewKeyringPassword(
        from former: TypedPasscode, to new: TypedPasscode, _ opening: Opening
    ) async throws(Refusal) -> Bool {
        try await inTurn(.own) { () async throws(Refusal) in
            let file = try requireLive()
            try require(opening.ground)
            return try await onDisk(file, .keyring) { (file) throws(KeyError) in
                let storeKey = opening.key
                guard let kept = try file.keyringPassword(storeKey: storeKey.bytes),
                    kept.matches(former.bytes)
                else { return false }
                return try file.write(keyringPassword: new.bytes, storeKey: storeKey.bytes)
            }
        }
    }

    /// False if none was kept.
    @discardableResult
    package func forgetKeyringPassword() async throws(Refusal) -> Bool {
        try await inTurn(.own) { () async throws(Refusal) in
            let file = try requireLive()
            guard keepsKeyringPassword else { return false }
            try await onDisk(file, .keyring) { (file) throws(KeyError) in
                try file.forgetKeyringPassword()
            }
            return true
        }
    }
}
