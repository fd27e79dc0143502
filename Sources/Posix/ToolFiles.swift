internal import CLinux

/// What kind of file a path leads to.
public enum PathKind: Equatable, Sendable {
    case missing
    case regular
    case folder
    case other
}

extension ToolIO {
    public static func kind(of path: [UInt8]) -> PathKind {
        var status = stat()
        // SAFETY: the path ends with a NUL, and the structure is used only if the call has filled
        // it.
        guard unsafe withPath(path, { unsafe stat($0, &status) }) == 0 else { return .missing }
        return kind(status)
    }

    /// A symbolic link itself is `other`.
    public static func kind(ofLinkOr path: [UInt8]) -> PathKind {
        var status = stat()
        // SAFETY: as above.
        guard unsafe withPath(path, { unsafe lstat($0, &status) }) == 0 else { return .missing }
        return kind(status)
    }

    public static func kind(of descriptor: Int32) -> PathKind {
        var status = stat()
        // SAFETY: the structure is used only if the call has filled it.
        guard unsafe fstat(descriptor, &status) == 0 else { return .missing }
        return kind(status)
    }

    private static func kind(_ status: stat) -> PathKind {
        switch Int32(bitPattern: status.st_mode) & S_IFMT {
        case S_IFREG: .regular
        case S_IFDIR: .folder
        default: .other
        }
    }

    /// Makes a folder and all above it that are missing, with mode 0700, as the XDG Base Directory
    /// Specification wants it.
    public static func makeFolders(_ path: String) throws(PosixError) {
        var made = ""
        for part in path.split(separator: "/") {
            made += "/" + part
            // SAFETY: the path is a NUL-terminated copy during the call.
            guard unsafe mkdir(made, 0o700) != 0 else { continue }
            let error = PosixError.last("mkdir \(made)")
            // Above the person's folders it may also be read-only, or not ours.
            guard kind(of: Array(made.utf8)) == .folder else { throw error }
        }
    }

    /// The content of a small text file; nil if it cannot be read.
    public static func contents(of path: [UInt8], atMost limit: Int = 65_536) -> [UInt8]? {
        // SAFETY: the path ends with a NUL; the descriptor is owned from here on.
        let number = unsafe withPath(path) { unsafe appvault_open($0, O_RDONLY | O_CLOEXEC, 0) }
        guard number >= 0 else { return nil }
        let file = FileDescriptor(owning: number)
        var text = SecretBuffer(capacity: 4096)
        while text.count < limit {
            guard let got = try? text.read(from: file.raw, atMost: 4096) else { return nil }
            if got == 0 { break }
        }
        return text.withSpan { span in (0..<span.count).map { span[$0] } }
    }
}

/// A file that appears under its name only when it is complete. If the file system supports it, the
/// file has no name at all until then, so that even a killed program leaves no part of it behind.
public final class ReplacementFile {
    public enum Existing: Equatable, Sendable { case keep, replace }

    private let folder: FileDescriptor
    private let file: FileDescriptor
    private let name: [UInt8]
    private let temporary: [UInt8]
    private var hasName: Bool

    public init(path: [UInt8]) throws(PosixError) {
        let slash = path.lastIndex(of: 0x2F)
        let parent = slash.map { $0 == 0 ? [0x2F] : Array(path[..<$0]) } ?? [0x2E]
        name = slash.map { Array(path[($0 + 1)...]) } ?? path
        temporary = Array(".appvault-export-\(getpid())".utf8)
        // SAFETY: the path ends with a NUL; the descriptor is owned from here on.
        let parentNumber = unsafe ToolIO.withPath(parent) {
            unsafe appvault_open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        }
        guard parentNumber >= 0 else { throw PosixError.last("open") }
        let folder = FileDescriptor(owning: parentNumber)
        var number = unsafe appvault_openat(
            folder.raw, ".", appvault_unnamed_file() | O_RDWR | O_CLOEXEC, 0o600)
        hasName = number < 0
        if number < 0 {
            let flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
            number = unsafe ToolIO.withPath(temporary) {
                unsafe appvault_openat(folder.raw, $0, flags, 0o600)
            }
        }
        guard number >= 0 else { throw PosixError.last("open") }
        file = FileDescriptor(owning: number)
        self.folder = folder
    }

    deinit {
        if hasName { removeTemporary() }
    }

    public func write(_ bytes: Span<UInt8>) throws(PosixError) {
        try ToolIO.write(file.raw, bytes)
    }

