internal import CLinux

/// Splits this process in two: the person's program or script goes on when the one in front ends,
/// and the one in the background goes on with the work. Only for programs without threads.
public enum Background: ~Copyable {
    case front(Front)
    case behind(Behind)

    /// Waits for what the one in the background has to say.
    public struct Front: ~Copyable {
        fileprivate let pipe: FileDescriptor

        /// nil if the other one has ended without a word.
        public borrowing func status() -> Int32? {
            var status: Int32 = 0
            while true {
                // SAFETY: at most the size of the number is read into it.
                let count = unsafe read(pipe.raw, &status, MemoryLayout<Int32>.size)
                if count == MemoryLayout<Int32>.size { return status }
                if count == 0 || appvault_errno() != EINTR { return nil }
            }
        }
    }

    public struct Behind: ~Copyable {
        fileprivate let pipe: FileDescriptor

        /// Lets the one in front end with this status. From here on nobody waits for our output.
        public consuming func release(_ status: Int32) {
            var status = status
            // SAFETY: exactly the number is written.
            _ = unsafe CLinux.write(pipe.raw, &status, MemoryLayout<Int32>.size)
            let nothing = unsafe appvault_open("/dev/null", O_RDWR | O_CLOEXEC, 0)
            guard nothing >= 0 else { return }
            for number: Int32 in 0...2 { _ = dup2(nothing, number) }
            _ = close(nothing)
        }
    }

    /// The one behind has no terminal, so that closing it does not end what runs there.
    public static func split() throws(PosixError) -> Background {
        var ends: [Int32] = [-1, -1]
        // SAFETY: the kernel fills in two numbers, for which there is room.
        guard unsafe appvault_pipe(&ends) == 0 else { throw .last("pipe2") }
        let reading = FileDescriptor(owning: ends[0])
        let writing = FileDescriptor(owning: ends[1])
        let child = appvault_fork()
        guard child >= 0 else { throw .last("fork") }
        if child > 0 { return .front(Front(pipe: reading)) }
        _ = setsid()
        return .behind(Behind(pipe: writing))
    }
}
