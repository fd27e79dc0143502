import Testing
import Wire

@testable import Bus
@testable import Posix
@testable import SecretService

private func withDesk(
    isOpen: Bool = true, _ body: @escaping @LoopActor @Sendable (Desk, Client) async throws -> Void
) async throws {
    try await TestLoop.withBus { daemon in
        let desk = try await Desk(daemon, isOpen: isOpen)
        let client = try await desk.client()
        try await client.listen()
        try await body(desk, client)
        client.bus.close()
        desk.service.bus.close()
    }
}

@Test(
    "a store beside `secrets` is a collection of its own, is found and read",
    .enabled(if: PrivateBus.isThere))
func drawerIsFound() async throws {
    try await withDesk { desk, client in
        let session = try await client.plainSession()
        let team = desk.drawer("bob/team", .others)
        let item = try await client.create("1", ["a": "x"], session: session, in: team.path)
        #expect(item.hasPrefix(team.path + "/"))
        #expect(team.keeper.mirror.count == 1 && desk.keeper.mirror.count == 0)
        #expect(try await client.search(["a": "x"]).unlocked == [item])
        #expect(try await client.secret(item, session) == "1")
        #expect(try await client.property(team.path, "Collection", "Items") == .paths([item]))
        let root = "/org/freedesktop/secrets"
        #expect(
            try await client.property(root, "Service", "Collections")
                == .paths([client.login, team.path, root + "/collection/session"]))
        let own = try await client.create("2", ["a": "x"], session: session)
        // What others may have written comes last, however new it is.
        try await client.set(item, "Item", "Label", .string("newest"))
        #expect(try await client.search(["a": "x"]).unlocked == [own, item])
        let both = try await client.service("GetSecrets", [.paths([item, own]), .path(session)])
        #expect(both.signature == "a{o(oayays)}")
        _ = try await client.call(item, "Item", "Delete")
        #expect(team.keeper.mirror.count == 0)
    }
}

@Test(
    "a drawer that comes and goes is told, and what was in it is not found any more",
    .enabled(if: PrivateBus.isThere))
func drawerComesAndGoes() async throws {
    try await withDesk { desk, client in
        let session = try await client.plainSession()
        let id = SecretID.random()
        let drawer = MemoryKeeper([])
        drawer.standing = .others
        desk.cabinet.add(drawer, as: id)
        let path = ObjectPath.Collection.stored(id).path
        await isRefused("NoSuchObject") { _ = try await client.call(path, "Collection", "Delete") }
        _ = try await drawer.relabel(named("bob/team", id), until: soon)
        #expect(await waited { client.heard.contains("CollectionCreated " + path) })
        let item = try await client.create("1", ["a": "x"], session: session, in: path)
        try await drawer.delete(collection: id, until: soon)
        desk.cabinet.remove(id)
        #expect(await waited { client.heard.contains("CollectionDeleted " + path) })
        #expect(try await client.search(["a": "x"]).unlocked == [])
        await isRefused("NoSuchObject") { _ = try await client.secret(item, session) }
    }
}

@Test(
    "each passcode has its dialog; what is open when the person refuses the rest is given",
    .enabled(if: PrivateBus.isThere))
func drawersHaveDialogs() async throws {
    try await withDesk { desk, client in
        let session = try await client.plainSession()
        let work = desk.drawer("Work", .own)
        let item = try await client.create("1", ["a": "x"], session: session)
        let other = try await client.create("2", ["a": "x"], session: session, in: work.path)
        desk.keeper.isOpen = false
        work.keeper.isOpen = false
        #expect(try await client.search(["a": "x"]).locked == [item, other])
        await isRefused("IsLocked") { _ = try await client.secret(other, session) }
        let both = try await client.unlock([other, item, work.path]).1
        try await client.begin(both)
        #expect(await waited { desk.person.isAsked })
        desk.person.answer(.opened)
        #expect(await waited { desk.person.asked == 2 && desk.person.isAsked })
        #expect(desk.person.stores == ["secrets", "Work"] && client.completed.isEmpty)
        desk.person.answer(.refused)
        #expect(await waited { client.completed.count == 1 })
        #expect(!client.completed[0].isDismissed && client.completed[0].paths == [item])
        // Nothing else waits for it: refusing it is refusing all.
        let (_, alone) = try await client.unlock([work.path])
        try await client.begin(alone)
        #expect(await waited { desk.person.asked == 3 && desk.person.isAsked })
        desk.person.answer(.refused)
        #expect(await waited { client.completed.count == 2 })
        #expect(client.completed[1].isDismissed)
        let (unlocked, prompt) = try await client.unlock([item, other])
        #expect(unlocked == [item])
        try await client.begin(prompt)
        #expect(await waited { desk.person.asked == 4 && desk.person.isAsked })
        desk.person.answer(.opened)
        #expect(await waited { client.completed.count == 3 })
        #expect(client.completed[2].paths == [other])
        #expect(try await client.secret(other, session) == "2")
        let answer = try await client.service("Lock", [.paths([work.path])])
        #expect(try answer.paths(atMost: 9) == [work.path])
        #expect(!work.keeper.isOpen && desk.keeper.isOpen)
    }
}

