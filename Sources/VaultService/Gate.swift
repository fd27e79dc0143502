import Policy
import Posix

/// Lets so many in at once, own tries before apart ones, each kind in its order. A full queue
/// refuses apart tries first, so that nobody else's guesses can keep a person waiting at their own
/// machine.
@LoopActor
final class Gate {
    enum Class: Sendable {
        case own, apart

        init(_ kind: TryKind) {
            self =
                switch kind {
                case .own: .own
                case .apart, .stranger, .recovery: .apart
                }
        }
    }

    private let width: Int
    private let ownLimit: Int
    private let apartLimit: Int
    private var inside = 0
    private var own: [Waiter] = []
    private var apart: [Waiter] = []

    @LoopActor
    private final class Waiter {
        var continuation: CheckedContinuation<Bool, Never>?
    }

    init(width: Int, ownLimit: Int, apartLimit: Int) {
        self.width = width
        self.ownLimit = ownLimit
        self.apartLimit = apartLimit
    }

    var isIdle: Bool { inside == 0 && own.isEmpty && apart.isEmpty }

    var waiting: Int { own.count + apart.count }

    func enter(_ kind: Class, until deadline: UInt64) async throws(Refusal) {
        if inside < width {
            inside += 1
            return
        }
        let waiter = Waiter()
        switch kind {
        case .own:
            guard own.count < ownLimit else { throw .busy }
            own.append(waiter)
        case .apart:
            guard apart.count < apartLimit else { throw .busy }
            apart.append(waiter)
        }
        let timer = EventLoop.shared.at(deadline) {
            EventLoop.shared.task { self.giveUp(waiter) }
        }
        let entered = await withCheckedContinuation { continuation in
            waiter.continuation = continuation
        }
        EventLoop.shared.cancel(timer)
        guard entered else { throw .busy }
    }

    /// For whoever does not wait; some places stay free for those who do.
    func enterAtOnce(leaving free: Int) -> Bool {
        guard inside + free < width else { return false }
        inside += 1
        return true
    }

    func leave() {
        let next: Waiter
        if !own.isEmpty {
            next = own.removeFirst()
        } else if !apart.isEmpty {
            next = apart.removeFirst()
        } else {
            inside -= 1
            return
        }
        next.continuation?.resume(returning: true)
        next.continuation = nil
    }

    private func giveUp(_ waiter: Waiter) {
        guard let continuation = waiter.continuation else { return }
        waiter.continuation = nil
        own.removeAll { $0 === waiter }
        apart.removeAll { $0 === waiter }
        continuation.resume(returning: false)
    }
}
