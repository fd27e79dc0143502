internal import Wire

/// How long each state of a connection may last, in milliseconds. Tests have shorter ones.
struct Waits: Sendable {
    var connect = UInt64(Limits.connectWait)
    /// Without a sign of life from the daemon.
    var silence = UInt64(Limits.silenceWait)
    /// Until the daemon has taken a whole frame.
    var frame = UInt64(Limits.frameWait)
    /// Until a person has answered. The daemon ends the question itself before that, unless it hangs.
    var person = UInt64(Limits.personWait + Limits.silenceWait)
    /// While another program makes the same store.
    var making: UInt64 = 10_000
}
