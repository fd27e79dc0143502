internal import CLinux

/// A descriptor from systemd, for programs that do not link libsystemd.
public enum HandedOver {
    /// With Accept=yes the one connection, with Accept=no the one listening socket; nil if systemd
    /// handed over none or several.
    public static func descriptor() -> FileDescriptor? {
        guard number("LISTEN_PID") == ThisProcess.pid, number("LISTEN_FDS") == 1 else { return nil }
        return FileDescriptor(owning: 3)
    }

    private static func number(_ name: String) -> Int32? {
        // SAFETY: no code changes the environment, and the value is copied at once.
        guard let value = unsafe getenv(name) else { return nil }
        return Int32(unsafe String(cString: value))
    }
}
