internal import CLinux

/// Small files that are read whole: configuration, /proc. What is longer than the limit is refused.
public enum TextFile {
    public static func read(at path: String, limit: Int) throws(PosixError) -> [UInt8] {
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

    /// The names in a folder, sorted by bytes, without the dotted ones; none where the folder is missing.
    public static func names(in folder: String) throws(PosixError) -> [String] {
        // SAFETY: opendir copies the path; readdir's entry is read before the next call, on this thread alone.
        guard let stream = unsafe opendir(folder) else {
            if appvault_errno() == ENOENT { return [] }
            throw .last("open \(folder)")
        }
        defer { _ = unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { text in
                    unsafe String(cString: text)
                }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
}
