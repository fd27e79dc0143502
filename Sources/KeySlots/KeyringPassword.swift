import Secrets

/// The login password, kept to unlock a keyring after a login by finger: one block, sealed under
/// the store key. It exists only beside a passcode, and only while fingers can open the store.
public enum KeyringPassword: SealedContent {
    static let purpose = Purpose.keyring
    static let block = 13
    static let size = Block.payloadSize - 4 - Sealing.nonceSize - Sealing.tagSize

    /// The longest password that fits into the block.
    public static let limit = size - 2

    /// Padded, so that the disk does not show how long the password is.
    static func payload(
        _ password: borrowing SecretBytes, store: StoreID, storeKey: borrowing SecretBytes
    ) throws(KeyError) -> [UInt8] {
        guard password.count > 0, password.count <= limit else { throw .tooLong }
        do throws(SecretsError) {
            var text = try SecretBytes(count: size)
            text.withMutableBytes { text in
                text[0] = UInt8(truncatingIfNeeded: password.count)
                text[1] = UInt8(truncatingIfNeeded: password.count >> 8)
                password.withBytes { bytes in
                    for index in bytes.indices { text[2 + index] = bytes[index] }
                }
            }
            return try text.withBytes { (bytes) throws(SecretsError) in
                try SealedBlock<Self>.payload(bytes, at: block, store: store, storeKey: storeKey)
            }
        } catch {
            throw .secrets(error)
        }
    }

    static func open(
        _ payload: [UInt8], store: StoreID, storeKey: borrowing SecretBytes
    ) throws(KeyError) -> SecretBytes {
        let text = try SealedBlock<Self>(payload, at: block).open(store: store, storeKey: storeKey)
        let count = text.withBytes { Int($0[0]) | Int($0[1]) << 8 }
        guard count > 0, count <= limit else { throw .damaged(.block(block)) }
        return try secrets(try text.slice(2..<(2 + count)))
    }
}
