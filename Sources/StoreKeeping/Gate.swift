import Policy
import Posix
import Words

/// Lets so many in at once, own tries before the person's apart ones and those before strangers'; those of one kind by person in turn, each
/// person's in their order. In a queue that is full whoever has most in it loses the last: nobody
/// keeps another out by their number.
@LoopActor
package final class Gate {
    package enum Class: CaseIterable, Sendable {
        case own, apart, stranger

        package init(_ kind: TryKind) {
            self =
                switch kind {
                case .own: .own
                case .apart, .recovery: .apart
                case .stranger: .stranger
                }
        }
    }

    private let width: Int
    /// What those inside may weigh together; whoever weighs more is alone.
    private let strength: Int
    private var inside = 0
    private var weight = 0
    private var lines: [Class: Line]

    @LoopActor
    private final class Waiter {
        let weight: Int
        var continuation: CheckedContinuation<Bool, Never>?

        init(weight: Int) {
            self.weight = weight
        }

        func end(_ entered: Bool) {
            continuation?.resume(returning: entered)
            continuation = nil
        }
    }

    private struct Line {
        let limit: Int
        var count = 0
        /// Whose turn it is, first the next.
        var people: [UInt32] = []
        var waiting: [UInt32: [Waiter]] = [:]

        var next: Waiter? { people.first.flatMap { waiting[$0]?.first } }

        mutating func append(_ waiter: Waiter, of person: UInt32) {
            if waiting[person] == nil { people.append(person) }
            waiting[person, default: []].append(waiter)
            count += 1
        }

        mutating func removeNext() {
            guard let person = people.first else { return }
            people.removeFirst()
            waiting[person]?.removeFirst()
            count -= 1
            if waiting[person]?.isEmpty == false {
                people.append(person)
            } else {
                waiting[person] = nil
            }
        }

        mutating func remove(_ waiter: Waiter, of person: UInt32) {
            guard let index = waiting[person]?.lastIndex(where: { $0 === waiter }) else { return }
            waiting[person]?.remove(at: index)
            count -= 1
            if waiting[person]?.isEmpty == true {
                waiting[person] = nil
                people.removeAll { $0 == person }
            }
        }

        /// The last of whoever has most, where that is more than this person would have.
        mutating func giveWay(to person: UInt32) -> Waiter? {
            guard
                let (crowded, all) = waiting.max(by: { $0.value.count < $1.value.count }),
                all.count > (waiting[person]?.count ?? 0) + 1, let last = all.last
            else { return nil }
            remove(last, of: crowded)
            return last
        }
    }

    package init(width: Int, ownLimit: Int, apartLimit: Int, strength: Int = .max) {
        self.width = width
        self.strength = strength
        lines = [
            .own: Line(limit: ownLimit), .apart: Line(limit: apartLimit),
            .stranger: Line(limit: apartLimit),
        ]
    }

    package var isIdle: Bool { inside == 0 && waiting == 0 }

    package var waiting: Int { lines.values.reduce(0) { $0 + $1.count } }

    /// `person` is whose turn it takes, where more than one stands here.
    package func enter(
        _ kind: Class, of person: UInt32 = 0, weighing weight: Int = 0, until deadline: UInt64
    ) async throws(Refusal) {
        if fits(weight), waiting == 0 {
            take(weight)
            return
        }
        let waiter = Waiter(weight: weight)
        if let line = lines[kind], line.count >= line.limit {
            guard let last = lines[kind]?.giveWay(to: person) else { throw .busy }
            last.end(false)
        }
        lines[kind]?.append(waiter, of: person)
        let timer = EventLoop.shared.at(deadline) {
            EventLoop.shared.task {
                self.lines[kind]?.remove(waiter, of: person)
                waiter.end(false)
            }
        }
        let entered = await withCheckedContinuation { continuation in
            waiter.continuation = continuation
        }
        EventLoop.shared.cancel(timer)
        guard entered else { throw .busy }
    }

    private func fits(_ more: Int) -> Bool {
        inside < width && (inside == 0 || weight + more <= strength)
    }

    private func take(_ more: Int) {
        inside += 1
        weight += more
    }

    /// For whoever does not wait; some places stay free for those who do.
    package func enterAtOnce(leaving free: Int) -> Bool {
        guard inside + free < width else { return false }
        inside += 1
        return true
    }

    package func leave(weighing weight: Int = 0) {
        inside -= 1
        self.weight -= weight
        for kind in Class.allCases {
            while let next = lines[kind]?.next {
                // Nobody passes whoever is too heavy just now: that one would wait for ever.
                guard fits(next.weight) else { return }
                lines[kind]?.removeNext()
                take(next.weight)
                next.end(true)
            }
        }
    }
}
