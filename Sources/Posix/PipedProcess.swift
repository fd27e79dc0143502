internal import CLinux

/// A program that this process asks by one pipe and hears by another. It ends with this value, and
/// with this process, however that ends.
public struct PipedProcess: ~Copyable {
    public enum Arrival: Equatable, Sendable {
        /// The program has written something, or will write nothing more.
        case output
        /// There is something at the other descriptor.
        case other
        case late
    }

    private let input: FileDescriptor
    private let output: FileDescriptor
    private let process: EndedProcess

    /// `told` is all that the program is ever told. It lies in the pipe before the program starts:
    /// writing it can neither take long nor meet a program that has ended.
    public init(
        _ path: [UInt8], argument: StaticString? = nil, environment: [[UInt8]], told: [UInt8]
    ) throws(PosixError) {
        // Otherwise one of the pipes could take the place of a standard descriptor.
        appvault_fill_standard_descriptors()
        let questions = try Pipe()
        try Self.fill(questions.writing, told)
        try self.init(path, environment, questions, reading: nil, argument: argument)
    }

    /// The same with a file at its standard input, and nothing in its environment.
    public init(_ path: [UInt8], reading source: borrowing SourceFile) throws(PosixError) {
        appvault_fill_standard_descriptors()
        try self.init(path, [], try Pipe(), reading: source.raw)
    }

    /// The same with a device at its standard input, and one argument.
    public init(
        _ path: [UInt8], argument: StaticString, reading device: borrowing DeviceFile
    ) throws(PosixError) {
        appvault_fill_standard_descriptors()
        try self.init(path, [], try Pipe(), reading: device.raw, argument: argument)
    }

    /// The same, and it draws into a pipe, its fourth descriptor.
    public init(
        _ path: [UInt8], argument: StaticString, reading device: borrowing DeviceFile,
        drawing pictures: borrowing PicturePipe
    ) throws(PosixError) {
        appvault_fill_standard_descriptors()
        try self.init(
            path, [], try Pipe(), reading: device.raw, argument: argument, third: pictures.drawing)
    }

    private init(
        _ path: [UInt8], _ environment: [[UInt8]], _ questions: consuming Pipe,
        reading source: Int32?, argument: StaticString? = nil, third: Int32 = -1
    ) throws(PosixError) {
        let answers = try Pipe()
        let failures = try Pipe()
        var strings: [UnsafeMutablePointer<CChar>?] = unsafe []
        for entry in environment {
            let text = entry.map { CChar(bitPattern: $0) } + [0]
            // SAFETY: the text ends with a NUL. The copy lives until it is freed below.
            unsafe strings.append(strdup(text))
        }
        unsafe strings.append(nil)
        // SAFETY: a literal lives for ever and ends with a NUL; bytes and chars have the same layout.
        let argument = unsafe argument.map {
            unsafe UnsafeRawPointer($0.utf8Start).assumingMemoryBound(to: CChar.self)
        }
        // SAFETY: the path ends with a NUL, the array of strings with nil, and both live on here.
        let child = unsafe ToolIO.withPath(path) {
            unsafe appvault_start_piped(
                $0, argument, &strings, source ?? questions.reading.raw, answers.writing.raw,
                third, failures.writing.raw)
        }
        let forked = appvault_errno()
        while let string = unsafe strings.popLast() { unsafe free(string) }
        guard child > 0 else { throw PosixError(call: "fork", number: forked) }
        let process = EndedProcess(process: child)
        let input = questions.keepWriting()
        let output = answers.keepReading()
        let failing = failures.keepReading()
        var number: Int32 = 0
        // SAFETY: at most the size of the number is read into it.
        while unsafe CLinux.read(failing.raw, &number, MemoryLayout<Int32>.size) < 0,
            appvault_errno() == EINTR
        {}
        guard number == 0 else { throw PosixError(call: "execve", number: number) }
        self.process = process
        self.input = input
        self.output = output
    }

    fileprivate struct Pipe: ~Copyable {
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
        consuming func keepWriting() -> FileDescriptor { writing }
    }

    private static func fill(
        _ pipe: borrowing FileDescriptor, _ bytes: [UInt8]
    ) throws(PosixError) {
        guard appvault_fcntl(pipe.raw, F_SETFL, O_NONBLOCK) >= 0 else { throw .last("fcntl") }
        // SAFETY: write reads no further than the array's count.
        let wrote = unsafe bytes.withUnsafeBytes { buffer in
            unsafe CLinux.write(pipe.raw, buffer.baseAddress, buffer.count)
        }
        guard wrote == bytes.count else {
            throw wrote < 0 ? .last("write") : PosixError(call: "write", number: EAGAIN)
        }
    }

