import Testing
import Wire

@testable import Bus
@testable import Posix
@testable import SecretService
@testable import SessionCrypto

@LoopActor
private func client(_ name: String, _ pid: UInt32) -> BusClient {
    let client = BusClient(name: name)
    client.pid = pid
    return client
}

@Test("one program with many connections leaves sessions for the others")
func sessionsOfPrograms() async throws {
    try await TestLoop.run {
        let sessions = Sessions()
        @LoopActor
        func open(_ client: BusClient) -> Bool {
            (try? sessions.open(Sessions.plain, .string(""), for: client)) != nil
        }
        /// How many one program gets over a hundred connections.
        @LoopActor
        func take(_ pid: UInt32) -> Int {
            (0..<100).reduce(0) { sum, number in
                let each = client(":\(pid).\(number)", pid)
                var own = 0
                while open(each) { own += 1 }
                return sum + own
            }
        }
        var taken: [Int] = []
        for pid in 1...40 { taken.append(take(UInt32(pid))) }
        #expect(taken[0] <= Sessions.most / 8 && taken[0] > Sessions.mostOfClient)
        #expect(taken.reduce(0, +) < Sessions.most)
        // The forty-first still gets what it needs.
        let late = client(":41.0", 41)
        for _ in 0..<Sessions.leastOfProgram { #expect(open(late)) }
        sessions.closeAll(of: late)
        #expect(!sessions.has(late))
        for _ in 0..<Sessions.leastOfProgram { #expect(open(late)) }
    }
}

@Test(
    "one program with many connections leaves places for the others",
    .enabled(if: PrivateBus.isThere))
func placesOfPrograms() async throws {
    try await TestLoop.withBus { daemon in
        let desk = try await Desk(daemon)
        let first = try await desk.client()
        _ = try await first.plainSession()
        let own = try #require(desk.service.bus.clients.all.values.first)
        @LoopActor
        func fill(_ pid: UInt32) {
            for number in 0..<TreeClients.most / 8 {
                let each = client(":\(pid).\(number)", pid)
                each.isKept = true
                each.isKnown = true
                desk.service.bus.clients.all[each.name] = each
            }
        }
        // Another one has all that it may have, and this one is served.
        fill(own.pid + 1)
        _ = try await (try await desk.client()).plainSession()
        fill(own.pid)
        let late = try await desk.client()
        await isRefused("LimitsExceeded") { _ = try await late.plainSession() }
        // Who was there before goes on.
        _ = try await first.plainSession()
        desk.service.bus.close()
    }
}

@Test(
    "attributes that an item of the collection `session` gets later count as well",
    .enabled(if: PrivateBus.isThere))
func laterAttributes() async throws {
    try await TestLoop.withBus { daemon in
        let desk = try await Desk(daemon)
        let client = try await desk.client()
        let session = try await client.plainSession()
        let collection = "/org/freedesktop/secrets/collection/session"
        let large = String(repeating: "x", count: 16_000)
        let many = Dictionary(uniqueKeysWithValues: (0..<60).map { ("\($0)", large) })
        var refused = ""
        var stored = 0
        while refused.isEmpty, stored < 12 {
            let item = try await client.create("1", [:], session: session, in: collection)
            refused = await refusal {
                try await client.set(item, "Item", "Attributes", .texts(many))
            }
            if refused.isEmpty { stored += 1 }
            // The same once more takes no more than before.
            if stored == 1 { try await client.set(item, "Item", "Attributes", .texts(many)) }
        }
        #expect(refused == "LimitsExceeded")
        #expect(stored == Passers.mostBytes / (60 * 16_000))
        client.bus.close()
        desk.service.bus.close()
    }
}

@Test(
    "what is to be told waits from the moment in which the name is ours",
    .enabled(if: PrivateBus.isThere))
func silentFromTheName() async throws {
    try await TestLoop.withBus { daemon in
        let other = try await daemon.connect()
        let name = "org.freedesktop.secrets"
        #expect(try await other.own(name, until: soon) == .owner)
        let keeper = MemoryKeeper([named("Login", .zero)])
        let service = SecretService(
            try await daemon.connect(), Cabinet(keeper), PlayedPerson(keeper),
            journal: Journal { _ in })
        #expect(try await service.begin(until: soon) == .waiting)
        // It waits for longer than it would be silent.
        await EventLoop.sleep(until: Clock.bootMilliseconds() + Announcer.silence + 100)
        let client = Client(try await daemon.connect())
        try await client.listen()
        let before = Clock.bootMilliseconds()
        try await other.release(name, until: soon)
        let session = try await client.plainSession()
        let item = try await client.create("1", [:], session: session)
        #expect(await waited { client.heard == ["ItemCreated " + item] })
        #expect(Clock.bootMilliseconds() >= before + Announcer.silence)
        client.bus.close()
        service.bus.close()
        other.close()
    }
}

@Test(
    "an alias whose collection is gone means what it meant before",
    .enabled(if: PrivateBus.isThere))
func goneAlias() async throws {
    try await TestLoop.withBus { daemon in
        let desk = try await Desk(daemon)
        let client = try await desk.client()
        desk.keeper.mirror.setAlias(Array("default".utf8), .random())
        desk.keeper.mirror.setAlias(Array("work".utf8), .random())
        @LoopActor
        func alias(_ name: String) async throws -> String {
            try await client.service("ReadAlias", [.string(name)]).objectPath()
        }
        #expect(try await alias("default") == client.login)
        #expect(try await alias("work") == "/")
        client.bus.close()
        desk.service.bus.close()
    }
}

@Test(
    "what stands for a search is not deleted before anybody knows what it is",
    .enabled(if: PrivateBus.isThere))
func deletesNoPlaceholder() async throws {
    try await TestLoop.withBus { daemon in
        let desk = try await Desk(daemon, isOpen: false)
        let client = try await desk.client()
        let placeholder = try await client.search(["a": "x"]).locked[0]
        await isRefused("IsLocked") { _ = try await client.call(placeholder, "Item", "Delete") }
        #expect(desk.service.tree.prompts.ids.isEmpty)
        client.bus.close()
        desk.service.bus.close()
    }
}
