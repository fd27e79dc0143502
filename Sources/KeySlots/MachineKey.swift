import Posix
import Secrets

/// The 32 bytes that bind a machine's stores to it. What is kept is what is needed: never the key itself.
public final class MachineKey: Sendable {
    public static let fileName = "machine.key"
    public static let size = 32
    public static let idSize = 16

    /// Tells machine keys apart; says nothing about the key.
    public let id: [UInt8]
    /// Under which blocks are authenticated.
    let blockKey: SecretBytes
    /// From which the slots' keys are derived.
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

    /// The key of this state folder; `.missing` where there is none, and then nothing is made.
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

    /// Makes the key where there is none and no store either, and loads it. Of two that make it at once one
    /// wins, and both get the winner's.
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
            // A key that nobody uses: left behind, it would do no harm.
            try? folder.remove(temporary)
            guard error.isExisting else { throw .storage(error) }
        }
        // The loser of a race as well: it must not use a key whose name may not last.
        try stored(try folder.remove(temporary))
        try stored(try folder.sync())
        return try load(in: folder)
    }
}
