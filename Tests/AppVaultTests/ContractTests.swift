import AppVault
import Testing

/// What every `KeyValueStore` promises.
@Suite("the contract of every place for records", .timeLimit(.minutes(20)))
struct ContractTests {
    @Test("a value is what was stored last, until it is removed", arguments: Kind.here)
    func lifeOfARecord(_ kind: Kind) async throws {
        let place = try await kind.make()
        let store = place.store
        #expect(try await store.get("a") == nil)
        #expect(try await !store.delete("a"))
        try await store.set([1], for: "a")
        try await store.set([2, 3], for: "a")
        #expect(try await store.get("a") == [2, 3])
        #expect(try await store.delete("a"))
        #expect(try await store.get("a") == nil)
        #expect(try await store.names().isEmpty)
    }

    @Test("the empty value is a value", arguments: Kind.here)
    func empty(_ kind: Kind) async throws {
        let place = try await kind.make()
        try await place.store.set([], for: "a")
        #expect(try await place.store.get("a") == [])
        #expect(try await place.store.names() == ["a"])
    }

    @Test("a name may be any bytes, up to 255 of them", arguments: Kind.here)
    func names(_ kind: Kind) async throws {
        let place = try await kind.make()
        let names = [
            RecordName(bytes: [0]), RecordName(bytes: [0xFF, 0xFE]), RecordName("/"),
            RecordName(".."), RecordName("a/b"), RecordName("+"), RecordName("%41"), "A", "a",
            RecordName("grün"), RecordName(bytes: Array(repeating: 0xFF, count: 255)),
            RecordName(String(repeating: "a", count: 255)),
            RecordName(String(repeating: "a", count: 200)),
        ]
        for (index, name) in names.enumerated() {
            try await place.store.set([UInt8(index)], for: name)
        }
        for (index, name) in names.enumerated() {
            #expect(try await place.store.get(name) == [UInt8(index)], "\(name.bytes)")
        }
        #expect(Set(try await place.store.names()) == Set(names))
        #expect(try await place.store.names().count == names.count)
        #expect(
            Set(try await place.store.names(beginningWith: "a"))
                == Set(names.filter { $0.bytes.first == UInt8(ascii: "a") }))
        for name in names { #expect(try await place.store.delete(name), "\(name.bytes)") }
        #expect(try await place.store.names().isEmpty)
    }

    @Test(
        "a name that cannot be is refused before anything is done",
        arguments: Kind.here, [0, 256, 70_000])
    func badName(_ kind: Kind, _ length: Int) async throws {
        let place = try await kind.make()
        let name = RecordName(bytes: Array(repeating: 0x61, count: length))
        await #expect(throws: VaultError.self) { try await place.store.get(name) }
        await #expect(throws: VaultError.self) { try await place.store.set([1], for: name) }
        await #expect(throws: VaultError.self) { try await place.store.delete(name) }
        #expect(try await place.store.names().isEmpty)
    }

    @Test("a value of a mebibyte is stored, and one byte more is not", arguments: Kind.here)
    func limit(_ kind: Kind) async throws {
        let place = try await kind.make()
        let longest = (0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        try await place.store.set(longest, for: "a")
        #expect(try await place.store.get("a") == longest)
        let error = await #expect(throws: VaultError.self) {
            try await place.store.set(longest + [0], for: "a")
        }
        #expect(error?.code == .tooLarge)
        #expect(error?.parameters["limit"] == "1048576")
        #expect(try await place.store.get("a") == longest)
    }

    @Test("calls from many tasks are all carried out", arguments: Kind.here)
    func many(_ kind: Kind) async throws {
        let place = try await kind.make()
        let store = place.store
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<100 {
                group.addTask {
                    let name = RecordName("\(index)")
                    try await store.set(Array("\(index)".utf8), for: name)
                    #expect(try await store.get(name) == Array("\(index)".utf8))
                }
            }
            try await group.waitForAll()
        }
        #expect(try await store.names().count == 100)
    }

    @Test("a cancelled task stores nothing", arguments: Kind.here)
    func cancelled(_ kind: Kind) async throws {
        let place = try await kind.make()
        let store = place.store
        let task = Task {
            // Cancelled before it begins.
            while !Task.isCancelled { await Task.yield() }
            try await store.set([1], for: "a")
        }
        task.cancel()
        let error = await #expect(throws: VaultError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        #expect(try await store.get("a") == nil)
    }

    @Test("each listener hears what happens from its beginning on", arguments: Kind.here)
    func events(_ kind: Kind) async throws {
        let place = try await kind.make()
        try await place.store.set([1], for: "before")
        let streams = [place.store.events(), place.store.events()]
        try await place.store.set([1], for: "a")
        try await place.store.delete("a")
        for stream in streams {
            var records = stream.makeAsyncIterator()
            #expect(await next(&records) == StoreEvent(.recordSet, record: "a"))
            #expect(await next(&records) == StoreEvent(.recordDeleted, record: "a"))
        }
    }

    @Test("a listener that is too slow is told so, once", arguments: Kind.here)
    func slow(_ kind: Kind) async throws {
        let place = try await kind.make()
        let stream = place.store.events()
        for index in 0..<200 { try await place.store.set([1], for: RecordName("\(index)")) }
        var events = stream.makeAsyncIterator()
        var last: StoreEvent?
        var missed = 0
        repeat {
            last = await events.next()
            if last?.kind == .missed { missed += 1 }
        } while last != nil && last?.record != "199"
        #expect(missed >= 1)
    }

    /// Without what the daemon tells beside it.
    private func next(_ events: inout StoreEvents.AsyncIterator) async -> StoreEvent? {
        while let event = await events.next() {
            if event.record != nil { return event }
        }
        return nil
    }
}
