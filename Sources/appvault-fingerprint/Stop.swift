internal import CFprint
import Wire

/// What can end a request before its time, and why it did: the first reason stays.
@safe
final class Stop {
    let cancellable: UnsafeMutablePointer<GCancellable>
    private(set) var reason: FingerprintFault?

    init() {
        // SAFETY: a new object, ours until deinit.
        unsafe cancellable = g_cancellable_new()
    }

    deinit {
        // SAFETY: the one reference that g_cancellable_new gave.
        unsafe g_object_unref(cancellable)
    }

    func stop(_ why: FingerprintFault) {
        guard reason == nil else { return }
        reason = why
        // SAFETY: alive as long as this object.
        unsafe g_cancellable_cancel(cancellable)
    }
}
