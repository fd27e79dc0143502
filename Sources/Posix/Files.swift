internal import CLinux

/// An open folder. What is in it is reached through its descriptor, so that no path is resolved
/// twice.
public final class Folder: Sendable {
    private let descriptor: FileDescriptor
    /// For code that needs a path, and for messages.
    public let path: String

    private init(_ descriptor: consuming FileDescriptor, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    /// Opens a folder; fails if it is a symbolic link.
    public convenience init(path: String) throws(PosixError) {
        // SAFETY: the name is passed as a C string, for this call alone.
        let number = unsafe appvault_open(
            path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0)
        guard number >= 0 else { throw .last("open \(path)") }
        self.init(FileDescriptor(owning: number), path: path)
    }

    public func folder(_ name: String) throws(PosixError) -> Folder {
        // SAFETY: the name is passed as a C string, for this call alone.
        let number = unsafe appvault_openat(
            descriptor.raw, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0)
        guard number >= 0 else { throw .last("open \(path)/\(name)") }
        return Folder(FileDescriptor(owning: number), path: "\(path)/\(name)")
    }

    /// Whether the folder belongs to this process's user and only that user may access it.
    public func isPrivate() throws(PosixError) -> Bool {
        var status = stat()
        // SAFETY: `status` is ours, and is the structure that fstat fills.
        guard unsafe fstat(descriptor.raw, &status) == 0 else { throw .last("fstat \(path)") }
        return status.st_uid == geteuid() && status.st_mode & 0o077 == 0
    }

    /// Makes it with mode 0700; it is no error if it exists.
    public func makeFolder(_ name: String) throws(PosixError) {
        // SAFETY: the name is passed as a C string, for this call alone.
        guard unsafe mkdirat(descriptor.raw, name, 0o700) == 0 || appvault_errno() == EEXIST
        else { throw .last("mkdir \(path)/\(name)") }
    }

    public enum Access: Sendable {
        case read
        case readWrite
        /// Fails with EEXIST if the name is taken.
        case createNew(mode: UInt32)
        /// Opened, or made with mode 0600 if it is missing.
        case createOrOpen
    }

    public func file(_ name: String, _ access: Access) throws(PosixError) -> File {
        let flags: Int32
        var mode: UInt32 = 0
        switch access {
        case .read: flags = O_RDONLY
        case .readWrite: flags = O_RDWR
        case .createNew(let wanted):
            flags = O_RDWR | O_CREAT | O_EXCL
            mode = wanted
        case .createOrOpen:
            flags = O_RDWR | O_CREAT
            mode = 0o600
        }
        // SAFETY: the name is passed as a C string, for this call alone.
        let number = unsafe appvault_openat(
            descriptor.raw, name, flags | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, mode)
        guard number >= 0 else { throw .last("open \(path)/\(name)") }
        return File(FileDescriptor(owning: number))
    }

    public func exists(_ name: String) -> Bool {
        // SAFETY: the name is passed as a C string, for this call alone.
        unsafe faccessat(descriptor.raw, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0
    }

    /// The names in the folder, sorted by bytes, without those that begin with a dot.
    public func names() throws(PosixError) -> [String] {
        try TextFile.names(in: path)
    }

    public func rename(_ old: String, to new: String) throws(PosixError) {
        // SAFETY: the name is passed as a C string, for this call alone.
        guard unsafe renameat(descriptor.raw, old, descriptor.raw, new) == 0
        else { throw .last("rename \(path)/\(old)") }
    }

    /// Gives a file a second name; fails with EEXIST if that name is taken.
    public func link(_ old: String, to new: String) throws(PosixError) {
        // SAFETY: the name is passed as a C string, for this call alone.
        guard unsafe linkat(descriptor.raw, old, descriptor.raw, new, 0) == 0
        else { throw .last("link \(path)/\(new)") }
    }

    /// It is no error if the file does not exist.
    public func remove(_ name: String) throws(PosixError) {
        // SAFETY: the name is passed as a C string, for this call alone.
        guard unsafe unlinkat(descriptor.raw, name, 0) == 0 || appvault_errno() == ENOENT
        else { throw .last("unlink \(path)/\(name)") }
    }

    /// It is no error if the folder does not exist, but it is one if the folder is not empty.
    public func removeFolder(_ name: String) throws(PosixError) {
        // SAFETY: the name is passed as a C string, for this call alone.
        guard
            unsafe unlinkat(descriptor.raw, name, AT_REMOVEDIR) == 0
                || appvault_errno() == ENOENT
        else { throw .last("rmdir \(path)/\(name)") }
    }

    /// Makes the names in the folder durable: files that were made, renamed or removed.
    public func sync() throws(PosixError) {
        guard fsync(descriptor.raw) == 0 else { throw .last("fsync \(path)") }
    }
}

/// An open file, read and written at given positions.
public struct File: ~Copyable, Sendable {
    private let descriptor: FileDescriptor

    init(_ descriptor: consuming FileDescriptor) {
        self.descriptor = descriptor
    }

    public func size() throws(PosixError) -> Int {
        var status = stat()
        // SAFETY: `status` is ours, and is the structure that fstat fills.
        guard unsafe fstat(descriptor.raw, &status) == 0 else { throw .last("fstat") }
        return Int(status.st_size)
    }

    /// Reads until the buffer is full or the file ends; returns the number of bytes.
    public func read(into bytes: inout MutableSpan<UInt8>, at offset: Int) throws(PosixError) -> Int
    {
        let count = bytes.count
        var done = 0
        while done < count {
            // SAFETY: the rest of the span's own bytes.
            let got = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe pread(
                    descriptor.raw, buffer.baseAddress! + done, count - done, offset + done)
            }
            if got < 0 {
                if appvault_errno() == EINTR { continue }
                throw .last("pread")
            }
            if got == 0 { break }
            done += got
        }
        return done
    }

    /// Writes all bytes, in one call if the kernel takes them at once.
    public func write(_ bytes: Span<UInt8>, at offset: Int) throws(PosixError) {
        var done = 0
        while done < bytes.count {
            // SAFETY: the rest of the span's own bytes.
            let put = unsafe bytes.withUnsafeBytes { buffer in
                unsafe pwrite(
                    descriptor.raw, buffer.baseAddress! + done, bytes.count - done, offset + done)
            }
            if put < 0 {
                if appvault_errno() == EINTR { continue }
                throw .last("pwrite")
            }
            done += put
        }
    }

    /// Allocates the blocks of the first `count` bytes. Content that exists stays.
    public func allocate(_ count: Int) throws(PosixError) {
        let failed = posix_fallocate(descriptor.raw, 0, count)
        guard failed == 0 else { throw PosixError(call: "posix_fallocate", number: failed) }
    }

    /// Cuts off what is behind the first `count` bytes.
    public func cut(to count: Int) throws(PosixError) {
        guard ftruncate(descriptor.raw, count) == 0 else { throw .last("ftruncate") }
    }

    /// Syncs the content, and of the metadata only what is needed to find it.
    public func syncData() throws(PosixError) {
        guard fdatasync(descriptor.raw) == 0 else { throw .last("fdatasync") }
    }

    public func sync() throws(PosixError) {
        guard fsync(descriptor.raw) == 0 else { throw .last("fsync") }
    }

    /// Asks the kernel to read from the disk next time; it can drop only what was synced. It is
    /// only a request, so it does not fail.
    public func dropCache() {
        _ = posix_fadvise(descriptor.raw, 0, 0, POSIX_FADV_DONTNEED)
    }

    /// Asks the kernel to begin to read these bytes from the disk. It is only a request, so it does
    /// not fail, and does not wait for them.
    public func willRead(_ count: Int, at offset: Int) {
        _ = posix_fadvise(descriptor.raw, offset, count, POSIX_FADV_WILLNEED)
    }

    public enum Lock: Equatable, Sendable {
        case taken
        case heldByAnother
    }

    /// Locks the file as long as it is open. Does not wait.
    public func lock() throws(PosixError) -> Lock {
        while true {
            if flock(descriptor.raw, LOCK_EX | LOCK_NB) == 0 { return .taken }
            switch appvault_errno() {
            case EINTR: continue
            case EWOULDBLOCK: return .heldByAnother
            default: throw .last("flock")
            }
        }
    }
}
