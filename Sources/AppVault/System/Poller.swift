internal import Glibc

/// The one thread that waits for sockets which a task does not wait for itself. It sleeps until one
/// of them is ready, a deadline has come, or another one is to be waited for: where nothing is
/// waited for, nothing wakes it.
final class Poller: Sendable {
    enum Outcome: Sendable {
        case ready
        case late
        case cancelled
    }

    enum Direction {
        case readable
        case writable
    }

    private struct Entry {
        let descriptor: Int32
        let events: Int16
        let deadline: UInt64?
        let continuation: CheckedContinuation<Outcome, Never>
    }

    private struct Table {
        var entries: [UInt64: Entry] = [:]
        /// Cancelled before they were entered.
        var gone: Set<UInt64> = []
        var lastID: UInt64 = 0
    }

    static let shared = Poller()

    private let table = Locked(Table())
    /// A byte written here wakes the thread.
    private let alarm: (read: Int32, write: Int32)

    private init() {
        var ends: [Int32] = [-1, -1]
        // SAFETY: two numbers are written.
        unsafe pipe(&ends)
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        alarm = (ends[0], ends[1])
        var thread = pthread_t()
        var attributes = pthread_attr_t()
        // SAFETY: the attributes are ours from init to destroy. The thread never ends, and neither
        // does the shared poller that it runs.
        unsafe pthread_attr_init(&attributes)
        unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        unsafe pthread_attr_setstacksize(&attributes, 256 << 10)
        let this = unsafe Unmanaged.passRetained(self).toOpaque()
        unsafe pthread_create(
            &thread, &attributes,
            { this in
                unsafe Unmanaged<Poller>.fromOpaque(this!).takeUnretainedValue().run()
            }, this)
        unsafe pthread_attr_destroy(&attributes)
    }

    /// Suspends the task until the descriptor is ready. The caller keeps it open until then.
    func wait(
        for descriptor: Int32, _ direction: Direction, until deadline: UInt64?, cancellable: Bool
    ) async -> Outcome {
        let id = table.withLock { table in
            table.lastID += 1
            return table.lastID
        }
        let events =
            switch direction {
            case .readable: Int16(POLLIN)
            case .writable: Int16(POLLOUT)
            }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isGone = table.withLock { table in
                    if table.gone.remove(id) != nil { return true }
                    table.entries[id] = Entry(
                        descriptor: descriptor, events: events, deadline: deadline,
                        continuation: continuation)
                    return false
                }
                if isGone { continuation.resume(returning: .cancelled) } else { wake() }
            }
        } onCancel: {
            if cancellable { cancel(id) }
        }
        // It may have been cancelled after it was settled.
        if outcome != .cancelled { table.withLock { _ = $0.gone.remove(id) } }
        return outcome
    }

    private func cancel(_ id: UInt64) {
        let entry = table.withLock { table in
            let entry = table.entries.removeValue(forKey: id)
            if entry == nil { table.gone.insert(id) }
            return entry
        }
        guard let entry else { return }
        wake()
        entry.continuation.resume(returning: .cancelled)
    }

    private func wake() {
        var byte: UInt8 = 0
        // SAFETY: one byte is read. A full pipe wakes the thread as well.
        _ = unsafe write(alarm.write, &byte, 1)
    }

    private func run() -> UnsafeMutableRawPointer? {
        while true {
            let (ids, entries) = table.withLock { table in
                (Array(table.entries.keys), Array(table.entries.values))
            }
            var polled = entries.map { pollfd(fd: $0.descriptor, events: $0.events, revents: 0) }
            polled.append(pollfd(fd: alarm.read, events: Int16(POLLIN), revents: 0))
            // SAFETY: so many structures, all ours.
            unsafe poll(&polled, nfds_t(polled.count), patience(entries))
            if polled[entries.count].revents != 0 {
                // SAFETY: no more is written than there is room. What does not fit wakes it again.
                unsafe withUnsafeTemporaryAllocation(byteCount: 256, alignment: 1) { room in
                    _ = unsafe read(alarm.read, room.baseAddress, room.count)
                }
            }
            let now = Clock.milliseconds()
            for (index, id) in ids.enumerated() {
                if polled[index].revents != 0 {
                    settle(id, .ready)
                } else if let deadline = entries[index].deadline, deadline <= now {
                    settle(id, .late)
                }
            }
        }
    }

    private func patience(_ entries: [Entry]) -> Int32 {
        guard let first = entries.compactMap(\.deadline).min() else { return -1 }
        let now = Clock.milliseconds()
        return first <= now ? 0 : Int32(clamping: first - now)
    }

    private func settle(_ id: UInt64, _ outcome: Outcome) {
        let entry = table.withLock { $0.entries.removeValue(forKey: id) }
        entry?.continuation.resume(returning: outcome)
    }
}
