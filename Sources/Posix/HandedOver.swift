internal import CLinux

/// A descriptor from systemd, for programs that do not link libsystemd.
public enum HandedOver {
    /// The one connection of a socket with Accept=yes, or the one listening socket with Accept=no;
    /// nil where there is none or are more.
    public static func descriptor() -> FileDescriptor? {
        guard number("LISTEN_PID") == ThisProcess.pid, number("LISTEN_FDS") == 1 else { return nil }
        return FileDescriptor(owning: 3)
    }

    private static func number(_ name: String) -> Int32? {
        // SAFETY: nobody changes the environment, and the value is copied at once.
        guard let value = unsafe getenv(name) else { return nil }
        return Int32(unsafe String(cString: value))
    }
}
