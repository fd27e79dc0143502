import KeySlots
import Policy
import Posix
import Secrets
import StoreKeeping
import Wire
import Words

/// Why a scan stopped before the reader said anything.
package enum FingerStop: Equatable, Sendable {
    /// The person pressed Enter or Ctrl-C, to go on without the finger.
    case person
    /// The front end is gone.
    case gone
    /// Another request has the reader now.
    case preempted
    /// The machine goes to sleep, the finger was turned off, or the person is no longer seen at the
    /// reader.
    case withdrawn
    /// The reader was not touched for so long that no person can be there.
    case nobody
}

/// Why the daemon believes nothing more from the worker.
package enum FingerLost: Equatable, Sendable {
    case missing, tooSlow, ended, nonsense
}

/// The result of a scan.
package enum FingerEnd: Sendable {
    /// The index of the template that matched, among those that were sent.
    case matched(Int)
    case noMatch
    case enrolled(SecretBox)
    case failed(FingerprintFault)
    case lost(FingerLost)
    case stopped(FingerStop)
}

/// One scan, between the reader and the person. Either of them may end it, and the first end
/// counts: a match that comes after a cancel is ignored.
@LoopActor
package final class FingerRun {
    package enum Step: Sendable {
        case heard(FingerprintScan)
        /// A touch that matched no finger, and how many more touches are left.
        case noMatch(left: Int)
        case ended(FingerEnd)
    }

    private var steps: [Step] = []
    private var waiting: CheckedContinuation<Step, Never>?
    private var settling: CheckedContinuation<Void, Never>?
    private var isSettled = false
    package private(set) var isOver = false
    package private(set) var stop: FingerStop?
    /// The caller accepted the match and cleared the failures. Otherwise the failure that was
    /// counted for this scan is given back.
    package var isAccepted = false
    /// Wakes the task that waits for the worker.
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

    /// The caller has done what follows from the scan's result.
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

/// One finger request at a time. When another one begins, the one that waits is stopped, never
/// answered.
@LoopActor
package final class FingerSeat {
    private let gate = Gate(width: 1, ownLimit: 16, apartLimit: 16)
    private var current: (run: FingerRun, store: StoreID?)?
    private var newest = 0
    package var whenTaken: (@LoopActor () -> Void)?
    /// Milliseconds: longer than it takes to stop the run that has the reader.
    private static let patience: UInt64 = 4_000

    package init() {}

    /// Stops the run that has the reader and waits until the reader is free. Afterwards this run
    /// can be stopped in turn, so the caller reads what the scan depends on after this call. Throws
    /// `.busy` if another request came meanwhile. `store` is nil for a store that a login makes
    /// only once it is confirmed.
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

    /// For work at the reader for which no person waits. False if another run has the reader.
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

    /// Stops the run of this store. Without a store: stops any run, and refuses those that wait.
    package func withdraw(of store: StoreID? = nil) {
        if store == nil { newest += 1 }
        guard let current, store == nil || store == current.store else { return }
        current.run.stop(.withdrawn)
    }

    package var isTaken: Bool { current != nil }
}

/// Ends a wait for a person who does nothing. Each `begin` gives the person the whole time again.
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
