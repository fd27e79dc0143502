internal import CFprint
import Posix

/// GLib's main context, turned by hand: a request is straight-line code that waits here, while
/// libfprint, libusb and the connection go on beside it.
enum MainContext {
    /// Turns until `done` holds or the moment of the boot clock is over; whether it holds.
    static func turn(until deadline: UInt64?, _ done: () -> Bool) -> Bool {
        var timer: UInt32 = 0
        if let deadline {
            let now = Clock.bootMilliseconds()
            let wait = UInt32(clamping: deadline > now ? deadline - now : 0)
            // SAFETY: no data; it only wakes the context, again and again until it is removed.
            timer = unsafe g_timeout_add(wait, { _ in 1 }, nil)
        }
        defer { if timer != 0 { _ = g_source_remove(timer) } }
        while !done() {
            if let deadline, Clock.bootMilliseconds() >= deadline { return false }
            _ = g_main_context_iteration(nil, 1)
        }
        return true
    }
}

/// Something to read on a descriptor: calls its owner each time, until it ends.
///
/// The owner keeps the watch and thereby outlives it.
@safe
final class Watch {
    private var source: UInt32 = 0
    private let happened: () -> Goes

    enum Goes { case on, ends }

    init(_ descriptor: Int32, _ happened: @escaping () -> Goes) {
        self.happened = happened
        let conditions = GIOCondition(
            G_IO_IN.rawValue | G_IO_HUP.rawValue | G_IO_ERR.rawValue)
        // SAFETY: the source is gone before this object is: deinit removes it.
        source = unsafe g_unix_fd_add(
            descriptor, conditions,
            { _, _, data in
                let watch = unsafe Unmanaged<Watch>.fromOpaque(data!).takeUnretainedValue()
                switch watch.happened() {
                case .on: return 1
                case .ends:
                    watch.source = 0
                    return 0
                }
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit {
        if source != 0 { _ = g_source_remove(source) }
    }
}

/// SIGTERM as something that happens beside a request: a reader is released before the end.
@safe
final class Termination {
    private(set) var isDue = false
    var handler: () -> Void = {}

    init() {
        // SAFETY: the only one there is lives as long as the process.
        _ = unsafe g_unix_signal_add(
            15,
            { data in
                let own = unsafe Unmanaged<Termination>.fromOpaque(data!).takeUnretainedValue()
                own.isDue = true
                own.handler()
                return 1
            }, Unmanaged.passRetained(self).toOpaque())
    }
}