    /// Syncs the file and then puts it in place.
    public func commit(_ existing: Existing) throws(PosixError) {
        guard fsync(file.raw) == 0 else { throw PosixError.last("fsync") }
        let target = existing == .keep ? name : temporary
        if !hasName {
            let source = Array("/proc/self/fd/\(file.raw)".utf8)
            // SAFETY: both paths end with a NUL.
            let linked = unsafe ToolIO.withPath(source) { source in
                unsafe ToolIO.withPath(target) {
                    unsafe linkat(AT_FDCWD, source, folder.raw, $0, AT_SYMLINK_FOLLOW)
                }
            }
            guard linked == 0 else { throw PosixError.last("link") }
            hasName = existing == .replace
        }
        if hasName { try rename(existing) }
        guard fsync(folder.raw) == 0 else { throw PosixError.last("fsync") }
    }

    private func rename(_ existing: Existing) throws(PosixError) {
        // SAFETY: both paths end with a NUL.
        let moved = unsafe ToolIO.withPath(temporary) { source in
            unsafe ToolIO.withPath(name) { target in
                switch existing {
                case .replace: unsafe renameat(folder.raw, source, folder.raw, target)
                case .keep: unsafe linkat(folder.raw, source, folder.raw, target, 0)
                }
            }
        }
        guard moved == 0 else { throw PosixError.last("rename") }
        if existing == .keep { removeTemporary() }
        hasName = false
    }

    private func removeTemporary() {
        // SAFETY: the path ends with a NUL.
        _ = unsafe ToolIO.withPath(temporary) { unsafe unlinkat(folder.raw, $0, 0) }
    }
}

/// A file to be read from its start, several times if need be: an import reads it twice.
public struct SourceFile: ~Copyable {
    private let descriptor: FileDescriptor
    public let size: UInt64
    var raw: Int32 { descriptor.raw }

    public init(path: [UInt8]) throws(PosixError) {
        // SAFETY: the path ends with a NUL; the descriptor is owned from here on.
        let number = unsafe ToolIO.withPath(path) {
            unsafe appvault_open($0, O_RDONLY | O_CLOEXEC, 0)
        }
        guard number >= 0 else { throw PosixError.last("open") }
        let descriptor = FileDescriptor(owning: number)
        switch ToolIO.kind(of: descriptor.raw) {
        case .regular: try self.init(descriptor)
        case .folder: throw PosixError(call: "open", number: EISDIR)
        case .other, .missing: try self.init(SourceFile.spool(from: descriptor.raw))
        }
    }

    /// Reads standard input or another descriptor. If that is a pipe, its content is first copied
    /// to a file without a name.
    public init(reading number: Int32) throws(PosixError) {
        if ToolIO.kind(of: number) == .regular {
            let copy = dup(number)
            guard copy >= 0 else { throw PosixError.last("dup") }
            try self.init(FileDescriptor(owning: copy))
        } else {
            try self.init(SourceFile.spool(from: number))
        }
    }

    private init(_ descriptor: consuming FileDescriptor) throws(PosixError) {
        let end = lseek(descriptor.raw, 0, SEEK_END)
        guard end >= 0 else { throw PosixError.last("lseek") }
        guard lseek(descriptor.raw, 0, SEEK_SET) == 0 else { throw PosixError.last("lseek") }
        size = UInt64(end)
        self.descriptor = descriptor
    }

    private static func spool(from source: Int32) throws(PosixError) -> FileDescriptor {
        let folder = ToolIO.variable("TMPDIR") ?? Array("/var/tmp".utf8)
        // SAFETY: the path ends with a NUL; the descriptor is owned from here on.
        let number = unsafe ToolIO.withPath(folder) {
            unsafe appvault_open($0, appvault_unnamed_file() | O_RDWR | O_CLOEXEC, 0o600)
        }
        guard number >= 0 else { throw PosixError.last("open") }
        let file = FileDescriptor(owning: number)
        var piece = SecretBuffer(capacity: 65_536)
        while try piece.read(from: source, atMost: 65_536) > 0 {
            try piece.withSpan { span throws(PosixError) in try ToolIO.write(file.raw, span) }
            piece.removeAll()
        }
        return file
    }

    public func seek(to offset: Int) throws(PosixError) {
        guard lseek(descriptor.raw, off_t(offset), SEEK_SET) == off_t(offset) else {
            throw PosixError.last("lseek")
        }
    }

    /// Reads until `piece` has `limit` bytes or the file ends.
    public func read(into piece: inout SecretBuffer, upTo limit: Int) throws(PosixError) {
        while piece.count < limit {
            if try piece.read(from: descriptor.raw, atMost: limit - piece.count) == 0 { return }
        }
    }
}
