import Testing
import Wire

@testable import Agent

@Suite("Which stores a person finds locked")
struct LockedAwayTests {
    private func hears(_ events: (Event.What, String)...) -> [String] {
        var away = LockedAway()
        for (what, name) in events {
            let bytes = Array(name.utf8)
            away.hear(Event(what, store: bytes, name: bytes))
        }
        return away.stores.values.map { String(decoding: $0, as: UTF8.self) }.sorted()
    }

    @Test("what was locked while they were away, and was not opened before they came back")
    func still() {
        #expect(
            hears(
                (.opened, "a"), (.opened, "b"), (.opened, "c"), (.left, ""), (.locked, "a"),
                (.locked, "b"), (.opened, "b"), (.cameBack, "")) == ["a"])
        #expect(
            hears(
                (.opened, "a"), (.left, ""), (.locked, "a"), (.cameBack, ""), (.opened, "a")) == [])
        // A daemon that was started again meanwhile.
        #expect(
            hears(
                (.opened, "a"), (.left, ""), (.locked, "a"), (.left, ""), (.locked, "a"),
                (.told, ""), (.cameBack, "")) == ["a"])
    }

    @Test("nothing is shown to an empty chair, nor what was so before")
    func nothing() {
        #expect(hears((.opened, "a"), (.left, ""), (.locked, "a")) == [])
        #expect(hears((.opened, "a"), (.locked, "a"), (.left, ""), (.cameBack, "")) == [])
        // The first that is told of a store, at the beginning.
        #expect(hears((.left, ""), (.locked, "a"), (.told, ""), (.cameBack, "")) == [])
        #expect(
            hears(
                (.opened, "a"), (.left, ""), (.locked, "a"), (.cameBack, ""), (.left, ""),
                (.cameBack, "")) == [])
    }
}
