internal import CLinux

/// What the command line needs of the system: its own descriptors, its caller, its environment.
public enum ToolIO {
    public static func write(_ descriptor: Int32, _ bytes: Span<UInt8>) throws(PosixError) {
        var written = 0
        while written < bytes.count {
            // SAFETY: the offset is below the count, and write reads no further than the rest.
            let count = unsafe bytes.withUnsafeBufferPointer { buffer in
                unsafe CLinux.write(
                    descriptor, buffer.baseAddress! + written, bytes.count - written)
            }
            if count >= 0 {
                written += count
                continue
            }
            switch appvault_errno() {
            case EINTR: continue
            case EAGAIN:
                // Some program made our output non-blocking: wait, so that the rest is not lost.
                var watched = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                // SAFETY: the count is 1, and there is one entry.
                _ = unsafe poll(&watched, 1, -1)
            default: throw PosixError.last("write")
            }
        }
    }

    /// From now on a pipe that nobody reads any more is an error of one write, not the end of the
    /// program.
    public static func ignoreBrokenPipes() { appvault_ignore_sigpipe() }

    /// Where the caller has closed a standard descriptor, the next file would get its number: what is
    /// printed would go to the daemon, or into an export. What stands there instead fails as well.
    public static func occupyStandardDescriptors() {
        for descriptor: Int32 in 0...2 where !isOpen(descriptor) {
            // The lowest free number is this one.
            // SAFETY: the path is a literal that ends with a NUL.
            _ = unsafe appvault_open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY, 0)
        }
    }

    public static func isTerminal(_ descriptor: Int32) -> Bool {
        isatty(descriptor) == 1
    }

    /// 0 if the width is unknown.
    public static func columns(_ descriptor: Int32) -> Int {
        Int(appvault_columns(descriptor))
    }

    /// The name of the first terminal among the three standard descriptors; empty if none is a
    /// terminal.
    public static func terminalName() -> [UInt8] {
        for descriptor: Int32 in 0...2 {
            // SAFETY: ttyname_r writes at most the count it is given, NUL included.
            let name = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) {
                buffer in
                guard unsafe ttyname_r(descriptor, buffer.baseAddress!, 256) == 0 else {
                    return [UInt8]()
                }
                return unsafe bytes(buffer.baseAddress!)
            }
            if !name.isEmpty { return name }
        }
        return []
    }

    /// The arguments as bytes, without the program's name: a name need not be UTF-8.
    public static func arguments() -> [[UInt8]] {
        var result: [[UInt8]] = []
        // SAFETY: argv holds argc strings for the whole life of the process.
        for index in 1..<max(1, Int(CommandLine.argc)) {
            if let argument = unsafe CommandLine.unsafeArgv[index] {
                unsafe result.append(bytes(argument))
            }
        }
        return result
    }

    public static func variable(_ name: String) -> [UInt8]? {
        // SAFETY: no code in this program changes the environment.
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe bytes(value)
    }

    public static var realUID: UInt32 { getuid() }
    public static var effectiveUID: UInt32 { geteuid() }

    public enum Account: Equatable, Sendable {
        case uid(UInt32)
        case missing
        case unknown(PosixError)
    }

    public static func account(named name: [UInt8]) -> Account {
        guard !name.contains(0) else { return .missing }
        // SAFETY: getpwnam_r writes only into the record and the buffer, which are ours, and sets
        // `found` if it did.
        return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 65_536) { buffer in
            var record = unsafe passwd()
            var found: UnsafeMutablePointer<passwd>?
            let text = name.map { CChar(bitPattern: $0) } + [0]
            let failure = unsafe getpwnam_r(
                text, &record, buffer.baseAddress!, buffer.count, &found)
            if unsafe found != nil { return unsafe .uid(record.pw_uid) }
            return failure == 0 ? .missing : .unknown(PosixError(call: "getpwnam", number: failure))
        }
    }

    public static func accountName(_ uid: UInt32) -> [UInt8]? {
        // SAFETY: as above.
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 65_536) { buffer in
            var record = unsafe passwd()
            var found: UnsafeMutablePointer<passwd>?
            let failure = unsafe getpwuid_r(uid, &record, buffer.baseAddress!, buffer.count, &found)
            guard failure == 0, unsafe found != nil, let name = unsafe record.pw_name else {
                return nil
            }
            return unsafe bytes(name)
        }
    }

    /// `2026-11-21 08:22` in the person's own time zone.
    public static func localTime(_ seconds: UInt64) -> [UInt8] {
        local(seconds, "%Y-%m-%d %H:%M")
    }

    /// `08:22:07` in the person's own time zone.
    public static func localClock(_ seconds: UInt64) -> [UInt8] { local(seconds, "%H:%M:%S") }

    private static func local(_ seconds: UInt64, _ format: String) -> [UInt8] {
        var time = time_t(clamping: seconds)
        var parts = unsafe tm()
        // SAFETY: both structures are ours, and strftime ends what it writes with a NUL.
        guard unsafe localtime_r(&time, &parts) != nil else { return [] }
        return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
            guard unsafe strftime(buffer.baseAddress!, 64, format, &parts) > 0 else {
                return []
            }
            return unsafe bytes(buffer.baseAddress!)
        }
    }

    /// Seconds since 1970, from the wall clock.
    public static var now: UInt64 { appvault_clock_ms(CLOCK_REALTIME) / 1000 }

    public static var milliseconds: UInt64 { appvault_clock_ms(CLOCK_MONOTONIC) }

    public static func wait(milliseconds: Int32) {
        _ = poll(nil, 0, milliseconds)
    }

    /// The reason for an error number, in the system's words.
    public static func reason(_ error: PosixError) -> [UInt8] {
        let text = Array(error.description.utf8)
        let prefix = error.call.utf8.count + 2
        return Array(text.dropFirst(prefix))
    }

    /// How large a core file may become, for a command that is started later.
    public struct CoreLimit: Sendable {
        var raw: rlimit
    }

    /// If this program crashes, no copy of a secret may be left in a core file. Returns the limit
    /// that was there before.
    public static func leaveNoCore() -> CoreLimit {
        let kind = __rlimit_resource_t(UInt32(RLIMIT_CORE.rawValue))
        var limit = rlimit(rlim_cur: 0, rlim_max: 0)
        // SAFETY: one structure, which the first call fills and the second reads.
        _ = unsafe getrlimit(kind, &limit)
        let before = CoreLimit(raw: limit)
        limit.rlim_cur = 0
        _ = unsafe setrlimit(kind, &limit)
        return before
    }

    public static func isOpen(_ descriptor: Int32) -> Bool {
        appvault_fcntl(descriptor, F_GETFD, 0) >= 0
    }

    /// For descriptors that somebody else has left to us.
    public static func close(_ descriptor: Int32) {
        _ = CLinux.close(descriptor)
    }

    public static func exit(_ status: Int32) -> Never {
        CLinux.exit(status)
    }

    static func bytes(_ text: UnsafePointer<CChar>) -> [UInt8] {
        // SAFETY: the caller passes a NUL-terminated string.
        let count = unsafe strlen(text)
        return unsafe UnsafeBufferPointer(start: text, count: count).map { UInt8(bitPattern: $0) }
    }

    static func withPath<R>(_ path: [UInt8], _ body: (UnsafePointer<CChar>) -> R) -> R {
        let text = path.map { CChar(bitPattern: $0) } + [0]
        // SAFETY: the array ends with a NUL and lives as long as the closure runs.
        return unsafe text.withUnsafeBufferPointer { unsafe body($0.baseAddress!) }
    }
}
