internal import CLinux

/// A system call that failed: which one, and why.
public struct PosixError: Error, Equatable, CustomStringConvertible {
    public let call: String
    public let number: Int32

    public init(call: String, number: Int32) {
        self.call = call
        self.number = number
    }

    /// The error that errno holds now.
    public static func last(_ call: String) -> PosixError {
        PosixError(call: call, number: appvault_errno())
    }

    /// The error of a call that found no room on the disk.
    public static func noSpace(_ call: String) -> PosixError {
        PosixError(call: call, number: ENOSPC)
    }

    public static func outOfDescriptors(_ call: String) -> PosixError {
        PosixError(call: call, number: EMFILE)
    }

    public static func noRegularFile(_ call: String) -> PosixError {
        PosixError(call: call, number: EINVAL)
    }

    public static func readOnly(_ call: String) -> PosixError {
        PosixError(call: call, number: EROFS)
    }

    public var isNoSpace: Bool { number == ENOSPC || number == EDQUOT }
    /// This process, or the whole system, has as many files open as it may.
    public var isOutOfDescriptors: Bool { number == EMFILE || number == ENFILE }
    public var isMissing: Bool { number == ENOENT }
    /// Nothing answers behind a device's file, or it is the file of none.
    public var isNoDevice: Bool { number == ENODEV || number == ENXIO }
    public var isTooLarge: Bool { number == EFBIG }
    public var isExisting: Bool { number == EEXIST }
    public var isReadOnly: Bool { number == EROFS || number == EACCES || number == EPERM }

    public var description: String {
        // SAFETY: strerror_r writes at most the given count, and the GNU version returns a
        // NUL-terminated string.
        let reason = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            guard let text = unsafe strerror_r(number, buffer.baseAddress!, 128) else {
                return "error \(number)"
            }
            return unsafe String(cString: text)
        }
        return "\(call): \(reason)"
    }
}

/// A file descriptor that is closed exactly once.
public struct FileDescriptor: ~Copyable, Sendable {
    public let raw: Int32

    public init(owning raw: Int32) {
        self.raw = raw
    }

    deinit {
        _ = close(raw)
    }

    /// Gives up the number; the caller closes it.
    public consuming func release() -> Int32 {
        let number = raw
        discard self
        return number
    }
}
