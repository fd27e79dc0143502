internal import CLinux

/// A server of one process a connection. Only for programs without threads.
public enum ForkingListener {
    /// Serves for ever; `serve` runs in the child. No more than `limit` children at once: further
    /// connections wait in the socket's queue.
    public static func run(
        at path: String, mode: UInt32, limit: Int, serve: (consuming FileDescriptor) -> Never
    ) throws(PosixError) -> Never {
        let listener = try ListeningSocket.make(at: path, mode: mode)
        var children = 0
        while true {
            children -= reap(children, waiting: children >= limit)
            guard ready(listener.raw) else { continue }
            let number = appvault_accept(listener.raw)
            guard number >= 0 else { continue }
            switch appvault_fork() {
            case 0:
                appvault_die_with_parent()
                serve(FileDescriptor(owning: number))
            case 1...: children += 1
            // No process to be had: whoever connected hears the end of the connection.
            default: break
            }
            _ = close(number)
        }
    }

    /// How many children ended; waits for one where there is no room for another.
    private static func reap(_ children: Int, waiting: Bool) -> Int {
        var ended = 0
        while ended < children {
            let wait = waiting && ended == 0
            guard waitpid(-1, nil, wait ? 0 : WNOHANG) > 0 else { break }
            ended += 1
        }
        return ended
    }

    /// Wakes now and then, so that ended children do not stay.
    private static func ready(_ descriptor: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        // SAFETY: one entry.
        return unsafe poll(&entry, 1, 1_000) > 0
    }
}
