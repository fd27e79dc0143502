internal import CLinux

/// This program gives way to a command, which keeps its process: the terminal, the signals and the
/// exit status are the command's own.
public enum BecomingCommand {
    /// Returns only if the command cannot be executed. `HeldSignals` are let go of.
    public static func become(
        _ arguments: [[UInt8]], _ signals: borrowing HeldSignals, core: ToolIO.CoreLimit
    ) -> PosixError {
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
        let number = unsafe appvault_become_command(
            &strings, &mask, signals.ignoredChildren ? 1 : 0, &core)
        while let string = unsafe strings.popLast() { unsafe free(string) }
        return PosixError(call: "execvp", number: number)
    }

    /// For the command. To be called by a program without threads.
    public static func set(_ name: [UInt8], to value: borrowing SecretBuffer) -> Bool {
        let name = name.map { CChar(bitPattern: $0) } + [0]
        var copy = SecretBuffer()
        copy.append(value)
        // SAFETY: both texts end with a NUL, and the environment gets a copy.
        return unsafe copy.withCString { unsafe setenv(name, $0, 1) } == 0
    }

    /// The command does not get this descriptor.
    public static func keep(_ descriptor: Int32) {
        _ = appvault_fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    /// Of this process, from the mount of control groups on; nil where nobody can say.
    public static var controlGroup: [UInt8]? {
        ToolIO.contents(of: Array("/proc/self/cgroup".utf8))?
            .split(separator: 0x0A)
            .first { $0.starts(with: Array("0::".utf8)) }
            .map { Array($0.dropFirst(3)) }
    }
}

/// A value in memory that a command reads as a file. Nothing changes it any more.
public struct SealedFile: ~Copyable {
    private let file: FileDescriptor

    public init(_ value: borrowing SecretBuffer) throws(PosixError) {
        let number = appvault_sealable_file()
        guard number >= 0 else { throw .last("memfd_create") }
        let made = FileDescriptor(owning: number)
        try value.withSpan { span throws(PosixError) in try ToolIO.write(number, span) }
        guard appvault_seal_file(number) == 0 else { throw .last("fcntl") }
        file = made
    }

    /// Stays open in the command. Its path there.
    public consuming func leave() -> [UInt8] {
        Array("/dev/fd/\(file.release())".utf8)
    }
}