@Test(
    "a drawer that was never open is no part of a search, and asked for by itself it is",
    .enabled(if: PrivateBus.isThere))
func drawerBeforeTheFirstOpening() async throws {
    try await withDesk { desk, client in
        let work = desk.drawer("Work", .own, isOpen: false)
        let found = try await client.search(["a": "x"])
        #expect(found.unlocked == [] && found.locked == [])
        let placeholder = try await client.call(
            work.path, "Collection", "SearchItems", [.texts(["a": "x"])]
        ).paths(atMost: 9)
        #expect(placeholder.count == 1)
        work.keeper.isOpen = true
        let session = try await client.plainSession()
        let item = try await client.create("1", ["a": "x"], session: session, in: work.path)
        #expect(try await client.unlock(placeholder).0 == [item])
        #expect(try await client.secret(placeholder[0], session) == "1")
    }
}

@Test(
    "a store of the person's goes when they say so, and another person's does not",
    .enabled(if: PrivateBus.isThere))
func drawerIsDeleted() async throws {
    try await withDesk { desk, client in
        let theirs = desk.drawer("bob/team", .others)
        await isRefused("AccessDenied") {
            _ = try await client.call(theirs.path, "Collection", "Delete")
        }
        let work = desk.drawer("Work", .own)
        func delete() async throws -> String {
            try await client.call(work.path, "Collection", "Delete").objectPath()
        }
        let prompt = try await delete()
        try await client.begin(prompt)
        #expect(await waited { desk.person.isAsked })
        desk.person.answer(.refused)
        #expect(await waited { client.completed.count == 1 })
        #expect(client.completed[0].isDismissed && desk.person.erased == ["Work"])
        // Whoever dismisses it, or leaves, takes the dialog away.
        let second = try await delete()
        try await client.begin(second)
        #expect(await waited { desk.person.isAsked })
        _ = try await client.call(second, "Prompt", "Dismiss")
        #expect(await waited { client.completed.count == 2 && desk.person.withdrawn == 1 })
        // While the person is away no dialog opens.
        desk.keeper.isAway = true
        let third = try await delete()
        try await client.begin(third)
        _ = try await client.search([:])
        #expect(desk.person.erased.count == 2)
        desk.keeper.isAway = false
        #expect(await waited { desk.person.isAsked })
        try await work.keeper.delete(collection: work.id, until: soon)
        desk.cabinet.remove(work.id)
        desk.person.answer(.opened)
        #expect(await waited { client.completed.count == 3 })
        #expect(!client.completed[2].isDismissed)
    }
}

@Test(
    "a new collection is a store where the person gives it a passcode; nothing where they cancel",
    .enabled(if: PrivateBus.isThere))
func collectionWithPasscode() async throws {
    try await withDesk { desk, client in
        desk.person.making = .refused
        let refused = try await client.service(
            "CreateCollection", [.dictionary([:]), .string("")])
        _ = try refused.objectPath()
        #expect(try await client.result(of: refused.objectPath()).isDismissed)
        #expect(desk.keeper.mirror.collections.count == 1)
        desk.person.making = .store
        desk.person.makes = { store, id in
            let drawer = MemoryKeeper([named(store, id)])
            drawer.standing = .own
            desk.cabinet.add(drawer, as: id)
        }
        let path = try await client.make("a/b\u{7}", "work")
        let made = try #require(desk.person.made.last)
        #expect(made.store == "a_b_" && CollectionMark.isOn(made.id.bytes))
        #expect(path == ObjectPath.Collection.stored(made.id).path)
        #expect(desk.keeper.mirror.collections.count == 1)
        #expect(try await client.service("ReadAlias", [.string("work")]).objectPath() == path)
        #expect(try await client.make("x", "work") == path)
    }
}
