internal import CLinux

/// A device that another program is to read. Nothing is asked of it here.
public struct DeviceFile: ~Copyable {
    private let descriptor: FileDescriptor
    var raw: Int32 { descriptor.raw }

    /// Whoever opens it may open it: the kernel's own rules for the device's file.
    public init(path: [UInt8]) throws(PosixError) {
        // SAFETY: the path ends with a NUL; the descriptor is owned from here on.
        let number = unsafe ToolIO.withPath(path) {
            unsafe appvault_open($0, O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0)
        }
        guard number >= 0 else { throw PosixError.last("open") }
        let descriptor = FileDescriptor(owning: number)
        guard appvault_is_device(descriptor.raw) != 0 else {
            throw PosixError(call: "open", number: ENODEV)
        }
        self.descriptor = descriptor
    }
}
