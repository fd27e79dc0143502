internal import CLinux

/// A mark that several programs of one person hold at once, by a lock on a file, so that the last of
/// them knows that it is the last. The kernel lets go of it whatever becomes of a program.
public struct SharedMark: ~Copyable {
    private let file: FileDescriptor
    /// Whether another program held it already.
    public let wasHeld: Bool

    public init(at path: [UInt8]) throws(PosixError) {
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW
        // SAFETY: the path ends with a NUL; the descriptor is owned from here on.
        let number = unsafe ToolIO.withPath(path) { unsafe appvault_open($0, flags, 0o600) }
        guard number >= 0 else { throw .last("open") }
        let wasHeld = flock(number, LOCK_EX | LOCK_NB) != 0
        // Whoever was the last is about to let go of it.
        guard flock(number, LOCK_SH) == 0 else {
            let error = PosixError.last("flock")
            _ = close(number)
            throw error
        }
        self.wasHeld = wasHeld
        file = FileDescriptor(owning: number)
    }

    /// True if nobody else holds it, and then nobody gets it as long as this value lives. If not, it
    /// is not held here any more either.
    public borrowing func isLast() -> Bool {
        flock(file.raw, LOCK_EX | LOCK_NB) == 0
    }
}
