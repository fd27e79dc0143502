internal import CLinux

extension Folder {
    /// By its real path, without a symbolic link in it: for those behind us who open files by path and refuse links.
    public convenience init(resolving path: String) throws(PosixError) {
        try self.init(path: try Self.realPath(path))
    }

    /// Where a path leads once every link is followed.
    public static func realPath(_ path: String) throws(PosixError) -> String {
        // SAFETY: a null buffer asks for an allocated answer, which is freed here.
        guard let text = unsafe realpath(path, nil) else { throw .last("realpath \(path)") }
        defer { unsafe free(text) }
        return unsafe String(cString: text)
    }
}
