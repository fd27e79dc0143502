internal import CLinux

/// The signals that come while this program waits for a command: none of them ends us, and each
/// that is sent to us goes on to the command. For the whole rest of a program without threads.
@safe
public final class HeldSignals: Sendable {
    let descriptor: FileDescriptor
    let before: sigset_t
    let ignoredChildren: Bool

    public init() throws(PosixError) {
        appvault_fill_standard_descriptors()
        var held = sigset_t()
        var before = sigset_t()
        // SAFETY: both sets are ours, and the call fills them.
        unsafe appvault_hold_signals(&held, &before)
        ignoredChildren = appvault_hear_of_children() != 0
        let number = unsafe signalfd(-1, &held, Int32(SFD_CLOEXEC | SFD_NONBLOCK))
        guard number >= 0 else { throw .last("signalfd") }
        descriptor = FileDescriptor(owning: number)
        self.before = before
    }

    /// Those that a process has sent, and not the terminal, from which the command gets its own.
    func sent() -> [Int32] {
        var numbers: [Int32] = []
        var isSent: Int32 = 0
        // SAFETY: the number is ours, and the call fills it if it returns a signal.
        while case let signal = unsafe appvault_sent_signal(descriptor.raw, &isSent), signal != 0 {
            if isSent != 0, signal != SIGCHLD { numbers.append(signal) }
        }
        return numbers
    }
}

/// A command that this program starts for the person and waits for, as a shell does: it has our
/// terminal, our descriptors and our environment. Some commands go to the background and leave
/// another process running that does the work; these processes are waited for as well.
@safe
public struct StartedCommand: ~Copyable {
    public enum Event: Equatable, Sendable {
        /// The command itself has ended, and something that it has started goes on.
        case leftRunning(Ending)
        /// All of it has ended.
        case ended(Ending)
        case late
    }

    public struct Ending: Equatable, Sendable {
        /// As a shell says it: 128 and the signal's number if a signal has ended it.
        public var status: Int32
        public var isBySignal: Bool
    }

    private let process: Int32
    private let signals: HeldSignals
    /// Children that whoever ran before us in this process has left to us.
    private let strangers: Set<Int32>
    /// The command's own, once it has ended.
    private var ending: Ending?
    private var isLeftRunningTold = false

    /// Throws ENOENT or another error of `execvp` if the command cannot be executed.
    public init(
        _ arguments: [[UInt8]], _ signals: HeldSignals, core: ToolIO.CoreLimit
    ) throws(PosixError) {
        strangers = Self.children()
        guard appvault_adopt_orphans() == 0 else { throw .last("PR_SET_CHILD_SUBREAPER") }
        process = try Self.start(arguments, signals, core, output: -1)
        self.signals = signals
    }

    static func start(
        _ arguments: [[UInt8]], _ signals: HeldSignals, _ core: ToolIO.CoreLimit, output: Int32
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
        var mask = signals.before
        var core = core.raw
        // SAFETY: everything that the call reads is ours, and the array of strings ends with nil.
        let child = unsafe appvault_start_command(
            &strings, &mask, signals.ignoredChildren ? 1 : 0, &core, output, ends[1])
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
            for signal in signals.sent() { passOn(signal) }
            if let event = look() { return event }
            let now = ToolIO.milliseconds
            if milliseconds >= 0, now >= end { return .late }
            var entry = pollfd(fd: signals.descriptor.raw, events: Int16(POLLIN), revents: 0)
            // SAFETY: the count is 1, and there is one entry.
            _ = unsafe poll(&entry, 1, milliseconds < 0 ? -1 : Int32(end - now))
        }
    }

    /// To the command or, once it has ended, to what it has left.
    private func passOn(_ signal: Int32) {
        for process in ending == nil ? [process] : left { kill(process, signal) }
    }

    private mutating func look() -> Event? {
        while true {
            var raw: Int32 = 0
            // SAFETY: the number is ours, and the call fills it if it returns a process.
            let ended = unsafe waitpid(-1, &raw, WNOHANG)
            if ended == process {
                let status = appvault_exit_status(raw)
                ending = Ending(status: status, isBySignal: appvault_ended_by_signal(raw) != 0)
            }
            if ended <= 0 { break }
        }
        guard let ending else { return nil }
        if left.isEmpty { return .ended(ending) }
        guard !isLeftRunningTold else { return nil }
        isLeftRunningTold = true
        return .leftRunning(ending)
    }

    /// What the command has left running, as far as it is our child by now.
    private var left: Set<Int32> { Self.children().subtracting(strangers) }

    private static func children() -> Set<Int32> {
        let number = getpid()
        let path = "/proc/self/task/\(number)/children"
        let list = ToolIO.contents(of: Array(path.utf8)) ?? []
        return Set(
            list.split(separator: 0x20).compactMap { Int32(String(decoding: $0, as: UTF8.self)) })
    }
}

