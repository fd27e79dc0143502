internal import CLinux

/// A server with one process for each connection. Only for programs without threads.
public enum ForkingListener {
    /// Serves for ever; `serve` runs in the child process. At most `limit` children run at once;
    /// further connections wait in the socket's queue.
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
            // fork failed: the peer sees its connection end.
            default: break
            }
            _ = close(number)
        }
    }

    /// Returns how many children have ended. If there is no room for another child, waits for one
    /// to end.
    private static func reap(_ children: Int, waiting: Bool) -> Int {
        var ended = 0
        while ended < children {
            let wait = waiting && ended == 0
            guard waitpid(-1, nil, wait ? 0 : WNOHANG) > 0 else { break }
            ended += 1
        }
        return ended
    }

    /// Returns after a second at the latest, so that ended children are reaped.
    private static func ready(_ descriptor: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        // SAFETY: the count is 1, and there is one entry.
        return unsafe poll(&entry, 1, 1_000) > 0
    }
}
