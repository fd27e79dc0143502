import Posix
import Secrets

/// The 32 bytes that bind a machine's stores to it. This object keeps only what is derived from the
/// key, never the key itself.
public final class MachineKey: Sendable {
    public static let fileName = "machine.key"
    public static let size = 32
    public static let idSize = 16

    /// Distinguishes machine keys; reveals nothing about the key.
    public let id: [UInt8]
    /// The key that authenticates blocks.
    let blockKey: SecretBytes
    /// The key from which the keys of the slots are derived.
    let slotKey: SecretBytes

    package init(_ key: borrowing SecretBytes) throws(KeyError) {
        guard key.count == Self.size else { throw .damaged(.machineKey) }
        do {
            id = try key.withBytes { (bytes) throws(SecretsError) in
                try Hash.blake2b(bytes, purpose: .machineID, count: Self.idSize)
            }
            blockKey = try Hash.subkey(of: key, purpose: .blockKey)
            slotKey = try Hash.subkey(of: key, purpose: .slotKey)
        } catch {
            throw .secrets(error)
        }
    }

    /// Loads the key of this state folder. Throws `.missing` where there is none, and never makes
    /// one.
    public static func load(in folder: Folder) throws(KeyError) -> MachineKey {
        let file = try openFile(fileName, .read, in: folder)
        guard try stored(try file.size()) == size else { throw .damaged(.machineKey) }
        var key = try secrets(try SecretBytes(count: size))
        let count = try key.withMutableBytes { (bytes) throws(KeyError) in
            do throws(PosixError) {
                return try file.read(into: &bytes, at: 0)
            } catch {
                throw .storage(error)
            }
        }
        guard count == size else { throw .damaged(.machineKey) }
        return try MachineKey(key)
    }

    /// Makes the key if there is neither a key nor a store, and loads it. If two callers make it at
    /// the same time, one of them wins, and both load the winner's key.
    public static func make(
        in folder: Folder, stores: String = "stores"
    ) throws(KeyError) -> MachineKey {
        guard !folder.exists(fileName) else { throw .alreadyExists }
        if folder.exists(stores) {
            let names = try stored(try TextFile.names(in: "\(folder.path)/\(stores)"))
            guard names.isEmpty else { throw .storesExist }
        }
        let key = try secrets(try SecretBytes.random(size))
        let suffix = try secrets(try StoreID.random())
        let temporary = ".\(fileName).\(suffix)"
        do throws(PosixError) {
            let file = try folder.file(temporary, .createNew(mode: 0o400))
            try key.withBytes { (bytes) throws(PosixError) in try file.write(bytes, at: 0) }
            try file.sync()
            // Unlike a rename, a link never replaces what is there.
            try folder.link(temporary, to: fileName)
        } catch {
            // Nothing uses the temporary key, so it does no harm if it cannot be removed.
            try? folder.remove(temporary)
            guard error.isExisting else { throw .storage(error) }
        }
        // The loser of a race syncs too: it must not use a key whose name could still be lost in a
        // crash.
        try stored(try folder.remove(temporary))
        try stored(try folder.sync())
        return try load(in: folder)
    }
}
