internal import CLinux

/// What only one of a person's programs may do at a time, by a lock on a file. The kernel gives it
/// to the next one, whatever becomes of a program.
public struct Turn: ~Copyable {
    private let file: FileDescriptor

    public init(at path: [UInt8]) throws(PosixError) {
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        // SAFETY: the path ends with a NUL; the descriptor is owned from here on.
        let number = unsafe ToolIO.withPath(path) { unsafe appvault_open($0, flags, 0o600) }
        guard number >= 0 else { throw .last("open") }
        file = FileDescriptor(owning: number)
    }

    /// False while another program has it. A file system without locks keeps nobody waiting.
    public borrowing func take() -> Bool {
        flock(file.raw, LOCK_EX | LOCK_NB) == 0 || appvault_errno() != EWOULDBLOCK
    }
}
