internal import CLinux

/// What a process that holds keys gives up at its start.
public enum ThisProcess {
    public static func leave(_ status: Int32) -> Never { exit(status) }

    public static var uid: UInt32 { getuid() }
    public static var pid: Int32 { getpid() }

    public enum Hardening: Sendable, Equatable {
        case done
        case failed(PosixError)
    }

    /// Makes it not dumpable (other processes of the same user can use neither ptrace nor
    /// /proc/PID/mem), without core files, and without new privileges.
    public static func harden() -> Hardening {
        guard appvault_not_dumpable() == 0 else { return .failed(.last("PR_SET_DUMPABLE")) }
        guard appvault_no_new_privileges() == 0 else {
            return .failed(.last("PR_SET_NO_NEW_PRIVS"))
        }
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        // SAFETY: the kernel reads the limit only during the call.
        guard unsafe setrlimit(RLIMIT_CORE, &none) == 0 else {
            return .failed(.last("RLIMIT_CORE"))
        }
        var files = rlimit()
        // As many descriptors as allowed, because each open store has two.
        if unsafe getrlimit(RLIMIT_NOFILE, &files) == 0 {
            files.rlim_cur = files.rlim_max
            _ = unsafe setrlimit(RLIMIT_NOFILE, &files)
        }
        umask(0o077)
        appvault_ignore_sigpipe()
        return .done
    }

    /// Replaces the environment that libraries see: nothing remains of what the starting process
    /// passed on.
    public static func replaceEnvironment(with variables: [(name: String, value: String)]) {
        clearenv()
        // SAFETY: setenv copies both strings, and there is only one thread yet.
        for (name, value) in variables { _ = unsafe setenv(name, value, 1) }
    }

    /// Enough for a few hundred connections at once. It costs nothing until it is used.
    private static let roomInHeap = 16 << 20

    /// Gives memory that an idle daemon does not need back to the kernel.
    public static func giveBackMemory() {
        appvault_give_back(roomInHeap)
    }

    /// Gives back the pages of code and data that only the start needed. The kernel reads a page again
    /// if it is used again.
    public static func giveBackCode() {
        appvault_give_back_code()
    }

    /// Gives back what a crowd has left in the heap. Blocks, and so do threads that allocate
    /// meanwhile: for a few milliseconds.
    public static func giveBackHeap() {
        appvault_give_back_heap(roomInHeap)
    }

    /// Gives back what was needed for a moment, and keeps nothing for the next time: for a process that
    /// mostly waits.
    public static func giveBackFreed() {
        appvault_give_back_freed()
    }

    public static var cores: Int {
        max(1, appvault_cores())
    }
}

/// Signals as a descriptor, so that they arrive on the loop like everything else.
public enum Signals {
    public static func descriptor(for numbers: [Int32]) throws(PosixError) -> FileDescriptor {
        var set = sigset_t()
        // SAFETY: the set is filled before it is used.
        unsafe sigemptyset(&set)
        for number in numbers { unsafe sigaddset(&set, number) }
        guard unsafe pthread_sigmask(SIG_BLOCK, &set, nil) == 0 else {
            throw .last("pthread_sigmask")
        }
        let descriptor = unsafe signalfd(-1, &set, Int32(O_CLOEXEC) | Int32(O_NONBLOCK))
        guard descriptor >= 0 else { throw .last("signalfd") }
        return FileDescriptor(owning: descriptor)
    }

    public static let terminate: Int32 = SIGTERM
    public static let interrupt: Int32 = SIGINT
    public static let hangup: Int32 = SIGHUP

    /// The number of the signal, from the bytes of one read of the descriptor.
    public static func number(in bytes: UnsafeRawBufferPointer) -> Int32? {
        guard bytes.count >= 4 else { return nil }
        // SAFETY: ssi_signo is the first field and has four bytes, and the count was checked.
        return Int32(bitPattern: unsafe bytes.loadUnaligned(as: UInt32.self))
    }
}

/// Makes sure that only one daemon uses a state folder.
public struct FolderLock: ~Copyable, Sendable {
    private let file: FileDescriptor

    public enum Failure: Error, Equatable {
        case held
        case posix(PosixError)
    }

    public init(at path: String) throws(Failure) {
        let number = unsafe appvault_open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else { throw .posix(.last("open \(path)")) }
        if flock(number, LOCK_EX | LOCK_NB) != 0 {
            let failure: Failure =
                appvault_errno() == EWOULDBLOCK ? .held : .posix(.last("flock \(path)"))
            close(number)
            throw failure
        }
        file = FileDescriptor(owning: number)
    }
}

/// Accounts, from the directory service. Blocks: must not be called on the loop.
public enum Accounts {
    public enum Answer: Sendable, Equatable {
        case found(name: [UInt8], uid: UInt32)
        case none
        case unknown
    }

    public static func of(uid: UInt32) -> Answer {
        unsafe look { unsafe getpwuid_r(uid, $0, $1, $2, $3) }
    }

    public static func named(_ name: String) -> Answer {
        unsafe look { entry, buffer, size, result in
            unsafe getpwnam_r(name, entry, buffer, size, result)
        }
    }

    private static func look(
        _ ask: (
            UnsafeMutablePointer<passwd>, UnsafeMutablePointer<CChar>, Int,
            UnsafeMutablePointer<UnsafeMutablePointer<passwd>?>
        ) -> Int32
    ) -> Answer {
        var size = 4096
        while size <= 1 << 20 {
            var entry = unsafe passwd()
            var result: UnsafeMutablePointer<passwd>?
            let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: size)
            defer { unsafe buffer.deallocate() }
            // SAFETY: the entry points into `buffer`, which is freed only after the name was
            // copied.
            let failed = unsafe ask(&entry, buffer, size, &result)
            if failed == 0 {
                guard unsafe result != nil, let name = unsafe entry.pw_name else { return .none }
                var bytes: [UInt8] = []
                var index = 0
                while unsafe name[index] != 0 {
                    bytes.append(UInt8(bitPattern: unsafe name[index]))
                    index += 1
                }
                return .found(name: bytes, uid: unsafe entry.pw_uid)
            }
            guard failed == ERANGE else { return .unknown }
            size *= 4
        }
        return .unknown
    }
}

/// For a private daemon on a terminal, and for messages that can go nowhere else.
public enum StandardError {
    public static func write(_ bytes: [UInt8]) {
        // SAFETY: the kernel reads exactly the array.
        _ = unsafe bytes.withUnsafeBytes { buffer in
            unsafe CLinux.write(2, buffer.baseAddress, buffer.count)
        }
    }

    public static var isTerminal: Bool { isatty(2) == 1 }
}

public enum StandardOutput {
    public static func write(_ bytes: [UInt8]) {
        // SAFETY: the kernel reads exactly the array.
        _ = unsafe bytes.withUnsafeBytes { buffer in
            unsafe CLinux.write(1, buffer.baseAddress, buffer.count)
        }
    }
}
