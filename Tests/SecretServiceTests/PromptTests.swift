import Testing
import Wire

@testable import Bus
@testable import Posix
@testable import SecretService

private func withDesk(
    isOpen: Bool = false, _ body: @escaping @LoopActor @Sendable (Desk) async throws -> Void
) async throws {
    try await TestLoop.withBus { daemon in
        let desk = try await Desk(daemon, isOpen: isOpen)
        try await body(desk)
        desk.service.bus.close()
    }
}

/// An item that was stored while it was open; then it is locked.
@LoopActor
private func lockedItem(_ desk: Desk, _ client: Client) async throws -> String {
    desk.keeper.isOpen = true
    let item = try await client.create(
        "otter", ["a": "x"], session: try await client.plainSession())
    desk.keeper.isOpen = false
    return item
}

@Test("unlocking asks the person, and tells its client once", .enabled(if: PrivateBus.isThere))
func unlocks() async throws {
    try await withDesk { desk in
        let client = try await desk.client()
        try await client.listen()
        let item = try await lockedItem(desk, client)
        let (unlocked, prompt) = try await client.unlock([item])
        #expect(unlocked == [] && prompt != "/")
        #expect(!desk.person.isAsked)
        try await client.begin(prompt)
        #expect(await waited { desk.person.isAsked })
        desk.person.answer(.opened)
        #expect(await waited { !client.completed.isEmpty })
        #expect(client.completed[0].path == prompt && !client.completed[0].isDismissed)
        #expect(client.completed[0].paths == [item])
        await isRefused("NoSuchObject") { try await client.begin(prompt) }
        #expect(client.completed.count == 1)
        client.bus.close()
    }
}

@Test(
    "one dialog for all who wait; who refuses, refuses all of them",
    .enabled(if: PrivateBus.isThere))
func oneDialog() async throws {
    try await withDesk { desk in
        let client = try await desk.client()
        let other = try await desk.client()
        try await client.listen()
        try await other.listen()
        let item = try await lockedItem(desk, client)
        let prompts = [
            try await client.unlock([item]).1, try await client.unlock([client.login]).1,
        ]
        for prompt in prompts { try await client.begin(prompt) }
        try await other.begin(try await other.unlock([item]).1)
        #expect(await waited { desk.person.isAsked })
        desk.person.answer(.refused)
        #expect(await waited { client.completed.count == 2 && other.completed.count == 1 })
        #expect(
            (client.completed + other.completed).allSatisfy { $0.isDismissed && $0.paths == [] })
        #expect(desk.person.asked == 1)
        client.bus.close()
        other.bus.close()
    }
}

@Test(
    "a client that dismisses, or leaves, is asked for no more, and the others are",
    .enabled(if: PrivateBus.isThere))
func dismissed() async throws {
    try await withDesk { desk in
        let client = try await desk.client()
        let leaver = try await desk.client()
        try await client.listen()
        let item = try await lockedItem(desk, client)
        try await leaver.begin(try await leaver.unlock([item]).1)
        #expect(await waited { desk.person.isAsked })
        let (_, prompt) = try await client.unlock([item])
        try await client.begin(prompt)
        leaver.bus.close()
        #expect(await waited { desk.service.tree.prompts.ids.count == 1 })
        #expect(desk.person.isAsked && desk.person.withdrawn == 0)
        _ = try await client.call(prompt, "Prompt", "Dismiss")
        #expect(await waited { client.completed.count == 1 })
        #expect(client.completed[0].isDismissed && desk.person.withdrawn == 1)
        // Whoever comes after it is asked for anew.
        let (_, next) = try await client.unlock([item])
        try await client.begin(next)
        #expect(await waited { desk.person.asked == 2 && desk.person.isAsked })
        desk.person.answer(.opened)
        #expect(await waited { client.completed.count == 2 })
        #expect(!client.completed[1].isDismissed)
        client.bus.close()
    }
}

@Test(
    "while the person is away no dialog opens; whoever opens the store completes the prompt",
    .enabled(if: PrivateBus.isThere))
func away() async throws {
    try await withDesk { desk in
        let client = try await desk.client()
        try await client.listen()
        let item = try await lockedItem(desk, client)
        desk.keeper.isAway = true
        let (_, prompt) = try await client.unlock([item])
        try await client.begin(prompt)
        _ = try await client.search([:])
        #expect(desk.person.asked == 0 && client.completed.isEmpty)
        desk.keeper.isOpen = true
        #expect(await waited { client.completed.count == 1 })
        #expect(client.completed[0].paths == [item] && desk.person.asked == 0)
        // Who comes back without having opened it is asked then.
        desk.keeper.isOpen = false
        try await client.begin(try await client.unlock([item]).1)
        _ = try await client.search([:])
        #expect(desk.person.asked == 0)
        desk.keeper.isAway = false
        #expect(await waited { desk.person.isAsked })
        desk.person.answer(.refused)
        #expect(await waited { client.completed.count == 2 })
        client.bus.close()
    }
}

@Test(
    "what needs it open is done after the person has opened it", .enabled(if: PrivateBus.isThere))