    /// Waits for what the program writes, or for another descriptor, which is told of first. -1
    /// instead of one is no descriptor, and -1 milliseconds are for ever.
    public borrowing func wait(beside other: Int32, _ milliseconds: Int32) -> Arrival {
        ToolIO.wait(for: output.raw, beside: other, milliseconds)
    }

    /// What there is first.
    public enum Sight: Equatable, Sendable { case output, drawn, rung, late }

    /// Waits for what it writes or draws, and for somebody who rings meanwhile.
    public borrowing func wait(
        _ pictures: borrowing PicturePipe, _ bell: Doorbell?, _ milliseconds: Int32
    ) -> Sight {
        let end = ToolIO.milliseconds + UInt64(max(0, milliseconds))
        var watched = [bell?.raw ?? -1, output.raw, pictures.drawn].map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        while true {
            let now = ToolIO.milliseconds
            // SAFETY: three entries; poll skips a negative descriptor.
            let found = unsafe poll(&watched, 3, Int32(now < end ? end - now : 0))
            if found < 0, appvault_errno() == EINTR { continue }
            guard found > 0 else { return .late }
            if watched[0].revents != 0 {
                bell?.silence()
                return .rung
            }
            return watched[1].revents != 0 ? .output : .drawn
        }
    }

    /// Appends what it has written, at least one byte; 0 is the end.
    public borrowing func read(
        into buffer: inout SecretBuffer, atMost limit: Int
    ) throws(PosixError) -> Int {
        try buffer.read(from: output.raw, atMost: limit)
    }
}

/// What a program draws, for this process to read.
public struct PicturePipe: ~Copyable {
    private let pipe: PipedProcess.Pipe

    var drawing: Int32 { pipe.writing.raw }
    var drawn: Int32 { pipe.reading.raw }

    public init() throws(PosixError) {
        appvault_fill_standard_descriptors()
        pipe = try PipedProcess.Pipe()
        _ = appvault_fcntl(pipe.reading.raw, F_SETFL, O_NONBLOCK)
    }

    /// What lies there, up to 64 KiB of it.
    public borrowing func read() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        // SAFETY: read writes no further than the array's count.
        let got = unsafe bytes.withUnsafeMutableBytes { buffer in
            unsafe CLinux.read(pipe.reading.raw, buffer.baseAddress, buffer.count)
        }
        return Array(bytes.prefix(max(0, got)))
    }
}

extension ToolIO {
    /// Waits for a descriptor alone.
    public static func wait(for other: Int32, _ milliseconds: Int32) -> PipedProcess.Arrival {
        wait(for: -1, beside: other, milliseconds)
    }

    fileprivate static func wait(
        for output: Int32, beside other: Int32, _ milliseconds: Int32
    ) -> PipedProcess.Arrival {
        let end = ToolIO.milliseconds + UInt64(max(0, milliseconds))
        var watched = [
            pollfd(fd: other, events: Int16(POLLIN), revents: 0),
            pollfd(fd: output, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            let now = ToolIO.milliseconds
            let rest = milliseconds < 0 ? -1 : Int32(now < end ? end - now : 0)
            // SAFETY: two entries; poll skips a negative descriptor.
            let found = unsafe poll(&watched, 2, rest)
            if found < 0, appvault_errno() == EINTR { continue }
            guard found > 0 else { return .late }
            return watched[0].revents != 0 ? .other : .output
        }
    }

    public static func isExecutable(_ path: [UInt8]) -> Bool {
        guard !path.contains(0) else { return false }
        // SAFETY: the path ends with a NUL and lives as long as the call.
        return unsafe withPath(path) { unsafe appvault_is_executable($0) } != 0
    }
}

/// Ends a child of this process. Public, because the optimiser of Swift 6.3 makes a broken module of
/// one that holds a hidden type with a `deinit`.
public struct EndedProcess: ~Copyable {
    let process: Int32

    /// It has nothing that it should put away, and it may not want to end.
    deinit {
        kill(-process, SIGKILL)
        kill(process, SIGKILL)
        while waitpid(process, nil, 0) < 0, appvault_errno() == EINTR {}
    }
}
