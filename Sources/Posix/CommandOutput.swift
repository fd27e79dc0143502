internal import CLinux

extension ToolIO {
    /// Runs a program to its end and appends what it writes, a secret, to `result`. Returns its exit
    /// status; a program that writes more than `limit` bytes is ended.
    public static func output(
        of arguments: [[UInt8]], into result: inout SecretBuffer, atMost limit: Int
    ) throws(PosixError) -> Int32 {
        let start = result.count
        return try run(arguments) { descriptor in
            guard let got = try? result.read(from: descriptor, atMost: 16_384), got > 0 else {
                return .ended
            }
            return result.count - start > limit ? .enough : .more
        }
    }

    /// Runs a program to its end and hands on what it writes, which is no secret, piece by piece.
    public static func output(
        of arguments: [[UInt8]], _ take: (Span<UInt8>) -> Void
    ) throws(PosixError) -> Int32 {
        var piece = SecretBuffer(capacity: 65_536)
        return try run(arguments) { descriptor in
            piece.removeAll()
            guard let got = try? piece.read(from: descriptor, atMost: 65_536), got > 0 else {
                return .ended
            }
            piece.withSpan { take($0) }
            return .more
        }
    }

    private enum Reading { case more, enough, ended }

    private static func run(
        _ arguments: [[UInt8]], _ read: (Int32) -> Reading
    ) throws(PosixError) -> Int32 {
        appvault_fill_standard_descriptors()
        let output = try CommandPipe()
        let failures = try CommandPipe()
        var strings: [UnsafeMutablePointer<CChar>?] = unsafe []
        for argument in arguments {
            // SAFETY: the text ends with a NUL. The copy lives until it is freed below.
            unsafe strings.append(strdup(argument.map { CChar(bitPattern: $0) } + [0]))
        }
        unsafe strings.append(nil)
        let terminal = terminalName()
        // SAFETY: the path ends with a NUL, the array of strings with nil, and both live on here.
        let child = unsafe withPath(terminal) { name in
            unsafe appvault_start_writing(
                &strings, terminal.isEmpty ? nil : name, output.writing.raw, failures.writing.raw)
        }
        let forked = appvault_errno()
        while let string = unsafe strings.popLast() { unsafe free(string) }
        guard child > 0 else { throw PosixError(call: "fork", number: forked) }
        let reading = output.keepReading()
        let failing = failures.keepReading()
        var number: Int32 = 0
        // SAFETY: at most the size of the number is read into it.
        while unsafe CLinux.read(failing.raw, &number, MemoryLayout<Int32>.size) < 0,
            appvault_errno() == EINTR
        {}
        reading: while number == 0 {
            switch read(reading.raw) {
            case .more: continue
            case .enough:
                kill(child, SIGTERM)
                break reading
            case .ended: break reading
            }
        }
        var raw: Int32 = 0
        // SAFETY: the number is ours, and the call fills it.
        while unsafe waitpid(child, &raw, 0) < 0, appvault_errno() == EINTR {}
        guard number == 0 else { throw PosixError(call: "execv", number: number) }
        return appvault_exit_status(raw)
    }

    /// Where a program is, as a shell would find it.
    public static func program(_ name: String) -> [UInt8]? {
        let folders = variable("PATH") ?? Array("/usr/local/bin:/usr/bin:/bin".utf8)
        for folder in folders.split(separator: UInt8(ascii: ":")) {
            let path = folder + [UInt8(ascii: "/")] + Array(name.utf8)
            if folder.first == UInt8(ascii: "/"), isExecutable(Array(path)) { return Array(path) }
        }
        return nil
    }
}

private struct CommandPipe: ~Copyable {
    let reading: FileDescriptor
    let writing: FileDescriptor

    init() throws(PosixError) {
        var ends: [Int32] = [-1, -1]
        // SAFETY: the kernel fills in two numbers, for which there is room.
        guard unsafe appvault_pipe(&ends) == 0 else { throw .last("pipe2") }
        reading = FileDescriptor(owning: ends[0])
        writing = FileDescriptor(owning: ends[1])
    }

    /// The other end is closed here.
    consuming func keepReading() -> FileDescriptor { reading }
}
