internal import CLinux

/// Files of a store's folder, for those who do more with a file than read it to its end.
public enum StoreFile {
    /// The folder's path without a symbolic link in it: what opens the files behind it refuses
    /// links.
    public static func realPath(of folder: String) throws(PosixError) -> String {
        // SAFETY: a null buffer asks for an allocated answer, which is freed here.
        guard let text = unsafe realpath(folder, nil) else { throw .last("realpath") }
        defer { unsafe free(text) }
        return unsafe String(cString: text)
    }

    /// A new, empty file of mode 0600, synced; one that exists is an error.
    public static func create(at path: String) throws(PosixError) {
        // SAFETY: the path is passed as a C string.
        let number = unsafe appvault_open(
            path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard number >= 0 else { throw .last("create") }
        let file = FileDescriptor(owning: number)
        guard fsync(file.raw) == 0 else { throw .last("fsync") }
    }

    public static func remove(at path: String) throws(PosixError) {
        // SAFETY: the path is passed as a C string.
        guard unsafe unlink(path) == 0 || appvault_errno() == ENOENT else { throw .last("unlink") }
    }

    public static func syncFolder(_ path: String) throws(PosixError) {
        // SAFETY: the path is passed as a C string.
        let number = unsafe appvault_open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        guard number >= 0 else { throw .last("open folder") }
        let folder = FileDescriptor(owning: number)
        guard fsync(folder.raw) == 0 else { throw .last("fsync folder") }
    }

    /// Overwrites a file where it lies, to its end, and syncs it. A missing one has nothing left to
    /// overwrite.
    public static func overwrite(at path: String) throws(PosixError) {
        // SAFETY: the path is passed as a C string.
        let number = unsafe appvault_open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0)
        guard number >= 0 else {
            if appvault_errno() == ENOENT { return }
            throw .last("open")
        }
        let file = FileDescriptor(owning: number)
        let size = lseek(file.raw, 0, SEEK_END)
        guard size >= 0 else { throw .last("lseek") }
        let zeroes = [UInt8](repeating: 0, count: 65_536)
        var position = 0
        while position < size {
            let count = min(zeroes.count, size - position)
            // SAFETY: at most as many bytes as the array has.
            let written = unsafe zeroes.withUnsafeBytes { bytes in
                unsafe pwrite(file.raw, bytes.baseAddress!, count, position)
            }
            if written < 0 {
                if appvault_errno() == EINTR { continue }
                throw .last("pwrite")
            }
            position += written
        }
        guard fdatasync(file.raw) == 0 else { throw .last("fdatasync") }
    }
}

/// A file that is read in places.
public struct ReadableFile: ~Copyable {
    private let file: FileDescriptor

    public init(at path: String) throws(PosixError) {
        // SAFETY: the path is passed as a C string.
        let number = unsafe appvault_open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0)
        guard number >= 0 else { throw .last("open") }
        file = FileDescriptor(owning: number)
    }

    public func size() throws(PosixError) -> Int {
        let size = lseek(file.raw, 0, SEEK_END)
        guard size >= 0 else { throw .last("lseek") }
        return size
    }

    /// Fewer bytes than asked for only at the file's end.
    public func read(at position: Int, count: Int) throws(PosixError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            // SAFETY: at most the bytes that are not filled yet.
            let got = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe pread(
                    file.raw, buffer.baseAddress! + filled, count - filled, position + filled)
            }
            if got < 0 {
                if appvault_errno() == EINTR { continue }
                throw .last("pread")
            }
            if got == 0 { break }
            filled += got
        }
        if filled < count { bytes.removeLast(count - filled) }
        return bytes
    }
}
