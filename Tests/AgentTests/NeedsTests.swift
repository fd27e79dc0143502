import Testing

@testable import Agent

@Test(
    "anything that needs the agent keeps it, for as long as it takes",
    arguments: [Need.beginning, .locker, .watch, .application, .call])
func isNeeded(_ need: Need) {
    var idleness = Idleness()
    #expect(idleness.stay([need], now: .max) == .needed)
    #expect(idleness.stay([], now: 1_000) == .until(61_000))
    #expect(idleness.stay([need], now: 70_000) == .needed)
}

@Test("a minute after nothing needs it, the agent leaves")
func leaves() {
    var idleness = Idleness()
    #expect(idleness.stay([], now: 1_000) == .until(61_000))
    #expect(idleness.stay([], now: 60_999) == .until(61_000))
    #expect(idleness.stay([], now: 61_000) == .leaves)
}

@Test("the minute begins when the need has ended, however long nobody has looked")
func longNeed() {
    var idleness = Idleness()
    #expect(idleness.stay([.locker], now: 1_000) == .needed)
    #expect(idleness.stay([], now: 3_600_000) == .until(3_660_000))
    #expect(idleness.stay([.call], now: 3_650_000) == .needed)
    #expect(idleness.stay([], now: 3_651_000) == .until(3_711_000))
}
