import Posix
import Secrets

/// Why a store's keys cannot be read or written.
public enum KeyError: Error, Equatable, Sendable {
    /// The file is not there.
    case missing
    /// The file cannot be trusted: nothing was tried, and nothing may be overwritten.
    case damaged(Damage)
    /// This slot does not open with this secret; the next one may.
    case wrongSecret
    /// The store was erased, or is being erased.
    case erased
    /// There is no such slot, or the change would remove the last slot that opens the store.
    case noSuchSlot
    /// A name is longer than its block has room for.
    case tooLong
    /// The file that was to be made already exists.
    case alreadyExists
    /// A machine key is never made anew while stores exist.
    case storesExist
    /// A system call on the disk failed. What was to be written may or may not be on the disk.
    case storage(PosixError)
    /// Memory could not be allocated, or libsodium failed.
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
    /// This block is neither empty nor valid, or the rest of its page is not zero.
    case block(Int)
    /// A live store without a single slot.
    case noSlot
    /// What was read back is not what was written.
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
