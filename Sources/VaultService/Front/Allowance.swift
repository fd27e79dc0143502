/// Time on the loop that a party may take, in nanoseconds. It comes back at a rate and is saved up
/// to a maximum. Time that was taken beyond it is paid back first.
struct Allowance {
    private(set) var left: Int64
    private var at: UInt64
    var percent: Int64
    private let most: Int64
    /// A debt is never larger: a party that ran into one long job is not punished for minutes.
    private var deepest: Int64 { -5 * most }

    init(percent: Int64, most: Int64, at now: UInt64) {
        self.percent = percent
        self.most = most
        left = most
        at = now
    }

    mutating func refresh(_ now: UInt64) {
        guard now > at else { return }
        left = min(most, left + Int64(clamping: now - at) / 100 * percent)
        at = now
    }

    mutating func spend(_ nanoseconds: UInt64) {
        left = max(deepest, left - Int64(clamping: nanoseconds))
    }

    var isLeft: Bool { left > 0 }

    /// Milliseconds until some is left again, one at least. A look before then would only take
    /// processor time from others.
    var wait: UInt64 {
        guard left <= 0 else { return 1 }
        return 1 + UInt64(clamping: -left) / 1_000_000 * 100 / UInt64(max(percent, 1))
    }

    var isFull: Bool { left == most }
}
