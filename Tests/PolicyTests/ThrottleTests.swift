import Testing

@testable import Policy

/// The seconds that each of several wrong tries has to wait after the one before it, if each is
/// made as early as it is allowed.
private func waits(_ count: Int, _ kind: TryKind, _ rules: Policy) -> [UInt64] {
    var tally = Tally()
    var now: UInt64 = 5_000
    var found: [UInt64] = []
    for _ in 0..<count {
        let start = now
        while case .throttled(let seconds) = tally.verdict(kind, rules, at(now)) {
            // The seconds in the verdict are exact: one millisecond before their end is too early,
            // and the verdict then says one second.
            let end = now + UInt64(seconds) * 1000
            #expect(tally.verdict(kind, rules, at(end - 1)) == .throttled(seconds: 1))
            now = end
        }
        found.append((now - start) / 1000)
        _ = tally.miss(kind, rules, at(now))
    }
    return found
}

@Suite struct ThrottleTests {
    @Test(
        "the factory's row: three free, then doubling to a quarter of an hour",
        arguments: TryKind.allCases)
    func factory(kind: TryKind) {
        #expect(
            waits(16, kind, .builtIn)
                == [0, 0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900])
    }

    @Test(
        "whole rows of waits under other policies",
        arguments: [
            (policy(limit: 0, after: 0), [0, 0, 0, 0, 0, 0]),
            (policy(limit: 0, after: 1, max: 5), [0, 1, 2, 4, 5, 5]),
            (policy(limit: 0, after: 5, max: 1), [0, 0, 0, 0, 0, 1]),
            (policy(limit: 6, .lock, after: 2, max: 900), [0, 0, 1, 2, 4, 8]),
            (policy(limit: 6, .erase, after: 2, max: 900), [0, 0, 1, 2, 4, 900]),
            (policy(limit: 6, .erase, after: 100, max: 60), [0, 0, 0, 0, 0, 60]),
            (policy(limit: 6, .erase, after: 0, max: 60), [0, 0, 0, 0, 0, 0]),
            (policy(limit: 2, .erase, after: 3, max: 60), [0, 60]),
            (policy(limit: 1, .erase, after: 3, max: 60), [0]),
        ] as [(Policy, [UInt64])])
    func rows(rules: Policy, expected: [UInt64]) {
        #expect(waits(expected.count, .own, rules) == expected)
    }

    @Test("the last try apart does not wait longer than the others: it erases nothing")
    func lastApart() {
        for kind in [TryKind.apart, .stranger] {
            #expect(waits(4, kind, policy(limit: 4, .erase, after: 2, max: 900)) == [0, 0, 1, 2])
        }
    }

    @Test(
        "behind the person's full count there is one try each ThrottleMax, however few came before")
    func fullApart() {
        #expect(waits(6, .apart, policy(limit: 3, after: 0, max: 900)) == [0, 0, 0, 900, 900, 900])
        #expect(waits(5, .apart, policy(limit: 3, after: 2, max: 900)) == [0, 0, 1, 900, 900])
    }

    @Test("the wait before the last own try is no wait for tries apart")
    func ownLast() {
        let rules = policy(limit: 2, .erase, after: 3, max: 900)
        var tally = Tally()
        _ = tally.miss(.own, rules)
        _ = tally.miss(.apart, policy(limit: 9))
        #expect(tally.verdict(.own, rules, at(0)) == .throttled(seconds: 900))
        #expect(tally.verdict(.apart, rules, at(0)) == .allowed(.nothing))
    }

    @Test("a try whose outcome was lost delays the next as a wrong one does")
    func unresolved() {
        var tally = Tally()
        for _ in 0..<3 { tally.began(.own, at(0)) }
        #expect(tally.verdict(.own, .builtIn, at(0)) == .throttled(seconds: 1))
        #expect(tally.verdict(.own, .builtIn, at(1)) == .throttled(seconds: 1))
        #expect(tally.verdict(.own, .builtIn, at(1000)) == .allowed(.nothing))
    }

    @Test("own, apart and recovery tries wait for their own kind only")
    func kinds() {
        for throttled in TryKind.allCases {
            var tally = Tally()
            for _ in 0..<8 { _ = tally.miss(throttled, .builtIn, at(100)) }
            for kind in TryKind.allCases {
                let verdict = tally.verdict(kind, .builtIn, at(100))
                #expect(
                    verdict == (kind == throttled ? .throttled(seconds: 32) : .allowed(.nothing)))
            }
        }
    }

    @Test("a restart shortens no wait below one whole delay since it began")
    func reboot() {
        var tally = Tally()
        for _ in 0..<8 { _ = tally.miss(.own, .builtIn, at(90_000_000)) }
        #expect(tally.verdict(.own, .builtIn, at(0, otherBoot)) == .throttled(seconds: 32))
        #expect(tally.verdict(.own, .builtIn, at(31_999, otherBoot)) == .throttled(seconds: 1))
        #expect(tally.verdict(.own, .builtIn, at(32_000, otherBoot)) == .allowed(.nothing))
    }

    @Test("what was early in another boot counts from this one's beginning")
    func earlyInAnotherBoot() {
        let tally = Tally(own: Tries(wrong: 8, last: at(5_000, otherBoot)))
        #expect(tally.verdict(.own, .builtIn, at(31_000)) == .throttled(seconds: 1))
        #expect(tally.verdict(.own, .builtIn, at(32_000)) == .allowed(.nothing))
    }

    @Test("a moment that lies ahead in the same boot is no wait without end")
    func ahead() {
        let tally = Tally(own: Tries(wrong: 8, last: at(.max)))
        #expect(tally.verdict(.own, .builtIn, at(0)) == .throttled(seconds: 32))
        #expect(tally.verdict(.own, .builtIn, at(32_000)) == .allowed(.nothing))
    }

    @Test("a right passcode ends the wait, and asking too early neither costs nor prolongs it")
    func ends() {
        var tally = Tally()
        for _ in 0..<8 { _ = tally.miss(.own, .builtIn, at(0)) }
        let before = tally
        for _ in 0..<100 { _ = tally.verdict(.own, .builtIn, at(1)) }
        #expect(tally == before)
        tally.began(.own, at(32_000))
        tally.right(.own)
        #expect(tally.verdict(.own, .builtIn, at(32_000)) == .allowed(.nothing))
    }
}
