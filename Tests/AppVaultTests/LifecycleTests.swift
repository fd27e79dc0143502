import Testing

@testable import AppVault

/// The flows that the mobile SDKs describe, as examples.
@Suite("the life of a store", .timeLimit(.minutes(20)))
struct LifecycleTests {
    @Test("onboard makes a store and runs the steps with it")
    func onboard() async throws {
        let storage = MemoryStorage()
        let life = Lifecycle(storage, prompter: .silent)
        let store = try await life.onboard(steps: [.storing(["server": [1]])])
        #expect(try await store.get("server") == [1])
        let error = await #expect(throws: VaultError.self) { try await life.onboard() }
        #expect(error?.code == .alreadyExists)
    }

    @Test("a step that fails undoes those before it, the last one first, and removes the store")
    func undone() async throws {
        let storage = MemoryStorage()
        let undone = Locked<[String]>([])
        let steps: [Step<MemoryStore>] = [
            Step("one", run: { _ in }, undo: { _ in undone.withLock { $0.append("one") } }),
            Step("two", run: { _ in }, undo: { _ in undone.withLock { $0.append("two") } }),
            Step(
                "three", run: { _ in throw VaultError(.skipped) },
                undo: { _ in undone.withLock { $0.append("three") } }),
            Step("four", run: { _ in undone.withLock { $0.append("four") } }),
        ]
        let error = await #expect(throws: VaultError.self) {
            try await Lifecycle(storage, prompter: .silent).onboard(steps: steps)
        }
        #expect(error?.code == .skipped)
        #expect(undone.withLock { $0 } == ["two", "one"])
        #expect(try await !storage.exists(.default))
    }

    @Test("a failure in a store that was there before never removes it, and its records come back")
    func kept() async throws {
        let storage = MemoryStorage()
        let store = try await storage.create(.default, with: .silent)
        try await store.set([1], for: "a")
        let error = await #expect(throws: VaultError.self) {
            try await Lifecycle(storage, prompter: .silent).onboard(
                runRestoreIfStoreExists: true,
                steps: [
                    .storing(["a": [2], "b": [3]]),
                    Step("fails") { _ in throw VaultError(.unknown) },
                ])
        }
        #expect(error?.code == .unknown)
        #expect(try await store.get("a") == [1])
        #expect(try await store.get("b") == nil)
    }

    @Test("onboard opens a store that exists, if it is told to")
    func restored() async throws {
        let storage = MemoryStorage()
        try await storage.create(.default, with: .silent).set([1], for: "a")
        let life = Lifecycle(storage, prompter: .silent)
        let store = try await life.onboard(runRestoreIfStoreExists: true)
        #expect(try await store.get("a") == [1])
        try await life.reset()
        let error = await #expect(throws: VaultError.self) { try await life.restore() }
        #expect(error?.code == .doesNotExist)
    }

    @Test("a step is about the store that is selected around it")
    func selected() async throws {
        let storage = MemoryStorage()
        let life = Lifecycle(storage, prompter: .silent)
        try await StoreSelection.with("work") {
            _ = try await life.onboard()
        }
        #expect(StoreSelection.current == .default)
        #expect(try await storage.exists("work"))
        #expect(try await !storage.exists(.default))
    }

    @Test("reset of the passcode makes the store anew under the same name")
    func resetPasscode() async throws {
        let storage = MemoryStorage()
        let life = Lifecycle(storage, prompter: .silent)
        try await life.onboard().set([1], for: "a")
        let store = try await life.resetPasscode()
        #expect(try await store.names().isEmpty)
    }

    @Test("stores of one context are apart from those of another", .enabled(if: true))
    func context() async throws {
        let memory = MemoryStorage()
        let folder = TemporaryFolder()
        try await apart(memory)
        try await apart(FileStorage(folder: folder.path))
    }

    private func apart(_ storage: some StoreProvider) async throws {
        let team = storage.applying(StoreContext(accessGroup: "team", folder: "x"))
        let store = try await team.create("notes", with: .silent)
        try await store.set([1], for: "a")
        #expect(try await !storage.exists("notes"))
        let other = storage.applying(StoreContext(accessGroup: "other"))
        #expect(try await !other.exists("notes"))
        let same = storage.applying(StoreContext(accessGroup: "team", folder: "x"))
        #expect(try await same.open("notes", with: .silent).get("a") == [1])
    }
}

@Suite("a store in memory first", .timeLimit(.minutes(20)))
struct CompositeTests {
    @Test("what is in memory is handed over, newer values win and are told of")
    func handedOver() async throws {
        let persistent = MemoryStore()
        try await persistent.set([9], for: "a")
        try await persistent.set([9], for: "same")
        let composite = CompositeStorage()
        try await composite.set([1], for: "a")
        try await composite.set([9], for: "same")
        try await composite.set([2], for: "b")
        var events = composite.events().makeAsyncIterator()
        try await composite.makePersistent { persistent }
        #expect(await events.next() == StoreEvent(.collided, record: "a"))
        #expect(try await persistent.get("a") == [1])
        #expect(try await persistent.get("b") == [2])
        try await composite.set([3], for: "c")
        #expect(try await persistent.get("c") == [3])
        #expect(await events.next() == StoreEvent(.recordSet, record: "c"))
    }

    @Test("a store that could not be made leaves everything in memory")
    func failed() async throws {
        let composite = CompositeStorage()
        try await composite.set([1], for: "a")
        let error = await #expect(throws: VaultError.self) {
            try await composite.makePersistent { () -> MemoryStore in
                throw VaultError(.cancelled)
            }
        }
        #expect(error?.code == .cancelled)
        #expect(await !composite.isPersistent)
        #expect(try await composite.get("a") == [1])
    }

    @Test("what happens while it is handed over is not lost")
    func meanwhile() async throws {
        let composite = CompositeStorage()
        try await composite.set([1], for: "a")
        try await composite.set([1], for: "b")
        let persistent = MemoryStore()
        try await composite.makePersistent {
            try await composite.set([2], for: "a")
            try await composite.delete("b")
            return persistent
        }
        #expect(try await persistent.get("a") == [2])
        #expect(try await persistent.get("b") == nil)
    }

    @Test("a persistent store that is let go of keeps its records, and memory begins anew")
    func released() async throws {
        let composite = CompositeStorage()
        let persistent = MemoryStore()
        try await composite.set([1], for: "a")
        try await composite.makePersistent { persistent }
        await composite.releasePersistentStore()
        #expect(try await composite.get("a") == nil)
        #expect(try await persistent.get("a") == [1])
    }

    @Test("further stores are kept under labels, each taken once")
    func labels() async throws {
        let composite = CompositeStorage()
        try await composite.register(MemoryStore(), as: "cache")
        let error = await #expect(throws: VaultError.self) {
            try await composite.register(MemoryStore(), as: "cache")
        }
        #expect(error?.code == .alreadyExists)
        #expect(await composite.store("cache") != nil)
        #expect(await composite.unregister("cache"))
        #expect(await composite.store("cache") == nil)
    }
}
