internal import Glibc
internal import Synchronization

/// A file descriptor, closed with its only owner.
struct Descriptor: ~Copyable, Sendable {
    let raw: Int32

    init(owning raw: Int32) { self.raw = raw }

    deinit { _ = close(raw) }
}

/// The number of a system call's failure, with the system's own words for it.
struct SystemError: Error, Sendable {
    let number: Int32

    static var last: SystemError { SystemError(number: errno) }

    var isMissing: Bool { number == ENOENT }
    var isRefused: Bool { number == ECONNREFUSED }
    var isBrokenPipe: Bool { number == EPIPE }
    var isReset: Bool { number == ECONNRESET }
    var isDenied: Bool { number == EACCES || number == EPERM }
    var alreadyExists: Bool { number == EEXIST }
    static var nameTooLong: SystemError { SystemError(number: ENAMETOOLONG) }
    static var denied: SystemError { SystemError(number: EACCES) }
    static var brokenPipe: SystemError { SystemError(number: EPIPE) }
    static var timedOut: SystemError { SystemError(number: ETIMEDOUT) }

    var text: String {
        // SAFETY: strerror_r writes at most so many bytes into the buffer, a NUL at their end.
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            unsafe buffer.initialize(repeating: 0)
            guard unsafe strerror_r(number, buffer.baseAddress!, buffer.count) == 0 else {
                return "error \(number)"
            }
            return unsafe String(cString: buffer.baseAddress!)
        }
    }
}

enum Clock {
    /// Milliseconds that only ever grow.
    static func milliseconds() -> UInt64 {
        var now = timespec()
        // SAFETY: the structure is ours.
        unsafe clock_gettime(CLOCK_MONOTONIC, &now)
        return UInt64(now.tv_sec) * 1000 + UInt64(now.tv_nsec) / 1_000_000
    }
}

extension Clock {
    private static let counter = Atomic<UInt64>(0)

    /// Another number at each call in this process.
    static func unique() -> UInt64 { counter.add(1, ordering: .relaxed).newValue }
}
