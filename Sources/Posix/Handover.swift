internal import CLinux

/// A few bytes for a program that has sent us the end of a pipe or of a socket. It never waits: who
/// has sent it may fill it at the same moment.
public enum Handover {
    /// Writes all of it or fails.
    public static func write(
        _ bytes: WipedBuffer, into descriptor: borrowing FileDescriptor
    ) throws(PosixError) {
        let number = descriptor.raw
        var status = stat()
        // SAFETY: the structure is ours, and is used only if the call has filled it.
        guard unsafe fstat(number, &status) == 0 else { throw .last("fstat") }
        let wrote: Int
        switch Int32(bitPattern: status.st_mode) & S_IFMT {
        case S_IFSOCK:
            // SAFETY: no more is read than there is.
            wrote = bytes.withBytes { bytes in
                unsafe bytes.withUnsafeBytes {
                    unsafe send(
                        number, $0.baseAddress, $0.count,
                        Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
                }
            }
        case S_IFIFO:
            // Opened anew, because what is set on the other program's own end would be set for it, too.
            let path = "/proc/self/fd/\(number)"
            // SAFETY: the path is a NUL-terminated copy during the call.
            let own = unsafe appvault_open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC, 0)
            guard own >= 0 else { throw .last("open \(path)") }
            let pipe = FileDescriptor(owning: own)
            // SAFETY: no more is read than there is.
            wrote = bytes.withBytes { bytes in
                unsafe bytes.withUnsafeBytes {
                    unsafe CLinux.write(pipe.raw, $0.baseAddress, $0.count)
                }
            }
        default: throw PosixError(call: "write", number: EINVAL)
        }
        guard wrote >= 0 else { throw .last("write") }
        guard wrote == bytes.count else { throw PosixError(call: "write", number: EAGAIN) }
    }
}
