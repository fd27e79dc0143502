internal import CLinux

/// A descriptor on the loop: waits until it can be read or written, with a deadline.
///
/// Confined to the loop's thread: the loop itself calls its callbacks, and everything else runs on
/// the loop's actor.
public final class Channel: @unchecked Sendable {
    public enum Wake: Equatable, Sendable {
        case ready
        case timedOut
        case closed
    }

    public let number: Int32
    public private(set) var isClosed = false
    // Edge-triggered: a flag stays set until an operation reported "would block".
    private var readable = false
    private var writable = true
    private var reader: Waiter?
    private var writer: Waiter?
    /// Whether the kernel tells of room for more. Only while a writer waits for it: else each answer
    /// that the peer reads would wake the loop once more.
    private var hearsOfRoom = false

    // SAFETY: the continuation is resumed exactly once, at the moment when the waiter is taken out
    // of its variable.
    @safe
    private struct Waiter {
        let continuation: UnsafeContinuation<Wake, Never>
        let timer: UInt64?
    }

    /// Takes the descriptor over and makes it non-blocking.
    public init(owning descriptor: consuming FileDescriptor) throws(PosixError) {
        number = descriptor.release()
        let flags = appvault_fcntl(number, F_GETFL, 0)
        guard flags >= 0, appvault_fcntl(number, F_SETFL, flags | O_NONBLOCK) >= 0 else {
            let error = PosixError.last("fcntl")
            CLinux.close(number)
            throw error
        }
        do {
            try EventLoop.shared.add(self)
        } catch {
            CLinux.close(number)
            throw error
        }
    }

    /// Takes over a descriptor that was accepted and is non-blocking already.
    public init(accepted descriptor: consuming FileDescriptor) throws(PosixError) {
        number = descriptor.release()
        do {
            try EventLoop.shared.add(self)
        } catch {
            CLinux.close(number)
            throw error
        }
    }

    public func close() {
        guard !isClosed else { return }
        isClosed = true
        EventLoop.shared.remove(self)
        CLinux.close(number)
        finishReader(.closed)
        finishWriter(.closed)
    }

    /// Whether there is something to read at this moment.
    public var hasInput: Bool {
        var waiting = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
        // SAFETY: one entry, which lives as long as the call. It does not wait.
        let found = unsafe poll(&waiting, 1, 0)
        return !isClosed && found > 0 && Int32(waiting.revents) & POLLIN != 0
    }

    func happened(_ events: UInt32) {
        if events & APPVAULT_HANGUP != 0 { hungUp = true }
        if events & APPVAULT_READABLE != 0 {
            readable = true
            finishReader(.ready)
        }
        if events & APPVAULT_WRITABLE != 0 {
            writable = true
            hearOfRoom(false)
            finishWriter(.ready)
        }
    }

    /// The peer has closed at least its own direction. From then on a short read does not mean that
    /// nothing is left.
    private var hungUp = false

    private func finishReader(_ wake: Wake) {
        guard let waiter = reader else { return }
        reader = nil
        if let timer = waiter.timer { EventLoop.shared.cancel(timer) }
        unsafe waiter.continuation.resume(returning: wake)
    }

    private func finishWriter(_ wake: Wake) {
        guard let waiter = writer else { return }
        writer = nil
        if let timer = waiter.timer { EventLoop.shared.cancel(timer) }
        unsafe waiter.continuation.resume(returning: wake)
    }

    /// Asks the kernel now. A closed channel counts as hung up.
    @LoopActor
    public var hasHungUp: Bool { isClosed || appvault_hung_up(number) != 0 }

    /// Waits until there may be something to read. Only one reader at a time.
    @LoopActor
    public func readable(until deadline: UInt64?) async -> Wake {
        if isClosed { return .closed }
        if readable { return .ready }
        // SAFETY: resumed exactly once, by finishReader.
        return await unsafe withUnsafeContinuation { continuation in
            let timer = deadline.map { moment in
                EventLoop.shared.at(moment) { [unowned self] in
                    readerTimedOut()
                }
            }
            reader = unsafe Waiter(continuation: continuation, timer: timer)
        }
    }

