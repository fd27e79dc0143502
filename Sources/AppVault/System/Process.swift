internal import Glibc

/// What the library asks of the process that it is in.
enum ThisProcess {
    static var realUID: UInt32 { getuid() }
    static var effectiveUID: UInt32 { geteuid() }

    static func variable(_ name: String) -> String? {
        // SAFETY: the environment's string is copied at once. Programs that change their
        // environment from several threads are broken in any case.
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe String(validatingCString: value)
    }

    /// The uid of the account of that name; nil where there is none.
    static func uid(of name: String) -> UInt32? {
        // SAFETY: getpwnam_r writes only into the record and the buffer, which are ours.
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16_384) { buffer in
            var record = unsafe passwd()
            var found: UnsafeMutablePointer<passwd>?
            _ = unsafe getpwnam_r(name, &record, buffer.baseAddress!, buffer.count, &found)
            return unsafe found == nil ? nil : record.pw_uid
        }
    }

    /// The language of messages, as setlocale would find it.
    static var language: String {
        for name in ["LC_ALL", "LC_MESSAGES", "LANG"] {
            if let value = variable(name), !value.isEmpty, value.utf8.count <= 255 { return value }
        }
        return ""
    }
}
