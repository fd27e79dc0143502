internal import CLinux

/// What a worker takes away from itself before it looks at anything that was sent to it.
public enum Sandbox {
    public enum Landlock: Sendable { case inForce, notToBeHad }

    /// Root becomes nobody, `connection` stays as the only descriptor, one second is all the time
    /// there is, files can be read in the dictionaries' folders alone, and of the system calls
    /// those are left that reading, answering and memory need.
    @discardableResult
    public static func enter(
        connection: Int32, dictionaries: [StaticString]
    ) throws(PosixError) -> Landlock {
        guard appvault_only_descriptor(connection) == 0 else { throw .last("close_range") }
        guard appvault_become_nobody() == 0 else { throw .last("setresuid") }
        guard appvault_limits() == 0 else { throw .last("setrlimit") }
        var folders: [UnsafePointer<CChar>?] = unsafe []
        for folder in dictionaries {
            // SAFETY: a literal lives for ever and ends with a NUL; bytes and chars are alike.
            unsafe folders.append(
                UnsafeRawPointer(folder.utf8Start).assumingMemoryBound(to: CChar.self))
        }
        unsafe folders.append(nil)
        // SAFETY: the list ends with NULL.
        let landlock = unsafe appvault_landlock(folders)
        guard landlock >= 0 else { throw .last("landlock") }
        guard appvault_seccomp(connection) == 0 else { throw .last("seccomp") }
        return landlock == 0 ? .inForce : .notToBeHad
    }

    /// For a program that keeps keys: it starts no program and no process, and traces nobody. Before
    /// its first thread, which would be left out.
    public static func enterKeeper() throws(PosixError) {
        guard appvault_keeper_seccomp() == 0 else { throw .last("seccomp") }
    }

    public enum Files: Sendable { case dictionaries, none }

    /// What is allowed cannot change any more, and without need no file is opened at all.
    public static func settle(_ files: Files) throws(PosixError) {
        let allowed: Int32 =
            switch files {
            case .dictionaries: 1
            case .none: 0
            }
        guard appvault_seccomp_last(allowed) == 0 else { throw .last("seccomp") }
    }

    /// Whose sockets a program of drivers may make: a fake reader of the tests is one.
    public enum Sockets: Sendable { case none, own }

    /// For a program that drives devices through libraries with threads: it writes no file, starts
    /// no program and no process, traces nobody, reaches no network, and changes nothing in the
    /// file system. What the devices need stays: their files, ioctl, netlink, threads.
    public static func enterDrivers(_ sockets: Sockets) throws(PosixError) {
        guard appvault_drivers_limits() == 0 else { throw .last("setrlimit") }
        let own: Int32 =
            switch sockets {
            case .none: 0
            case .own: 1
            }
        guard appvault_drivers_seccomp(own) == 0 else { throw .last("seccomp") }
    }
}