extension StartedCommand {
    public struct Output: Sendable {
        public var status: Int32
        /// What it has written, line by line.
        public var lines: [[UInt8]]
    }

    /// More than any command of ours writes; the rest is read and dropped.
    private static let mostOutput = 65_536
    /// Milliseconds that a command has for its end once its lifeline is cut.
    private static let lastWords: UInt64 = 3_000

    /// Runs a command of our own, which writes little, and ends it if it takes longer. The thread
    /// that calls this must not end before the process does: the command would end with it.
    public static func output(
        of arguments: [[UInt8]], _ signals: HeldSignals, core: ToolIO.CoreLimit,
        milliseconds: Int32, lifeline: Lifeline? = nil
    ) throws(PosixError) -> Output {
        var ends: [Int32] = [-1, -1]
        // SAFETY: the kernel fills in two numbers, for which there is room.
        guard unsafe appvault_pipe(&ends) == 0 else { throw .last("pipe2") }
        let reading = FileDescriptor(owning: ends[0])
        let writing = FileDescriptor(owning: ends[1])
        let process = try start(arguments, signals, core, output: writing.raw)
        _ = consume writing
        var output: [UInt8] = []
        var end = ToolIO.milliseconds + UInt64(milliseconds)
        var cut = lifeline
        while true {
            let now = ToolIO.milliseconds
            var entries = [
                pollfd(fd: reading.raw, events: Int16(POLLIN), revents: 0),
                pollfd(fd: cut?.descriptor.raw ?? -1, events: Int16(POLLIN), revents: 0),
            ]
            // This process itself may have been stopped meanwhile: what was written counts also
            // after the end.
            // SAFETY: the count is that of the entries.
            let ready = unsafe poll(&entries, 2, now < end ? Int32(end - now) : 0)
            if ready < 0, appvault_errno() == EINTR { continue }
            guard ready > 0, now < end || output.count < mostOutput else { break }
            if entries[1].revents != 0 {
                kill(process, SIGTERM)
                end = min(end, now + lastWords)
                cut = nil
            }
            guard entries[0].revents != 0 else { continue }
            var piece = [UInt8](repeating: 0, count: 4096)
            // SAFETY: at most the size of the array is read into it.
            let count = unsafe piece.withUnsafeMutableBytes { buffer in
                unsafe read(reading.raw, buffer.baseAddress, buffer.count)
            }
            guard count > 0 else { break }
            if output.count < mostOutput { output += piece.prefix(count) }
        }
        return Output(
            status: wait(for: process, until: end),
            lines: output.split(separator: 0x0A).map { Array($0) })
    }

    /// It has written its last; if it does not end by itself it is ended.
    private static func wait(for process: Int32, until end: UInt64) -> Int32 {
        var raw: Int32 = 0
        while ToolIO.milliseconds < end {
            // SAFETY: the number is ours, and the call fills it if the process has ended.
            let ended = unsafe waitpid(process, &raw, WNOHANG)
            if ended == process { return appvault_exit_status(raw) }
            guard ended == 0 || appvault_errno() == EINTR else { return -1 }
            ToolIO.wait(milliseconds: 1)
        }
        kill(process, SIGKILL)
        // SAFETY: as above.
        while unsafe waitpid(process, &raw, 0) < 0, appvault_errno() == EINTR {}
        return appvault_exit_status(raw)
    }
}
