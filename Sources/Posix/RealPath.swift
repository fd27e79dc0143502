internal import CLinux

extension Folder {
    /// Opens the folder under its real path, without any symbolic link in it. SQLite, for example,
    /// opens files by path and refuses links.
    public convenience init(resolving path: String) throws(PosixError) {
        try self.init(path: try Self.realPath(path))
    }

    /// The path with every symbolic link resolved.
    public static func realPath(_ path: String) throws(PosixError) -> String {
        // SAFETY: with a null buffer realpath allocates the answer, which is freed here.
        guard let text = unsafe realpath(path, nil) else { throw .last("realpath \(path)") }
        defer { unsafe free(text) }
        return unsafe String(cString: text)
    }
}
