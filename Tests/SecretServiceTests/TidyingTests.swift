import Posix
import Testing

@testable import SecretService

@Suite("what many calls have left in the heap is given back")
struct TidyingTests {
    @LoopActor
    private final class Given {
        var times = 0
    }

    private static func wait(_ milliseconds: UInt64) async {
        await EventLoop.sleep(until: Clock.bootMilliseconds() + milliseconds)
    }

    @Test("few are not worth it")
    func few() async {
        await { @LoopActor in
            let given = Given()
            let tidying = Tidying(calm: 1) { given.times += 1 }
            for _ in 0..<63 { tidying.note(1) }
            await Self.wait(30)
            #expect(given.times == 0)
        }()
    }

    @Test("many are given back for once, and what came meanwhile once more")
    func many() async {
        await { @LoopActor in
            let given = Given()
            // The second one comes while the first is waited for, however slow this machine is.
            var more: (() -> Void)?
            let tidying = Tidying(calm: 1) {
                given.times += 1
                more?()
                more = nil
            }
            more = { tidying.note(1) }
            tidying.note(64)
            while given.times < 2 { await Self.wait(1) }
            await Self.wait(30)
            #expect(given.times == 2)
            tidying.note(64)
            while given.times < 3 { await Self.wait(1) }
        }()
    }
}