    /// Ends a wait for reading as if its time had run out. No data is lost.
    @LoopActor
    public func wakeReader() {
        finishReader(.timedOut)
    }

    /// The same for a wait for writing.
    @LoopActor
    public func wakeWriter() {
        finishWriter(.timedOut)
    }

    /// To be called when other code has read all that this descriptor had: libsystemd reads its
    /// own. It may have stopped before it saw that the peer has left, and the kernel tells of that
    /// only once.
    @LoopActor
    public func drained() {
        readable = hungUp
    }

    /// To be called when other code has written until this descriptor had no more room.
    @LoopActor
    public func filled() {
        writable = hungUp
    }

    private func readerTimedOut() {
        guard let waiter = reader else { return }
        reader = nil
        unsafe waiter.continuation.resume(returning: .timedOut)
    }

    @LoopActor
    public func writable(until deadline: UInt64?) async -> Wake {
        if isClosed { return .closed }
        if writable { return .ready }
        // SAFETY: resumed exactly once, by finishWriter or the timer.
        return await unsafe withUnsafeContinuation { continuation in
            let timer = deadline.map { moment in
                EventLoop.shared.at(moment) { [unowned self] in
                    writerTimedOut()
                }
            }
            writer = unsafe Waiter(continuation: continuation, timer: timer)
            // If there is room by now, the kernel tells of it at once.
            hearOfRoom(true)
        }
    }

    private func hearOfRoom(_ wanted: Bool) {
        guard wanted != hearsOfRoom, EventLoop.shared.watch(self, forRoom: wanted) else { return }
        hearsOfRoom = wanted
    }

    private func writerTimedOut() {
        guard let waiter = writer else { return }
        writer = nil
        unsafe waiter.continuation.resume(returning: .timedOut)
    }

    public enum Transfer: Equatable, Sendable {
        case bytes(Int)
        case wouldBlock
        case ended
        case failed(Int32)
    }

    /// One read into the caller's memory, which the caller wipes.
    public func read(into room: UnsafeMutableRawBufferPointer) -> Transfer {
        guard !isClosed else { return .ended }
        // SAFETY: the kernel writes at most the room's count.
        let got = unsafe CLinux.read(number, room.baseAddress, room.count)
        if got > 0 {
            if got < room.count && !hungUp { readable = false }
            return .bytes(got)
        }
        if got == 0 { return .ended }
        let error = appvault_errno()
        switch error {
        case EAGAIN:
            readable = false
            return .wouldBlock
        case EINTR: return .wouldBlock
        case ECONNRESET: return .ended
        default: return .failed(error)
        }
    }

    /// One write. It never raises SIGPIPE.
    public func write(_ bytes: Span<UInt8>) -> Transfer {
        guard !isClosed else { return .ended }
        // SAFETY: the kernel reads exactly the span.
        let sent = unsafe bytes.withUnsafeBytes { buffer in
            unsafe appvault_send(number, buffer.baseAddress, buffer.count)
        }
        if sent >= 0 { return .bytes(sent) }
        let error = appvault_errno()
        switch error {
        case EAGAIN:
            writable = false
            return .wouldBlock
        case EINTR: return .wouldBlock
        case EPIPE, ECONNRESET: return .ended
        default: return .failed(error)
        }
    }

    /// The next connection of a listening socket.
    public func accept() -> Accepted {
        guard !isClosed else { return .failed(EBADF) }
        let accepted = appvault_accept(number)
        if accepted >= 0 { return .connection(accepted) }
        let error = appvault_errno()
        switch error {
        case EAGAIN:
            readable = false
            return .wouldBlock
        case EINTR, ECONNABORTED: return .again
        default: return .failed(error)
        }
    }

    public enum Accepted: Sendable {
        case connection(Int32)
        case wouldBlock
        case again
        case failed(Int32)
    }
}
