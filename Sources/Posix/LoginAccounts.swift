internal import CLinux

/// What an account is for, as the directory service says it. Blocking: never called on the loop.
public struct LoginAccount: Sendable, Equatable {
    public var name: [UInt8]
    public var uid: UInt32
    public var home: [UInt8]
    /// Empty means /bin/sh, as login(1) has it.
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
            // SAFETY: only filled in by the call below.
            var entry = unsafe passwd()
            var result: UnsafeMutablePointer<passwd>?
            let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: size)
            defer { unsafe buffer.deallocate() }
            // SAFETY: the entry points into `buffer`, which lives until its texts were copied.
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

/// The shells that a person may log in with: /etc/shells, read anew each time. Blocking.
public enum LoginShells {
    /// nil where the machine has no such list.
    public static func listed(in path: String = "/etc/shells") -> [[UInt8]]? {
        let text: [UInt8]
        do throws(PosixError) {
            text = try TextFile.read(at: path, limit: 1 << 16)
        } catch {
            // A list that is there and cannot be read allows no shell.
            return error.isMissing ? nil : []
        }
        return text.split(separator: 0x0A)
            .map { line in line.prefix { $0 != UInt8(ascii: "#") }.filter { $0 > 0x20 } }
            .filter { !$0.isEmpty }
    }
}
