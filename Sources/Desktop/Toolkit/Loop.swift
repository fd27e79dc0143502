internal import CAdw

/// GTK's own loop, on the main thread.
enum Loop {
    /// From any thread.
    nonisolated static func main(_ body: @escaping @MainActor @Sendable () -> Void) {
        later(0, body)
    }

    nonisolated static func after(
        _ milliseconds: UInt32, _ body: @escaping @MainActor @Sendable () -> Void
    ) {
        later(milliseconds, body)
    }

    private nonisolated static func later(
        _ milliseconds: UInt32, _ body: @escaping @MainActor @Sendable () -> Void
    ) {
        // SAFETY: kept until `OnceBox.run` takes it.
        let box = unsafe UnsafeMutableRawPointer(
            Unmanaged.passRetained(OnceBox { MainActor.assumeIsolated(body) }).toOpaque())
        // SAFETY: the loop calls it once, and that takes the box.
        unsafe appvault_later(milliseconds, OnceBox.run, box)
    }

    /// A thread for what blocks.
    nonisolated static func thread(_ name: String, _ body: @escaping @Sendable () -> Void) {
        let box = unsafe UnsafeMutableRawPointer(Unmanaged.passRetained(OnceBox(body)).toOpaque())
        // SAFETY: the thread calls it once, and that takes the box.
        unsafe appvault_thread(name, OnceBox.run, box)
    }
}

private nonisolated final class OnceBox: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    static let run: @convention(c) (UnsafeMutableRawPointer?) -> Void = { pointer in
        guard let pointer = unsafe pointer else { return }
        unsafe Unmanaged<OnceBox>.fromOpaque(pointer).takeRetainedValue().body()
    }
}
