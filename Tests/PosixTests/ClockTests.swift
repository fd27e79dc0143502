import Testing

@testable import Posix

@Suite struct ClockTests {
    /// The two clocks, and what happens right after one of them is read.
    private final class Clocks {
        var awake: UInt64 = 1_000
        var slept: UInt64 = 5_000
        var events: [Int: (Clocks) -> Void] = [:]
        private var reads = 0

        func sleptMilliseconds() -> UInt64 {
            Clock.slept(boot: { self.read { $0.awake + $0.slept } }, awake: { self.read(\.awake) })
        }

        private func read(_ value: (Clocks) -> UInt64) -> UInt64 {
            defer {
                events[reads]?(self)
                reads += 1
            }
            return value(self)
        }
    }

    @Test("a thread that is held up while it reads the clocks finds no sleep", arguments: 0..<4)
    func heldUp(read: Int) {
        let clocks = Clocks()
        clocks.events[read] = { $0.awake += 200 }
        #expect(clocks.sleptMilliseconds() == 5_000)
        #expect(clocks.sleptMilliseconds() == 5_000)
    }

    @Test("a sleep while the clocks are read is found, at the latest by the next look")
    func asleep() {
        for read in 0..<3 {
            let clocks = Clocks()
            clocks.events[read] = { $0.slept += 60_000 }
            #expect([5_000, 65_000].contains(clocks.sleptMilliseconds()))
            #expect(clocks.sleptMilliseconds() == 65_000)
        }
    }

    @Test("without a sleep two looks at this machine's clocks differ by rounding alone")
    func still() {
        let looks = (0..<10_000).map { _ in Clock.sleptMilliseconds() }
        #expect(looks.reduce(0, max) - looks.reduce(.max, min) <= 2)
    }
}
