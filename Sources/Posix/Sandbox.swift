internal import CLinux

/// What a worker gives up before it looks at anything that was sent to it.
public enum Sandbox {
    public enum Landlock: Sendable { case inForce, notToBeHad }

    /// Root becomes the user nobody; `connection` stays open as the only descriptor; the process
    /// has one second. It can read files only in the folders of the dictionaries, and make only the
    /// system calls that reading, answering and memory need.
    @discardableResult
    public static func enter(
        connection: Int32, dictionaries: [StaticString]
    ) throws(PosixError) -> Landlock {
        guard appvault_only_descriptor(connection) == 0 else { throw .last("close_range") }
        guard appvault_become_nobody() == 0 else { throw .last("setresuid") }
        guard appvault_limits() == 0 else { throw .last("setrlimit") }
        var folders: [UnsafePointer<CChar>?] = unsafe []
        for folder in dictionaries {
            // SAFETY: a literal lives for ever and ends with a NUL; bytes and chars have the same
            // layout.
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

    /// For a program that keeps keys: from now on it cannot start a program or a process, or trace
    /// one. To be called before the first thread is started: threads that exist would not be
    /// restricted.
    public static func enterKeeper() throws(PosixError) {
        guard appvault_keeper_seccomp() == 0 else { throw .last("seccomp") }
    }

    public enum Files: Sendable { case dictionaries, none }

    /// Forbids further filters. If no dictionary is needed, also forbids opening any file.
    public static func settle(_ files: Files) throws(PosixError) {
        let allowed: Int32 =
            switch files {
            case .dictionaries: 1
            case .none: 0
            }
        guard appvault_seccomp_last(allowed) == 0 else { throw .last("seccomp") }
    }

    /// Whether a program that drives devices may make Unix sockets: the tests' fake reader needs
    /// one.
    public enum Sockets: Sendable { case none, own }

    /// For a program that drives devices through libraries with threads. From now on it cannot
    /// write a file, start a program or a process, trace one, reach a network, or change anything
    /// in the file system. What devices need stays allowed: their files, ioctl, netlink, threads.
    public static func enterDrivers(_ sockets: Sockets) throws(PosixError) {
        switch sockets {
        case .none: try enterLibraries(APPVAULT_NETLINK)
        case .own: try enterLibraries(APPVAULT_OWN_PATHS)
        }
    }

    /// The same for a program that asks a server by such libraries: it has no device, and a network.
    public static func enterNetwork() throws(PosixError) {
        try enterLibraries(APPVAULT_INTERNET)
    }

    /// For a program that decodes one picture of a stranger's, which lies at its standard input: it has
    /// memory, ten seconds, and its standard output. There are no files any more. Root becomes the user
    /// nobody.
    public static func enterPicture() throws(PosixError) {
        appvault_fill_standard_descriptors()
        let parent = getppid()
        guard appvault_picture_descriptors() == 0 else { throw .last("close_range") }
        guard appvault_become_nobody() == 0 else { throw .last("setresuid") }
        guard appvault_picture_limits(parent, 20, 10) == 0 else { throw .last("setrlimit") }
        guard appvault_picture_seccomp() == 0 else { throw .last("seccomp") }
    }

    /// Whether somebody looks at what the camera sees, at the descriptor after the standard ones.
    public enum Preview: Sendable { case none, shown }

    /// For a program that looks for a code through the camera at its standard input: as for a picture,
    /// with a minute, and of the camera only what reading frames takes.
    public static func enterCamera(_ preview: Preview) throws(PosixError) {
        appvault_fill_standard_descriptors()
        let previews: Int32 =
            switch preview {
            case .none: 0
            case .shown: 1
            }
        let parent = getppid()
        guard appvault_camera_descriptors(previews) == 0 else { throw .last("close_range") }
        guard appvault_become_nobody() == 0 else { throw .last("setresuid") }
        // Its own minute, and some seconds to end in.
        guard appvault_picture_limits(parent, 75, 75) == 0 else { throw .last("setrlimit") }
        guard appvault_camera_seccomp() == 0 else { throw .last("seccomp") }
    }

    private static func enterLibraries(_ sockets: appvault_sockets) throws(PosixError) {
        guard appvault_libraries_limits() == 0 else { throw .last("setrlimit") }
        guard appvault_libraries_seccomp(sockets) == 0 else { throw .last("seccomp") }
    }
}
