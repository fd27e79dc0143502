internal import CLinux

/// A descriptor on the loop: waits until it can be read or written, with a deadline.
///
/// Confined to the loop's thread: its callbacks come from the loop itself, everything else is the
/// loop's actor.
public final class Channel: @unchecked Sendable {
    public enum Wake: Equatable, Sendable {
        case ready
        case timedOut
        case closed
    }

    public let number: Int32
    public private(set) var isClosed = false
    // Edge-triggered: a flag stays up until an operation said "would block".
    private var readable = false
    private var writable = true
    private var reader: Waiter?
    private var writer: Waiter?

    // SAFETY: the continuation is resumed exactly once, where the waiter is taken out of its
    // variable.
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

    /// One that was accepted and never blocks.
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

    func happened(_ events: UInt32) {
        if events & APPVAULT_HANGUP != 0 { hungUp = true }
        if events & APPVAULT_READABLE != 0 {
            readable = true
            finishReader(.ready)
        }
        if events & APPVAULT_WRITABLE != 0 {
            writable = true
            finishWriter(.ready)
        }
    }

    /// The peer has closed at least its side: a short read does not mean "drained" any more.
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

    /// Asked of the kernel now; a closed one has, too.
    @LoopActor
    public var hasHungUp: Bool { isClosed || appvault_hung_up(number) != 0 }

    /// Waits until a read may give something. One reader at a time.
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

    /// Whoever waits to read is told that the time is over; nothing is lost by it.
    @LoopActor
    public func wakeReader() {
        finishReader(.timedOut)
    }

    /// The same for whoever waits to write.
    @LoopActor
    public func wakeWriter() {
        finishWriter(.timedOut)
    }

    /// Somebody else reads this descriptor, and has read all that was there.
    @LoopActor
    public func drained() {
        readable = false
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
        }
    }

    private func writerTimedOut() {
        guard let waiter = writer else { return }
        writer = nil
        unsafe waiter.continuation.resume(returning: .timedOut)
    }

    /// Whether somebody waits to read: who does not, has an exchange under way.
    public var isWaitingToRead: Bool {
        reader != nil
    }

    public enum Transfer: Equatable, Sendable {
        case bytes(Int)
        case wouldBlock
        case ended
        case failed(Int32)
    }

    /// One read into memory that the caller wipes.
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

    /// One write; SIGPIPE never comes.
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