func later() async throws {
    try await withDesk { desk in
        let client = try await desk.client()
        try await client.listen()
        let item = try await lockedItem(desk, client)
        let delete = try await client.call(item, "Item", "Delete").objectPath()
        let create = try await client.service(
            "CreateCollection", [.dictionary([:]), .string("work")])
        #expect(try create.objectPath() == "/")
        for prompt in [delete, try create.objectPath()] { try await client.begin(prompt) }
        #expect(await waited { desk.person.isAsked })
        desk.person.answer(.opened)
        #expect(await waited { client.completed.count == 2 })
        #expect(client.completed.allSatisfy { !$0.isDismissed })
        #expect(desk.keeper.mirror.count == 0 && desk.keeper.mirror.collections.count == 2)
        #expect(desk.person.made.count == 1)
        client.bus.close()
    }
}

@Test(
    "before the first opening a search finds one locked item, and unlocking it finds what there is",
    .enabled(if: PrivateBus.isThere))
func beforeTheFirstOpening() async throws {
    try await withDesk { desk in
        let client = try await desk.client()
        try await client.listen()
        let found = try await client.search(["a": "x"])
        #expect(found.unlocked == [] && found.locked.count == 1)
        let placeholder = found.locked[0]
        #expect(try await client.search(["a": "x"]).locked == [placeholder])
        #expect(try await client.search(["a": "y"]).locked != [placeholder])
        #expect(try await client.property(placeholder, "Item", "Locked") == .bool(true))
        #expect(try await client.property(placeholder, "Item", "Attributes") == .texts(["a": "x"]))
        let session = try await client.plainSession()
        await isRefused("IsLocked") { _ = try await client.secret(placeholder, session) }
        let (_, prompt) = try await client.unlock([placeholder])
        try await client.begin(prompt)
        #expect(await waited { desk.person.isAsked })
        // What another program stores meanwhile stands for what was there.
        desk.keeper.isOpen = true
        let item = try await client.create("otter", ["a": "x"], session: session)
        desk.person.answer(.opened)
        #expect(await waited { client.completed.count == 1 })
        let (unlocked, none) = try await client.unlock([placeholder])
        #expect(unlocked == [item] && none == "/")
        #expect(try await client.secret(placeholder, session) == "otter")
        #expect(try await client.search(["a": "x"]).unlocked == [item])
        client.bus.close()
    }
}

@Test(
    "prompts that a client never calls make room for its next ones; what it has called stays",
    .enabled(if: PrivateBus.isThere))
func manyPrompts() async throws {
    try await withDesk { desk in
        let client = try await desk.client()
        let (_, first) = try await client.unlock([client.login])
        let (_, second) = try await client.unlock([client.login])
        try await client.begin(first)
        for _ in 0..<200 { _ = try await client.unlock([client.login]) }
        #expect(desk.service.tree.prompts.ids.count == Prompts.mostOfClient)
        await isRefused("NoSuchObject") { try await client.begin(second) }
        try await client.begin(first)
        for id in desk.service.tree.prompts.ids {
            try await client.begin(ObjectPath.prompt(path: id))
        }
        let refused = await refusal { _ = try await client.unlock([client.login]) }
        #expect(refused == "LimitsExceeded")
        client.bus.close()
    }
}

@Test(
    "the objects of a client's prompts have a limit together", .enabled(if: PrivateBus.isThere))
func manyObjects() async throws {
    try await withDesk { desk in
        let client = try await desk.client()
        // Before the first opening each of them may be there.
        @LoopActor
        func paths() -> [String] {
            (0..<Prompts.mostObjects / 2 + 1).map { _ in
                ObjectPath.Collection.login.path(of: .random())
            }
        }
        let (_, first) = try await client.unlock(paths())
        let (_, second) = try await client.unlock(paths())
        await isRefused("NoSuchObject") { try await client.begin(first) }
        try await client.begin(second)
        await isRefused("LimitsExceeded") { _ = try await client.unlock(paths()) }
        _ = try await client.unlock([client.login])
        client.bus.close()
    }
}

@Test(
    "items are announced, but not in the moment after the start", .enabled(if: PrivateBus.isThere))
func announced() async throws {
    try await withDesk(isOpen: true) { desk in
        let client = try await desk.client()
        try await client.listen()
        let session = try await client.plainSession()
        let item = try await client.create("1", [:], session: session)
        #expect(await waited { client.heard.contains("ItemCreated " + item) })
        #expect(Clock.bootMilliseconds() >= desk.began + Announcer.silence)
        try await client.set(item, "Item", "Label", .string("other"))
        _ = try await client.call(item, "Item", "Delete")
        #expect(await waited { client.heard.count == 3 })
        #expect(client.heard.last == "ItemDeleted " + item)
        client.bus.close()
    }
}

/// Prompts of clients that are on no bus.
@LoopActor
private final class Box {
    let keeper = MemoryKeeper([named("Login", .zero)], isOpen: false)
    private(set) var ended: [SecretID] = []
    lazy var prompts = Prompts(keeper, PlayedPerson(keeper)) { [unowned self] prompt, _, _ in
        ended.append(prompt.id)
    }

