import Posix
import StoreKeeping
import Testing
import Words

@testable import VaultService

enum TestLoop {
    private static let started: Bool = {
        WorkerPool(name: "loop", threads: 1).submit { EventLoop.shared.run() }
        return true
    }()

    /// As the daemon begins its tasks. With a plain `Task`, whose value the test waits for, the
    /// task was sometimes never resumed: seen with Swift 6.3, one run in five.
    static func run<R: Sendable>(_ body: @escaping @LoopActor @Sendable () async -> R) async -> R {
        _ = started
        return await withCheckedContinuation { continuation in
            EventLoop.shared.task { continuation.resume(returning: await body()) }
        }
    }
}

@LoopActor
private final class Log {
    var entries: [String] = []
}

/// Lets the other tasks of the loop run until the condition holds. Only a test that fails reaches
/// the bound.
@LoopActor
private func settled(_ condition: @LoopActor () -> Bool) async {
    let end = Clock.bootMilliseconds() + 20_000
    while !condition(), Clock.bootMilliseconds() < end { await Task.yield() }
}

@Test("own tries pass apart ones that wait longer")
func ownFirst() async {
    let order = await TestLoop.run { () -> [String] in
        let gate = Gate(width: 1, ownLimit: 10, apartLimit: 10)
        let log = Log()
        let end = Clock.bootMilliseconds() + 3_600_000
        try? await gate.enter(.apart, until: end)
        for (number, name) in ["apart 1", "apart 2"].enumerated() {
            EventLoop.shared.task {
                try? await gate.enter(.apart, until: end)
                log.entries.append(name)
                gate.leave()
            }
            await settled { gate.waiting == number + 1 }
        }
        EventLoop.shared.task {
            try? await gate.enter(.own, until: end)
            log.entries.append("own")
            gate.leave()
        }
        await settled { gate.waiting == 3 }
        gate.leave()
        await settled { gate.isIdle }
        return log.entries + [gate.isIdle ? "idle" : "busy"]
    }
    #expect(order == ["own", "apart 1", "apart 2", "idle"])
}

@Test("a full queue refuses, and a place that was given up is free again")
func fullAndLate() async {
    let seen = await TestLoop.run { () -> [String] in
        let gate = Gate(width: 1, ownLimit: 1, apartLimit: 1)
        let log = Log()
        let end = Clock.bootMilliseconds() + 3_600_000
        try? await gate.enter(.own, until: end)
        EventLoop.shared.task {
            try? await gate.enter(.apart, until: end)
            log.entries.append("in")
        }
        await settled { gate.waiting == 1 }
        do throws(Refusal) {
            try await gate.enter(.apart, until: end)
        } catch {
            log.entries.append("full \(error.code.rawValue)")
        }
        gate.leave()
        await settled { log.entries.count == 2 }
        // Now the one that came in has the place, and the next one has no time to wait for it.
        do throws(Refusal) {
            try await gate.enter(.apart, until: Clock.bootMilliseconds() + 20)
        } catch {
            log.entries.append("late \(error.code.rawValue)")
        }
        #expect(gate.waiting == 0)
        gate.leave()
        log.entries.append(gate.isIdle ? "idle" : "busy")
        return log.entries
    }
    #expect(seen == ["full 35", "in", "late 35", "idle"])
}

@Test("people have turns one after the other, however many tries of one wait")
func gateByPerson() async {
    let order = await TestLoop.run { () -> [String] in
        let gate = Gate(width: 1, ownLimit: 10, apartLimit: 10)
        let log = Log()
        let end = Clock.bootMilliseconds() + 3_600_000
        try? await gate.enter(.apart, of: 1, until: end)
        for (number, person) in [1, 1, 1, 2].enumerated() {
            EventLoop.shared.task {
                try? await gate.enter(.apart, of: UInt32(person), until: end)
                log.entries.append("\(person)")
                gate.leave()
            }
            await settled { gate.waiting == number + 1 }
        }
        gate.leave()
        await settled { gate.isIdle }
        return log.entries
    }
    #expect(order == ["1", "2", "1", "1"])
}

@Test("in a full queue whoever has most in it makes room for somebody else")
func gateCrowded() async {
    let seen = await TestLoop.run { () -> [String] in
        let gate = Gate(width: 1, ownLimit: 3, apartLimit: 3)
        let log = Log()
        let end = Clock.bootMilliseconds() + 3_600_000
        func enter(_ person: UInt32, _ name: String) {
            EventLoop.shared.task {
                do throws(Refusal) {
                    try await gate.enter(.apart, of: person, until: end)
                    log.entries.append(name)
                    gate.leave()
                } catch {
                    log.entries.append("\(name) \(error.code.rawValue)")
                }
            }
        }
        try? await gate.enter(.apart, of: 1, until: end)
        for number in 1...3 {
            enter(1, "crowd \(number)")
            await settled { gate.waiting == number }
        }
        enter(1, "crowd 4")
        await settled { log.entries.count == 1 }
        enter(2, "other")
        await settled { log.entries.count == 2 }
        gate.leave()
        await settled { gate.isIdle }
        return log.entries
    }
    #expect(seen == ["crowd 4 35", "crowd 3 35", "crowd 1", "other", "crowd 2"])
}

@Test("what is too heavy beside others waits until it is alone, and is passed by nobody")
func gateWeights() async {
    let seen = await TestLoop.run { () -> [String] in
        let gate = Gate(width: 4, ownLimit: 10, apartLimit: 10, strength: 100)
        let log = Log()
        let end = Clock.bootMilliseconds() + 3_600_000
        try? await gate.enter(.own, of: 1, weighing: 60, until: end)
        for (number, weight) in [200, 10].enumerated() {
            EventLoop.shared.task {
                try? await gate.enter(.own, of: UInt32(number + 2), weighing: weight, until: end)
                log.entries.append("\(weight)")
            }
            await settled { gate.waiting == number + 1 }
        }
        let before = log.entries.count
        gate.leave(weighing: 60)
        await settled { log.entries.count == 1 }
        let alone = log.entries
        gate.leave(weighing: 200)
        await settled { log.entries.count == 2 }
        gate.leave(weighing: 10)
        return ["\(before)"] + alone + log.entries + [gate.isIdle ? "idle" : "busy"]
    }
    #expect(seen == ["0", "200", "200", "10", "idle"])
}
