import KeySlots
import Policy
import Posix
import Secrets
import StoreKeeping
import Wire
import Words

/// Why a scan stopped before the reader said anything.
package enum FingerStop: Equatable, Sendable {
    /// Enter, or Ctrl-C: on without the finger.
    case person
    /// The front end is gone.
    case gone
    /// Another request has the reader now.
    case preempted
    /// The machine goes to sleep, or the finger was turned off.
    case withdrawn
    /// Nobody touched the reader for so long that nobody is there.
    case nobody
}

/// Why nothing that the worker says is worth anything any more.
package enum FingerLost: Equatable, Sendable {
    case missing, tooSlow, ended, nonsense
}

/// What a scan has come to.
package enum FingerEnd: Sendable {
    /// The place among the templates that were handed over.
    case matched(Int)
    case noMatch
    case enrolled(SecretBox)
    case failed(FingerprintFault)
    case lost(FingerLost)
    case stopped(FingerStop)
}

/// One scan on its way from the reader to the person; either of them may end it, and the first end counts: a match
/// that comes behind a cancel is nothing.
@LoopActor
package final class FingerRun {
    package enum Step: Sendable {
        case heard(FingerprintScan)
        /// A touch that matched none, and how many more there may be.
        case noMatch(left: Int)
        case ended(FingerEnd)
    }

    private var steps: [Step] = []
    private var waiting: CheckedContinuation<Step, Never>?
    private var settling: CheckedContinuation<Void, Never>?
    private var isSettled = false
    package private(set) var isOver = false
    package private(set) var stop: FingerStop?
    /// The match did what it was asked for, and is on nobody's count any more.
    package var isAccepted = false
    /// Wakes whoever waits for the worker.
    package var whenStopped: (@LoopActor () -> Void)?

    package init() {}

    package func next() async -> Step {
        if !steps.isEmpty { return steps.removeFirst() }
        return await withCheckedContinuation { waiting = $0 }
    }

    package func say(_ step: Step) {
        guard !isOver else { return }
        push(step)
    }

    package func finish(_ end: FingerEnd) {
        guard !isOver else { return }
        isOver = true
        push(.ended(end))
    }

    package func stop(_ why: FingerStop) {
        guard !isOver else { return }
        stop = why
        finish(.stopped(why))
        whenStopped?()
    }

    private func push(_ step: Step) {
        guard let waiting else { return steps.append(step) }
        self.waiting = nil
        waiting.resume(returning: step)
    }

    // MARK: the reader is free again when both sides are done

    /// Whoever followed the scan has done what follows from it.
    package func settle() {
        isSettled = true
        settling?.resume()
        settling = nil
    }

    package func settled() async {
        if isSettled { return }
        await withCheckedContinuation { settling = $0 }
    }
}

/// One finger request at a time: one that waits is stopped, never answered, when another begins.
@LoopActor
package final class FingerSeat {
    private let gate = Gate(width: 1, ownLimit: 16, apartLimit: 16)
    private var current: (run: FingerRun, store: StoreID?)?
    private var newest = 0
    package var whenTaken: (@LoopActor () -> Void)?
    /// Longer than it takes to stop whoever has the reader.
    private static let patience: UInt64 = 4_000

    package init() {}

    /// From here on the run can be stopped, so that whatever it is about is read behind this. `.busy` where another
    /// one came meanwhile. No store: one that a login makes when it is confirmed.
    package func take(_ run: FingerRun, of store: StoreID?) async throws(Refusal) {
        newest += 1
        let mine = newest
        current?.run.stop(.preempted)
        try await gate.enter(.own, until: Clock.bootMilliseconds() + Self.patience)
        guard mine == newest else {
            gate.leave()
            throw .busy
        }
        current = (run, store)
        whenTaken?()
    }

    /// For what nobody waits for at the reader: false where somebody has it.
    package func takeIfFree(_ run: FingerRun, of store: StoreID) -> Bool {
        guard gate.enterAtOnce(leaving: 0) else { return false }
        current = (run, store)
        whenTaken?()
        return true
    }

    package func leave() {
        current = nil
        gate.leave()
    }

    /// Of one store, or whatever is under way or waits for it.
    package func withdraw(of store: StoreID? = nil) {
        if store == nil { newest += 1 }
        guard let current, store == nil || store == current.store else { return }
        current.run.stop(.withdrawn)
    }

    package var isTaken: Bool { current != nil }
}

/// Ends what waits for a person who does nothing. Each `begin` gives them the whole time again.
@LoopActor
package final class Patience {
    private let seconds: Int
    private let isOver: @LoopActor () -> Void
    private var timer: UInt64?

    package init(seconds: Int, isOver: @escaping @LoopActor () -> Void) {
        self.seconds = seconds
        self.isOver = isOver
        begin()
    }

    package func begin() {
        end()
        timer = EventLoop.shared.at(Clock.bootMilliseconds() + UInt64(seconds) * 1000) {
            EventLoop.shared.task { self.isOver() }
        }
    }

    package func end() {
        if let timer { EventLoop.shared.cancel(timer) }
        timer = nil
    }
}
