/// How long to wait before the next attempt at something that has failed: a second, then twice as
/// long each time, at most a minute.
public struct BackOff: Equatable, Sendable {
    private var next: UInt64 = 1_000

    public init() {}

    public mutating func milliseconds() -> UInt64 {
        defer { next = min(next * 2, 60_000) }
        return next
    }

    public mutating func succeeded() {
        next = 1_000
    }
}
