import Posix
import Secrets

/// What keeps a store's keys from being read or written.
public enum KeyError: Error, Equatable, Sendable {
    /// The file is not there.
    case missing
    /// What is there cannot be trusted: nothing was tried, and nothing may be overwritten.
    case damaged(Damage)
    /// This slot does not open with this secret; the next one may.
    case wrongSecret
    /// The store was erased, or is being erased.
    case erased
    /// There is no such slot, or none that this change could leave standing.
    case noSuchSlot
    /// A name is longer than its block has room for.
    case tooLong
    /// What was to be made is there already.
    case alreadyExists
    /// A machine key is never made anew while stores exist.
    case storesExist
    /// The disk said no; what was to be written may be there or not.
    case storage(PosixError)
    /// Memory could not be had, or libsodium is not there.
    case secrets(SecretsError)
}

/// What is wrong with the files.
public enum Damage: Equatable, Sendable {
    /// `machine.key` is not 32 bytes long.
    case machineKey
    /// Sealed under another machine key: a restored backup or a cloned disk.
    case foreignMachineKey
    /// `slots` is not 64 KiB long.
    case fileSize
    /// This block is neither empty nor valid, or something stands behind it in its page.
    case block(Int)
    /// A living store without a single slot.
    case noSlot
    /// What was written is not what is read back.
    case readBack(Int)
}

func stored<R: ~Copyable>(_ body: @autoclosure () throws(PosixError) -> R) throws(KeyError) -> R {
    do { return try body() } catch { throw .storage(error) }
}

func secrets<R: ~Copyable>(
    _ body: @autoclosure () throws(SecretsError) -> R
) throws(KeyError) -> R {
    do { return try body() } catch { throw .secrets(error) }
}

func openFile(
    _ name: String, _ access: Folder.Access, in folder: Folder
) throws(KeyError) -> File {
    do {
        return try folder.file(name, access)
    } catch {
        if error.isMissing { throw .missing }
        throw error.isExisting ? .alreadyExists : .storage(error)
    }
}
