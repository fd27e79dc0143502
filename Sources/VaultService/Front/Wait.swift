import Posix

/// What a connection waits for, apart from bytes: a turn or room. It is granted, or the
/// connection's time ends first.
// SAFETY: the continuation is resumed exactly once, where it is taken out of its variable.
@safe
@LoopActor
final class Wait {
    private(set) var outcome: Channel.Wake?
    private var continuation: UnsafeContinuation<Channel.Wake, Never>?

    var isOver: Bool { outcome != nil }

    func end(_ wake: Channel.Wake) {
        guard outcome == nil else { return }
        outcome = wake
        guard let waiting = unsafe continuation else { return }
        unsafe continuation = nil
        unsafe waiting.resume(returning: wake)
    }

    func value() async -> Channel.Wake {
        if let outcome { return outcome }
        // SAFETY: it is resumed once: `end` takes it out, at the grant, the deadline or the close.
        return await unsafe withUnsafeContinuation { unsafe continuation = $0 }
    }
}
