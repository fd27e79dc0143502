import Testing

@testable import Agent

@Test(
    "anything that needs the agent keeps it, for as long as it takes",
    arguments: [Need.locker, .watch, .application, .call])
func isNeeded(_ need: Need) {
    #expect(Stay.decide([need], idle: 0, now: .max) == .needed)
}

@Test("a minute after nothing needs it, the agent leaves")
func leaves() {
    #expect(Stay.decide([], idle: 1_000, now: 1_000) == .until(61_000))
    #expect(Stay.decide([], idle: 1_000, now: 60_999) == .until(61_000))
    #expect(Stay.decide([], idle: 1_000, now: 61_000) == .leaves)
}
