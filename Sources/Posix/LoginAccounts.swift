internal import CLinux

/// An account, as the directory service describes it. Blocks: must not be called on the loop.
public struct LoginAccount: Sendable, Equatable {
    public var name: [UInt8]
    public var uid: UInt32
    public var home: [UInt8]
    /// Empty means /bin/sh, as for login(1).
    public var shell: [UInt8]

    public init(name: [UInt8], uid: UInt32, home: [UInt8], shell: [UInt8]) {
        self.name = name
        self.uid = uid
        self.home = home
        self.shell = shell
    }

    public enum Answer: Sendable, Equatable {
        case found(LoginAccount)
        case none
        case unknown
    }

    public static func of(uid: UInt32) -> Answer {
        var size = 4096
        while size <= 1 << 20 {
            // SAFETY: the entry points into `buffer`, which is freed only after its texts were
            // copied.
            var entry = unsafe passwd()
            var result: UnsafeMutablePointer<passwd>?
            let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: size)
            defer { unsafe buffer.deallocate() }
            let failed = unsafe getpwuid_r(uid, &entry, buffer, size, &result)
            if failed == 0 {
                guard unsafe result != nil else { return .none }
                return .found(
                    LoginAccount(
                        name: unsafe bytes(entry.pw_name), uid: unsafe entry.pw_uid,
                        home: unsafe bytes(entry.pw_dir), shell: unsafe bytes(entry.pw_shell)))
            }
            guard failed == ERANGE else { return .unknown }
            size *= 4
        }
        return .unknown
    }

    @unsafe
    private static func bytes(_ text: UnsafePointer<CChar>?) -> [UInt8] {
        // SAFETY: the directory service's strings end with NUL.
        guard let text = unsafe text else { return [] }
        let count = unsafe strlen(text)
        return unsafe Array(UnsafeRawBufferPointer(start: text, count: count))
    }
}

/// The shells with which a person may log in: /etc/shells, read again each time. Blocks.
public enum LoginShells {
    /// nil if the machine has no such list.
    public static func listed(in path: String = "/etc/shells") -> [[UInt8]]? {
        let text: [UInt8]
        do throws(PosixError) {
            text = try TextFile.read(at: path, limit: 1 << 16)
        } catch {
            // A list that exists but cannot be read allows no shell.
            return error.isMissing ? nil : []
        }
        return text.split(separator: 0x0A)
            .map { line in line.prefix { $0 != UInt8(ascii: "#") }.filter { $0 > 0x20 } }
            .filter { !$0.isEmpty }
    }
}
