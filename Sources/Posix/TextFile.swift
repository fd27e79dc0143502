internal import CLinux

/// Small files that are read as a whole: configuration, /proc. A file longer than the limit is
/// refused.
public enum TextFile {
    public static func read(at path: String, limit: Int) throws(PosixError) -> [UInt8] {
        // SAFETY: the path is a NUL-terminated copy during the call.
        let number = unsafe appvault_open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0)
        guard number >= 0 else { throw .last("open \(path)") }
        let file = FileDescriptor(owning: number)
        var bytes: [UInt8] = []
        let step = 4096
        while bytes.count <= limit {
            let old = bytes.count
            bytes.append(contentsOf: [UInt8](repeating: 0, count: step))
            // SAFETY: `step` bytes were just added behind `old`.
            let got = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe CLinux.read(file.raw, buffer.baseAddress! + old, step)
            }
            if got < 0 {
                bytes.removeLast(step)
                if appvault_errno() == EINTR { continue }
                throw .last("read \(path)")
            }
            bytes.removeLast(step - got)
            if got == 0 { return bytes }
        }
        throw PosixError(call: "read \(path)", number: EFBIG)
    }

    public enum Outlasting: Sendable {
        case powerCuts
        /// What nothing depends on need not wait for the disk.
        case processes
    }

    /// Replaces a small file as a whole: after a crash it has the old or the new bytes.
    public static func replace(
        at path: String, with bytes: [UInt8], outlasts: Outlasting = .powerCuts
    ) throws(PosixError) {
        let temporary = path + ".new"
        let number = unsafe appvault_open(
            temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else { throw .last("open \(temporary)") }
        let file = FileDescriptor(owning: number)
        var written = 0
        while written < bytes.count {
            // SAFETY: the range lies within the array.
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe CLinux.write(file.raw, buffer.baseAddress! + written, buffer.count - written)
            }
            if count < 0 {
                if appvault_errno() == EINTR { continue }
                throw .last("write \(temporary)")
            }
            written += count
        }
        switch outlasts {
        case .powerCuts:
            guard fsync(file.raw) == 0 else { throw .last("fsync \(temporary)") }
        case .processes: break
        }
        guard unsafe rename(temporary, path) == 0 else { throw .last("rename \(temporary)") }
    }

    /// Writes into a file that is there, as the kernel's own files in /sys are written: in one go.
    public static func write(into path: String, _ bytes: [UInt8]) throws(PosixError) {
        // SAFETY: the path is a NUL-terminated copy during the call.
        let number = unsafe appvault_open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0)
        guard number >= 0 else { throw .last("open \(path)") }
        let file = FileDescriptor(owning: number)
        try ToolIO.write(file.raw, bytes.span)
    }

    /// The names in a folder, sorted by bytes; without those that begin with a dot unless `dotted`.
    /// Empty if the folder is missing.
    public static func names(
        in folder: String, dotted: Bool = false
    ) throws(PosixError) -> [String] {
        // SAFETY: opendir copies the path; readdir's entry is read before the next call, on this
        // thread alone.
        guard let stream = unsafe opendir(folder) else {
            if appvault_errno() == ENOENT { return [] }
            throw .last("open \(folder)")
        }
        defer { _ = unsafe closedir(stream) }
        var names: [String] = []
        while true {
            appvault_set_errno(0)
            guard let entry = unsafe readdir(stream) else {
                // An error must not be taken for the end of the list.
                guard appvault_errno() == 0 else { throw .last("readdir \(folder)") }
                break
            }
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { text in
                    unsafe String(cString: text)
                }
            }
            if name != ".", name != "..", dotted || !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
}
