internal import CFprint
import Posix
import Wire

/// One asynchronous call of libfprint: started with `ended` and `data`, then waited for.
@safe
final class Call {
    private(set) var result: OpaquePointer?

    /// Once for each call that is started: the end of the call gives it back.
    // SAFETY: the reference is taken back by `ended`, which GIO calls exactly once.
    var data: UnsafeMutableRawPointer { unsafe Unmanaged.passRetained(self).toOpaque() }

    static let ended: GAsyncReadyCallback = { _, result, data in
        // SAFETY: `data` was made for this one call.
        let call = unsafe Unmanaged<Call>.fromOpaque(data!).takeRetainedValue()
        unsafe call.result = OpaquePointer(g_object_ref(UnsafeMutableRawPointer(result!)))
        // What the reader has done is done: a stop that came meanwhile must hide no print that is
        // on a chip, nor that a reader is open.
        unsafe appvault_ignore_stop(result!)
    }

    deinit {
        if let result = unsafe result { unsafe g_object_unref(UnsafeMutableRawPointer(result)) }
    }

    /// Until the call has ended. One that is stopped, or whose time is over, is cancelled first.
    func wait(_ stop: Stop, until deadline: UInt64?) {
        if MainContext.turn(until: deadline, { unsafe result != nil || stop.reason != nil }) {
            guard unsafe result == nil else { return }
        } else {
            stop.stop(.timedOut)
        }
        finish()
    }

    /// A driver has a while to obey. One that does not could be freed by nothing but our end.
    func finish() {
        guard
            MainContext.turn(
                until: Clock.bootMilliseconds() + Call.patience, { unsafe result != nil })
        else { Journal.complain("the reader does not let go", status: 1) }
    }

    static let patience: UInt64 = 5_000
}