    func make(_ client: BusClient) throws -> Prompt {
        try prompts.make(for: client, dismissedResult: .string(""), needs: [keeper]) {
            .string("")
        }
    }
}

@Test("a client that left while its call waited gets no prompt, which would stay for ever")
func leftMeanwhile() async throws {
    try await TestLoop.run {
        let box = Box()
        let client = BusClient(name: ":1.7")
        client.hasLeft = true
        #expect(throws: BusRefusal.self) { _ = try box.make(client) }
        #expect(box.prompts.ids.isEmpty)
    }
}

@Test("a prompt that was dismissed before it was called ends once, whatever comes next")
func dismissedAtOnce() async throws {
    try await TestLoop.run {
        let box = Box()
        let client = BusClient(name: ":1.7")
        let first = try box.make(client)
        box.prompts.dismiss(first)
        for _ in 0..<Prompts.mostOfClient { _ = try box.make(client) }
        #expect(await waited { !box.ended.isEmpty })
        #expect(box.ended == [first.id])
    }
}

@Test(
    "while what opens it, too, has been opened, nobody is asked for it; after its moment they are",
    .enabled(if: PrivateBus.isThere))
func comes() async throws {
    try await withDesk { desk in
        let client = try await desk.client()
        try await client.listen()
        desk.keeper.comesBy = .max
        try await client.begin(try await client.unlock([client.login]).1)
        _ = try await client.search([:])
        #expect(desk.person.asked == 0 && client.completed.isEmpty)
        desk.keeper.isOpen = true
        #expect(await waited { client.completed.count == 1 })
        #expect(!client.completed[0].isDismissed && desk.person.asked == 0)
        // Who waits for another one meanwhile is not kept waiting.
        let (work, _, path) = desk.drawer("work", .own, isOpen: false)
        work.comesBy = .max
        let coming = try await client.unlock([path]).1
        try await client.begin(coming)
        desk.keeper.isOpen = false
        desk.keeper.comesBy = 0
        try await client.begin(try await client.unlock([client.login]).1)
        #expect(await waited { desk.person.stores == ["secrets"] })
        desk.person.answer(.opened)
        #expect(await waited { client.completed.count == 2 })
        #expect(client.completed[1].path != coming)
        work.isOpen = true
        #expect(await waited { client.completed.count == 3 })
        // It does not come: the person is asked after all.
        desk.keeper.isOpen = false
        desk.keeper.comesBy = Clock.bootMilliseconds() + 50
        try await client.begin(try await client.unlock([client.login]).1)
        #expect(await waited { desk.person.isAsked })
        #expect(Clock.bootMilliseconds() >= desk.keeper.comesBy)
        desk.person.answer(.opened)
        #expect(await waited { client.completed.count == 4 })
        client.bus.close()
    }
}

@Test("a store comes when the one that it follows was opened, and not when it alone was locked")
func followerComes() async throws {
    try await TestLoop.run {
        let stores = DaemonStores(path: "/nowhere")
        let keeper = stores.cabinet.main
        func event(_ what: Event.What, _ name: String, _ id: UInt8) -> Event {
            Event(what, store: [UInt8](repeating: id, count: 16), name: Array(name.utf8))
        }
        stores.begin(with: [event(.opened, "default", 1), event(.locked, "secrets", 2)])
        #expect(keeper.comesBy == 0)
        stores.take(event(.locked, "default", 1))
        stores.take(event(.opened, "default", 1))
        #expect(keeper.comesBy > Clock.bootMilliseconds())
        stores.take(event(.opened, "secrets", 2))
        #expect(keeper.comesBy == 0 && keeper.isOpen)
        stores.take(event(.locked, "secrets", 2))
        #expect(keeper.comesBy == 0 && !keeper.isOpen)
        stores.take(event(.opened, "another", 3))
        #expect(keeper.comesBy == 0)
        stores.take(event(.opened, "default", 1))
        stores.take(event(.locked, "default", 1))
        #expect(keeper.comesBy == 0)
        // It has a passcode of its own by now, as the list says that is asked for meanwhile.
        stores.take(event(.opened, "default", 1))
        #expect(keeper.comesBy > 0)
        var entry = StoreList.Entry()
        (entry.store, entry.name) = ([UInt8](repeating: 2, count: 16), Array("secrets".utf8))
        stores.keep([entry])
        #expect(keeper.comesBy == 0)
        stores.take(event(.locked, "default", 1))
        stores.take(event(.opened, "default", 1))
        #expect(keeper.comesBy == 0)
        (entry.kind, entry.parent) = (.follows, Array("default".utf8))
        stores.keep([entry])
        stores.take(event(.opened, "default", 1))
        #expect(keeper.comesBy > 0)
        // The daemon was killed at it: everything is locked, and another one says so.
        stores.begin(with: [event(.locked, "default", 1), event(.locked, "secrets", 2)])
        #expect(keeper.comesBy == 0)
    }
}
