internal import CLinux

/// polkit's own agent for a terminal: it asks the person at this terminal when polkit wants to know
/// who they are. It lives as long as this value. Only for programs without threads.
public struct PolkitAgent: ~Copyable {
    private let process: Int32

    /// How long it may take to come, in milliseconds.
    private static let patience: Int32 = 3_000

    /// Nil if it is not installed, or if polkit is not there.
    public init?() {
        guard let child = Self.start() else { return nil }
        process = child
    }

    private static func start() -> Int32? {
        var ends: [Int32] = [-1, -1]
        // SAFETY: the kernel fills in two numbers, for which there is room.
        guard unsafe appvault_pipe(&ends) == 0 else { return nil }
        let ready = FileDescriptor(owning: ends[0])
        let child = appvault_start_polkit_agent(ends[1])
        _ = close(ends[1])
        guard child > 0 else { return nil }
        var entry = pollfd(fd: ready.raw, events: Int16(POLLIN), revents: 0)
        // SAFETY: the count is 1, and there is one entry.
        _ = unsafe poll(&entry, 1, patience)
        // It has closed its end, because it is ready or because it has ended.
        return waitpid(child, nil, WNOHANG) == child ? nil : child
    }

    deinit {
        kill(process, SIGTERM)
        _ = waitpid(process, nil, 0)
    }
}
