internal import CLinux

/// Of a command that another thread waits for: once it is cut the command is to end.
public final class Lifeline: Sendable {
    let descriptor: FileDescriptor

    public init() throws(PosixError) {
        let number = appvault_wakeup()
        guard number >= 0 else { throw .last("eventfd") }
        descriptor = FileDescriptor(owning: number)
    }

    public func cut() {
        var one: UInt64 = 1
        // SAFETY: the number is ours, and as long as is said.
        _ = unsafe write(descriptor.raw, &one, MemoryLayout<UInt64>.size)
    }
}
