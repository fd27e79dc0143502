import Posix

/// Decides which connection goes on next: one frame of each in a pass of the loop, root's first,
/// then one party after the other. Parties that have used up their time share what is left over.
@LoopActor
final class Turns {
    /// In nanoseconds. A test has a clock of its own.
    let now: () -> UInt64
    private let pass: () -> UInt64
    private var root: [Wait] = []
    /// Parties with a connection that waits. After its turn a party goes to the end.
    private var line: [Share] = []
    private var granted = 0
    private var grantedIn: UInt64 = 0
    private var againIn: UInt64 = 0
    private var againUntil: UInt64 = 0

    /// Percent of a processor: for all parties within their time together, and as much for all
    /// others together. It is less while a derivation is waited for, because that needs the
    /// processors.
    private static let percent: Int64 = 30
    private static let percentBeside: Int64 = 5
    private static let burst: Int64 = 100_000_000
    private let isDeriving: () -> Bool
    private var regular: Allowance
    private var leftover: Allowance

    /// Milliseconds between two looks at the parties that wait, at most.
    private static let longest: UInt64 = 10
    /// At most this many turns of other parties in a pass, so that root never waits longer.
    private static let inPass = 4
    /// For how long connections are read once more in one pass, all parties together.
    static let againNanoseconds: UInt64 = 200_000

    init(
        now: @escaping () -> UInt64 = Clock.monotonicNanoseconds,
        pass: @escaping () -> UInt64 = { EventLoop.shared.pass },
        isDeriving: @escaping () -> Bool
    ) {
        self.now = now
        self.pass = pass
        self.isDeriving = isDeriving
        regular = Allowance(percent: Self.percent, most: Self.burst, at: now())
        leftover = regular
    }

    /// Nil if the connection may go on at once. `last` is the pass in which it had its last turn.
    func take(_ share: Share, last: UInt64) -> Wait? {
        let current = pass()
        if last != current, mayGoOn(share, current) { return nil }
        let wait = Wait()
        if share.isLimited {
            if share.waiting.isEmpty { line.append(share) }
            share.waiting.append(wait)
        } else {
            root.append(wait)
        }
        return wait
    }

    /// Whether a connection that was just answered may be read once more in the same pass. Where
    /// both have one processor the peer ran in between and has asked again: then nothing is won by
    /// asking the kernel first who else is there. Others wait a fraction of a millisecond for it.
    func takeAgain(_ share: Share, last: UInt64) -> Bool {
        let current = pass()
        guard last == current, root.isEmpty, line.isEmpty else { return false }
        let now = now()
        if againIn != current {
            againIn = current
            againUntil = now + Self.againNanoseconds
        }
        guard now < againUntil else { return false }
        guard share.isLimited else { return true }
        refresh(now)
        return regular.isLeft && share.isWithin(now)
    }

    private func mayGoOn(_ share: Share, _ current: UInt64) -> Bool {
        guard share.isLimited else { return true }
        if grantedIn != current {
            grantedIn = current
            granted = 0
        }
        guard line.isEmpty, granted < Self.inPass else { return false }
        let now = now()
        refresh(now)
        guard regular.isLeft, share.isWithin(now) else { return false }
        granted += 1
        return true
    }

    private func refresh(_ now: UInt64) {
        let percent = isDeriving() ? Self.percentBeside : Self.percent
        regular.percent = percent
        leftover.percent = percent
        regular.refresh(now)
        leftover.refresh(now)
    }

    /// Whether there is time to tell a connection that it cannot be served.
    func hasTime(for share: Share) -> Bool {
        guard share.isLimited else { return true }
        let now = now()
        refresh(now)
        return regular.isLeft && share.isWithin(now)
    }

    /// Gives turns; called once in each pass. Returns the milliseconds after which it must be
    /// called again at the latest; -1 for never.
    func grant() -> Int32 {
        for wait in root { wait.end(.ready) }
        root.removeAll(keepingCapacity: true)
        guard !line.isEmpty else { return -1 }
        let now = now()
        refresh(now)
        var left = Self.inPass
        // First the parties that are within their time.
        for isWithin in [true, false] where (isWithin ? regular : leftover).isLeft {
            var served: [Share] = []
            line.removeAll { share in
                guard left > 0, share.isWithin(now) == isWithin else { return false }
                guard serveNext(of: share) else { return true }
                left -= 1
                served.append(share)
                return true
            }
            line += served.filter { !$0.waiting.isEmpty }
        }
        guard !line.isEmpty else { return -1 }
        // A party that is over its time now may soon be within it.
        let soon = left < Self.inPass ? 1 : min(restOfWait, Self.longest)
        return Int32(clamping: soon)
    }

    private var restOfWait: UInt64 {
        switch (regular.isLeft, leftover.isLeft) {
        // There is time in one group, and a party still waits: so it belongs to the other group.
        case (true, false): leftover.wait
        case (false, true): regular.wait
        case (true, true), (false, false): min(regular.wait, leftover.wait)
        }
    }

    /// False if all that waited are gone.
    private func serveNext(of share: Share) -> Bool {
        while !share.waiting.isEmpty {
            let wait = share.waiting.removeFirst()
            guard !wait.isOver else { continue }
            wait.end(.ready)
            return true
        }
        return false
    }

    func took(_ nanoseconds: UInt64, _ share: Share) {
        guard share.isLimited else { return }
        // Time that others leave over is not taken from a party's own time.
        guard share.time.isLeft else { return leftover.spend(nanoseconds) }
        regular.spend(nanoseconds)
        share.spend(nanoseconds)
    }
}
