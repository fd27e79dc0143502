internal import CLinux

/// What stat tells about a path, without opening it.
public struct FileFacts: Equatable, Sendable {
    public enum Kind: Equatable, Sendable { case regular, folder, socket, link, other }

    public var kind: Kind
    public var owner: UInt32
    /// Only the permission bits.
    public var mode: UInt32
    public var size: Int

    public init(kind: Kind, owner: UInt32, mode: UInt32, size: Int) {
        self.kind = kind
        self.owner = owner
        self.mode = mode
        self.size = size
    }

    public init(of path: String, following: Bool = true) throws(PosixError) {
        var status = stat()
        // SAFETY: the path is a NUL-terminated copy during the call. The structure is used only if
        // the call has filled it.
        let failed = unsafe following ? stat(path, &status) : lstat(path, &status)
        guard failed == 0 else { throw .last("stat \(path)") }
        kind =
            switch Int32(bitPattern: status.st_mode) & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .folder
            case S_IFSOCK: .socket
            case S_IFLNK: .link
            default: .other
            }
        owner = status.st_uid
        mode = status.st_mode & 0o7777
        size = Int(status.st_size)
    }
}

/// Which file a name stands for, links not followed: two names may stand for the same one.
public struct FileIdentity: Equatable, Sendable {
    private let device, node: UInt64

    /// Nil if there is no file of this name.
    public init?(of path: String) throws(PosixError) {
        var status = stat()
        // SAFETY: as above.
        guard unsafe lstat(path, &status) == 0 else {
            if appvault_errno() == ENOENT { return nil }
            throw .last("stat \(path)")
        }
        device = UInt64(status.st_dev)
        node = UInt64(status.st_ino)
    }
}

/// Shows whether a file was replaced or written since the last look.
public struct FileVersion: Equatable, Sendable {
    private let device, node: UInt64
    private let size, seconds, nanoseconds: Int

    public init(of path: String) throws(PosixError) {
        var status = stat()
        // SAFETY: as above.
        guard unsafe stat(path, &status) == 0 else { throw .last("stat \(path)") }
        device = UInt64(status.st_dev)
        node = UInt64(status.st_ino)
        size = Int(status.st_size)
        seconds = Int(status.st_mtim.tv_sec)
        nanoseconds = Int(status.st_mtim.tv_nsec)
    }
}

/// The room that is free on a file system for users other than root.
public struct FreeSpace: Equatable, Sendable {
    public var bytes: UInt64
    /// The size of the file system, used and free.
    public var total: UInt64
    public var isReadOnly: Bool

    public init(bytes: UInt64, total: UInt64 = 0, isReadOnly: Bool) {
        self.bytes = bytes
        self.total = total
        self.isReadOnly = isReadOnly
    }

    public init(at path: String) throws(PosixError) {
        var status = statvfs()
        // SAFETY: as above.
        guard unsafe statvfs(path, &status) == 0 else { throw .last("statvfs \(path)") }
        bytes = UInt64(status.f_bavail) * UInt64(status.f_frsize)
        total = UInt64(status.f_blocks) * UInt64(status.f_frsize)
        isReadOnly = status.f_flag & 1 != 0
    }
}
