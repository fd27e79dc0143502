import Policy
import Posix
import Words

/// Lets a fixed number in at the same time. Own tries go before the person's apart ones, and those
/// before strangers' tries. Within one kind the people take turns, and each person's requests keep
/// their order. When a queue is full and another request comes, the person with the most requests
/// in it loses the last one, so no person can keep others out by numbers.
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
    /// What those inside may weigh together. One that weighs more enters alone.
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
        /// In the order of their turns: the first is next.
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

        /// Removes the last request of the person who has the most, if that is more than this
        /// person would have. Nil if there is no such person.
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

    /// `person` is the uid whose turn this takes, at a gate that serves more than one person.
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

    /// For a caller that does not wait. `free` places stay free for those who do.
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
                // A light request does not pass a heavy one that does not fit yet: otherwise the
                // heavy one might wait for ever.
                guard fits(next.weight) else { return }
                lines[kind]?.removeNext()
                take(next.weight)
                next.end(true)
            }
        }
    }
}
