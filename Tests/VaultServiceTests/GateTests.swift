import Posix
import Testing

@testable import VaultService

enum TestLoop {
    private static let started: Bool = {
        WorkerPool(name: "loop", threads: 1).submit { EventLoop.shared.run() }
        return true
    }()

    static func run<R: Sendable>(_ body: @escaping @LoopActor @Sendable () async -> R) async -> R {
        _ = started
        return await Task(operation: body).value
    }
}

@LoopActor
private final class Log {
    var entries: [String] = []
}

/// Lets the other tasks of the loop go on until something is so; the bound is for a test that fails.
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
        let end = Clock.bootMilliseconds() + 60_000
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
        let soon = Clock.bootMilliseconds() + 3_000
        try? await gate.enter(.own, until: soon)
        EventLoop.shared.task {
            do throws(Refusal) {
                try await gate.enter(.apart, until: soon)
            } catch {
                log.entries.append("late \(error.code.rawValue)")
            }
        }
        await settled { gate.waiting == 1 }
        do throws(Refusal) {
            try await gate.enter(.apart, until: soon)
        } catch {
            log.entries.append("full \(error.code.rawValue)")
        }
        await settled { log.entries.count == 2 }
        gate.leave()
        log.entries.append(gate.isIdle ? "idle" : "busy")
        return log.entries
    }
    #expect(seen == ["full 35", "late 35", "idle"])
}
