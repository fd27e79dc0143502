internal import Glibc

/// Files and folders, by their paths. Each call waits for the disk.
enum Files {
    // SAFETY: of all calls with a path: Swift passes a string that ends with a NUL, for as long as
    // the call lasts.

    static func read(_ path: String) throws(SystemError) -> [UInt8] {
        let descriptor = try opened(path, O_RDONLY)
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while true {
            // SAFETY: no more is written than there is room.
            let got = unsafe Glibc.read(descriptor.raw, &piece, piece.count)
            if got == 0 { return bytes }
            if got > 0 { bytes += piece.prefix(got) } else if errno != EINTR { throw .last }
        }
    }

    /// The file is whole at every moment: the former one, or the new one.
    static func replace(_ path: String, _ bytes: [UInt8]) throws(SystemError) {
        let new = "\(path)~\(getpid())-\(Clock.unique())"
        do throws(SystemError) {
            let descriptor = try opened(new, O_WRONLY | O_CREAT | O_EXCL)
            var written = 0
            while written < bytes.count {
                // SAFETY: no more is read than there is.
                let count = unsafe bytes.withUnsafeBytes { buffer in
                    unsafe write(
                        descriptor.raw, buffer.baseAddress! + written, bytes.count - written)
                }
                if count >= 0 { written += count } else if errno != EINTR { throw .last }
            }
            guard fsync(descriptor.raw) == 0 else { throw .last }
            guard unsafe rename(new, path) == 0 else { throw .last }
        } catch {
            unsafe unlink(new)
            throw error
        }
        try syncFolder(of: path)
    }

    static func remove(_ path: String) throws(SystemError) {
        guard unsafe unlink(path) == 0 else { throw .last }
        try syncFolder(of: path)
    }

    /// Makes the folder and those above it; whether it is new.
    @discardableResult
    static func makeFolder(_ path: String) throws(SystemError) -> Bool {
        if unsafe mkdir(path, 0o700) == 0 { return true }
        let error = SystemError.last
        if error.alreadyExists { return false }
        guard error.isMissing, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
            throw error
        }
        try makeFolder(String(path[..<slash]))
        return try makeFolder(path)
    }

    static func isFolder(_ path: String) -> Bool {
        var facts = stat()
        // SAFETY: the structure is ours.
        return unsafe stat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFDIR
    }

    /// The names in a folder.
    static func names(_ path: String) throws(SystemError) -> [String] {
        guard let folder = unsafe opendir(path) else { throw .last }
        defer { unsafe closedir(folder) }
        var names: [String] = []
        // SAFETY: an entry is copied before the next one is read.
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// Removes a folder and all in it.
    static func removeFolder(_ path: String) throws(SystemError) {
        for name in try names(path) {
            let inner = "\(path)/\(name)"
            if isFolder(inner) {
                try removeFolder(inner)
            } else {
                guard unsafe unlink(inner) == 0 else { throw .last }
            }
        }
        guard unsafe rmdir(path) == 0 else { throw .last }
        try syncFolder(of: path)
    }

    private static func syncFolder(of path: String) throws(SystemError) {
        guard let slash = path.lastIndex(of: "/") else { return }
        let descriptor = try opened(String(path[..<slash]) + "/", O_RDONLY | O_DIRECTORY)
        guard fsync(descriptor.raw) == 0 else { throw .last }
    }

    private static func opened(_ path: String, _ flags: Int32) throws(SystemError) -> Descriptor {
        while true {
            let number = unsafe open(path, flags | O_CLOEXEC, 0o600)
            if number >= 0 { return Descriptor(owning: number) }
            if errno != EINTR { throw .last }
        }
    }
}
