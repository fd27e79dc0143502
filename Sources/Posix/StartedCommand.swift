internal import CLinux

/// A command that this program starts for the person and waits for, as a shell does: it has our
/// terminal, our descriptors and our environment. Only for programs without threads.
///
/// Some commands go to the background and leave another process running that does the work. These
/// processes are waited for as well.
@safe
public struct StartedCommand: ~Copyable {
    public enum Event: Equatable, Sendable {
        /// The command itself has ended well, and something that it has started goes on.
        case leftRunning
        /// All of it has ended. The status is as a shell says it: 128 and the signal's number if
        /// it was killed.
        case ended(status: Int32)
        case late
    }

    private let process: Int32
    private let signals: Int32
    private let before: sigset_t
    /// The command's own status, once it has ended.
    private var status: Int32?
    private var isLeftRunningTold = false

    /// What is sent to us is meant for the command. What the terminal sends, the command has got as
    /// well as we.
    private static let passedOn = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM]

    /// `output` gets what the command writes; nil is our own output and errors. Throws ENOENT or
    /// EACCES if the command cannot be executed.
    public init(
        _ arguments: [[UInt8]], core: ToolIO.CoreLimit, output: Int32? = nil
    ) throws(PosixError) {
        guard appvault_adopt_orphans() == 0 else { throw .last("PR_SET_CHILD_SUBREAPER") }
        var watched = sigset_t()
        var before = sigset_t()
        // SAFETY: both sets are ours; the mask is put back at the end.
        unsafe sigemptyset(&watched)
        for number in Self.passedOn + [SIGCHLD] { unsafe sigaddset(&watched, number) }
        unsafe _ = pthread_sigmask(SIG_BLOCK, &watched, &before)
        let signals = unsafe signalfd(-1, &watched, Int32(SFD_CLOEXEC | SFD_NONBLOCK))
        do throws(PosixError) {
            guard signals >= 0 else { throw .last("signalfd") }
            process = try Self.start(arguments, before, core, output: output ?? -1)
        } catch {
            if signals >= 0 { _ = close(signals) }
            unsafe _ = pthread_sigmask(SIG_SETMASK, &before, nil)
            throw error
        }
        self.signals = signals
        self.before = before
    }

    deinit {
        _ = close(signals)
        // SAFETY: the mask from before, which init has filled.
        var before = before
        unsafe _ = pthread_sigmask(SIG_SETMASK, &before, nil)
    }

    private static func start(
        _ arguments: [[UInt8]], _ before: sigset_t, _ core: ToolIO.CoreLimit, output: Int32
    ) throws(PosixError) -> Int32 {
        var ends: [Int32] = [-1, -1]
        // SAFETY: the kernel fills in two numbers, for which there is room.
        guard unsafe appvault_pipe(&ends) == 0 else { throw .last("pipe2") }
        let failure = FileDescriptor(owning: ends[0])
        var strings: [UnsafeMutablePointer<CChar>?] = unsafe []
        for argument in arguments {
            let text = argument.map { CChar(bitPattern: $0) } + [0]
            // SAFETY: the text ends with a NUL. The copy lives until it is freed below.
            unsafe strings.append(strdup(text))
        }
        unsafe strings.append(nil)
        var signals = before
        var core = core.raw
        // SAFETY: everything that the call reads is ours, and the array of strings ends with nil.
        let child = unsafe appvault_start_command(&strings, &signals, &core, output, ends[1])
        let forked = appvault_errno()
        while let string = unsafe strings.popLast() { unsafe free(string) }
        _ = close(ends[1])
        guard child > 0 else { throw PosixError(call: "fork", number: forked) }
        var number: Int32 = 0
        // SAFETY: at most the size of the number is read into it.
        let count = unsafe read(failure.raw, &number, MemoryLayout<Int32>.size)
        guard count <= 0 else {
            _ = waitpid(child, nil, 0)
            throw PosixError(call: "execvp", number: number)
        }
        return child
    }

    /// Waits for the next event; for ever if `milliseconds` is -1. It tells `leftRunning` once.
    public mutating func next(_ milliseconds: Int32 = -1) -> Event {
        let end = ToolIO.milliseconds + UInt64(max(0, milliseconds))
        while true {
            if let event = reap() { return event }
            let now = ToolIO.milliseconds
            if milliseconds >= 0, now >= end { return .late }
            var entry = pollfd(fd: signals, events: Int16(POLLIN), revents: 0)
            // SAFETY: the count is 1, and there is one entry.
            _ = unsafe poll(&entry, 1, milliseconds < 0 ? -1 : Int32(end - now))
            passOn()
        }
    }

    private func passOn() {
        var isSent: Int32 = 0
        // SAFETY: the number is ours, and the call fills it if it returns a signal.
        while case let signal = unsafe appvault_sent_signal(signals, &isSent), signal != 0 {
            if signal != SIGCHLD, isSent != 0, status == nil { kill(process, signal) }
        }
    }

    private mutating func reap() -> Event? {
        while true {
            var raw: Int32 = 0
            // SAFETY: the number is ours, and the call fills it if it returns a process.
            let ended = unsafe waitpid(-1, &raw, WNOHANG)
            if ended < 0 { return .ended(status: status ?? 0) }
            if ended == 0 {
                guard status != nil, !isLeftRunningTold else { return nil }
                isLeftRunningTold = true
                return .leftRunning
            }
            guard ended == process else { continue }
            let status = appvault_exit_status(raw)
            self.status = status
            // A command that has failed has left nothing to wait for.
            if status != 0 { return .ended(status: status) }
        }
    }
}

extension StartedCommand {
    /// Runs a command of ours to its end, and returns what it has written, without the last line
    /// break.
    public static func output(
        of arguments: [[UInt8]], core: ToolIO.CoreLimit
    ) throws(PosixError) -> (status: Int32, output: [UInt8]) {
        var ends: [Int32] = [-1, -1]
        // SAFETY: the kernel fills in two numbers, for which there is room.
        guard unsafe appvault_pipe(&ends) == 0 else { throw .last("pipe2") }
        let reading = FileDescriptor(owning: ends[0])
        let writing = FileDescriptor(owning: ends[1])
        var command = try StartedCommand(arguments, core: core, output: writing.raw)
        var status: Int32 = 0
        wait: while true {
            switch command.next() {
            case .ended(let ended):
                status = ended
                break wait
            case .leftRunning, .late: continue
            }
        }
        // What a pipe holds is more than these commands write. With our end of it closed there is
        // no writer left.
        _ = consume writing
        var output = [UInt8](repeating: 0, count: 4096)
        // SAFETY: at most the size of the array is read into it.
        let count = unsafe output.withUnsafeMutableBytes { buffer in
            unsafe read(reading.raw, buffer.baseAddress, buffer.count)
        }
        output.removeLast(output.count - max(0, count))
        while output.last == 0x0A { output.removeLast() }
        return (status, output)
    }
}
