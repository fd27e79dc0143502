import Testing
import Wire

@testable import Bus
@testable import Posix
@testable import SecretService

/// A keeper in memory that notes until when each call may wait. Where it is held, its answers come
/// when the test says so.
@LoopActor
private final class NotingKeeper: Keeper {
    private let inner: MemoryKeeper
    private(set) var deadlines: [UInt64] = []
    var held: First<Bool>?

    init(_ inner: MemoryKeeper) { self.inner = inner }

    func forget() { deadlines = [] }

    var mirror: Mirror { inner.mirror }
    var isOpen: Bool { inner.isOpen }
    var wasOpen: Bool { inner.wasOpen }
    var exists: Bool { inner.exists }
    var isAway: Bool { inner.isAway }
    var opener: String { inner.opener }
    var comesBy: UInt64 { inner.comesBy }
    var standing: Standing { inner.standing }
    func hasBeenOpened() { inner.hasBeenOpened() }
    var told: (@LoopActor (Mirror.Changes) -> Void)? {
        get { inner.told }
        set { inner.told = newValue }
    }
    var turned: (@LoopActor () -> Void)? {
        get { inner.turned }
        set { inner.turned = newValue }
    }

    /// Some time goes by with each of them.
    private func note(_ deadline: UInt64) async {
        deadlines.append(deadline)
        _ = await held?.value()
        await EventLoop.sleep(until: Clock.bootMilliseconds() + 5)
    }

    func ready(until deadline: UInt64) async -> Bool {
        await note(deadline)
        return await inner.ready(until: deadline)
    }
    func follow() async -> Bool { await inner.follow() }
    func put(
        _ item: Item, _ secret: WipedBuffer, replace: Bool, until deadline: UInt64
    ) async throws(KeeperError) -> Item {
        await note(deadline)
        return try await inner.put(item, secret, replace: replace, until: deadline)
    }
    func change(_ change: ChangedItem, until deadline: UInt64) async throws(KeeperError) {
        await note(deadline)
        try await inner.change(change, until: deadline)
    }
    func delete(_ item: SecretID, until deadline: UInt64) async throws(KeeperError) {
        await note(deadline)
        try await inner.delete(item, until: deadline)
    }
    func secrets(
        _ items: [SecretID], until deadline: UInt64
    ) async throws(KeeperError) -> [SecretID: KeptSecret] {
        await note(deadline)
        return try await inner.secrets(items, until: deadline)
    }
    func put(
        _ collection: ItemCollection, until deadline: UInt64
    ) async throws(KeeperError) -> ItemCollection {
        await note(deadline)
        return try await inner.put(collection, until: deadline)
    }
    func relabel(
        _ collection: ItemCollection, until deadline: UInt64
    ) async throws(KeeperError) -> ItemCollection {
        await note(deadline)
        return try await inner.relabel(collection, until: deadline)
    }
    func delete(collection: SecretID, until deadline: UInt64) async throws(KeeperError) {
        await note(deadline)
        try await inner.delete(collection: collection, until: deadline)
    }
    func setAlias(
        _ name: [UInt8], _ collection: SecretID?, until deadline: UInt64
    ) async throws(KeeperError) {
        await note(deadline)
        try await inner.setAlias(name, collection, until: deadline)
    }
    func lock(until deadline: UInt64) async throws(KeeperError) {
        await note(deadline)
        try await inner.lock(until: deadline)
    }
}

private func withKeeper(
    _ body:
        @escaping @LoopActor @Sendable (NotingKeeper, SecretService, Client) async throws ->
        Void
) async throws {
    try await TestLoop.withBus { daemon in
        let inner = MemoryKeeper([named("Login", .zero)])
        let keeper = NotingKeeper(inner)
        let service = SecretService(
            try await daemon.connect(), Cabinet(keeper), PlayedPerson(inner),
            journal: Journal { _ in })
        _ = try await service.begin(until: soon)
        let client = Client(try await daemon.connect())
        try await body(keeper, service, client)
        client.bus.close()
        service.bus.close()
    }
}

@Test(
    "all waits of one call end at the same moment, which its arrival has set",
    .enabled(if: PrivateBus.isThere))
func oneDeadline() async throws {
    try await withKeeper { keeper, _, client in
        let session = try await client.plainSession()
        // More of them than are read at once.
        var items: [String] = []
        for number in 0..<70 {
            items.append(
                try await client.create("1", ["n": "\(number)"], session: session))
        }
        @LoopActor
        func waits(
            atLeast least: Int, _ call: @LoopActor () async throws -> Void
        ) async throws {
            keeper.forget()
            let before = Clock.bootMilliseconds()
            try await call()
            let after = Clock.bootMilliseconds()
            #expect(keeper.deadlines.count >= least)
            #expect(Set(keeper.deadlines).count == 1)
            for deadline in keeper.deadlines {
                #expect((before...after).contains(deadline - SecretTree.patience))
            }
        }
        try await waits(atLeast: 2) {
            _ = try await client.create("2", ["n": "x"], session: session)
        }
        try await waits(atLeast: 3) {
            _ = try await client.service("GetSecrets", [.paths(items), .path(session)])
        }
        // What follows is its prompt's.
        try await waits(atLeast: 1) {
            _ = try await client.service("CreateCollection", [.dictionary([:]), .string("work")])
        }
        try await waits(atLeast: 2) {
            try await client.set(items[0], "Item", "Label", .string("other"))
        }
        try await waits(atLeast: 2) { _ = try await client.secret(items[0], session) }
        try await waits(atLeast: 2) { _ = try await client.call(items[0], "Item", "Delete") }
        try await waits(atLeast: 2) {
            _ = try await client.service("Lock", [.paths([client.login])])
        }
    }
}

@Test(
    "a call that waits for its client's call before it has no more time for that",
    .enabled(if: PrivateBus.isThere))
func waitsInLine() async throws {
    try await withKeeper { keeper, service, client in
        keeper.forget()
        keeper.held = First<Bool>()
        var answered = 0
        @LoopActor
        func search() {
            client.bus.start(
                "org.freedesktop.secrets", "/org/freedesktop/secrets",
                "org.freedesktop.Secret.Service", "SearchItems", [.texts([:])], until: soon
            ) { _ in answered += 1 }
        }
        search()
        #expect(await waited { keeper.deadlines.count == 1 })
        search()
        #expect(
            await waited {
                service.bus.clients.all.values.contains { $0.waiting.count == 1 }
            })
        await EventLoop.sleep(until: Clock.bootMilliseconds() + 50)
        let now = Clock.bootMilliseconds()
        keeper.held?.settle(true)
        keeper.held = nil
        #expect(await waited { answered == 2 })
        #expect(keeper.deadlines.count == 2)
        #expect(keeper.deadlines.allSatisfy { $0 < now + SecretTree.patience })
    }
}
