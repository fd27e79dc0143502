import Policy
import Posix
import StoreKeeping
import Testing
import Wire

@testable import VaultService

@Suite("who watches hears what happens")
struct WatchTests {
    @LoopActor
    private func watch(_ stage: Stage) throws -> Watcher {
        let stores = stage.house.desk.vault.stores(of: stage.alice.uid)
        return try #require(
            stage.house.upkeep.watchers.watch(stage.alice, stores, isAway: false))
    }

    @LoopActor
    private func hear(_ watcher: Watcher) async -> [Event.What] {
        await watcher.next().map(\.what)
    }

    @Test("first how things are, then each change")
    func order() async throws {
        try await Stage.run("") { stage in
            await stage.sitDown()
            let watcher = try watch(stage)
            #expect(await hear(watcher) == [.opened, .told])
            stage.hear(.changed(session: "1", isLocked: true, isIdle: nil))
            #expect(await stage.comes { stage.store?.records.isOpen == false })
            // The person has left before the store was locked.
            #expect(await hear(watcher) == [.left, .locked])
            stage.hear(.changed(session: "1", isLocked: false, isIdle: nil))
            #expect(await hear(watcher) == [.cameBack])
            await stage.run(
                .openStore(Target()), stage.script(["match.prompt": Stage.passcode]))
            #expect(Set(await hear(watcher)) == [.opened, .changed])
        }
    }

    @Test("a store is told of before those that it opens")
    func leaderFirst() async throws {
        try await Stage.run("") { stage in
            await stage.sitDown()
            for number in 1...6 {
                var target = Target()
                target.store = Array("mail\(number)".utf8)
                let mail = Create(target: target, way: .followStore, openExisting: false)
                #expect(
                    await stage.run(.create(mail), stage.script([:]))
                        == .success("create.done.following"))
            }
            let watcher = try watch(stage)
            var events = await watcher.next()
            #expect(events.count == 8)
            #expect(String(decoding: events[0].name, as: UTF8.self) == "default")
            await stage.run(.lock(Target()), stage.script([:]))
            await stage.run(.openStore(Target()), stage.script(["match.prompt": Stage.passcode]))
            #expect(
                await stage.comes {
                    stage.house.desk.vault.stores(of: stage.alice.uid).allSatisfy(\.isOpen)
                })
            events = await watcher.next()
            #expect(events.filter { $0.what == .opened }.count == 7)
            let names = events.map { String(decoding: $0.name, as: UTF8.self) }
            #expect(names.lastIndex(of: "default")! < names.firstIndex { $0 != "default" }!)
        }
    }

    @Test("whoever does not read hears that it was locked in between, once")
    func coalesced() async throws {
        try await Stage.run("") { stage in
            await stage.sitDown()
            let watcher = try watch(stage)
            #expect(await hear(watcher) == [.opened, .told])
            for _ in 1...5 {
                await stage.run(.lock(Target()), stage.script([:]))
                await stage.run(
                    .openStore(Target()), stage.script(["match.prompt": Stage.passcode]))
            }
            #expect(await hear(watcher) == [.locked, .opened, .changed])
        }
    }

    @Test("a wrong try is a change of what `status` shows, and so is another policy")
    func changed() async throws {
        try await Stage.run("") { stage in
            await stage.sitDown()
            await stage.run(.lock(Target()), stage.script([:]))
            let watcher = try watch(stage)
            #expect(await hear(watcher) == [.locked, .told])
            await stage.run(
                .openStore(Target()), stage.script(["match.prompt": "wrong"], .program))
            #expect(await hear(watcher) == [.changed])
            await stage.change("MinLength=20\n")
            #expect(await hear(watcher) == [.changed])
        }
    }

    @Test("of a store that was removed nothing is kept: making and removing them fills no memory")
    func removed() async throws {
        try await Stage.run("") { stage in
            await stage.sitDown()
            stage.polkit.answer = .yes
            let watcher = try watch(stage)
            #expect(await hear(watcher) == [.opened, .told])
            #expect(watcher.storeCount == 1)
            #expect(await stage.run(.reset(Target()), stage.person([:])) == .success("reset.done"))
            #expect(await hear(watcher) == [.locked, .changed, .removed])
            #expect(watcher.storeCount == 0)
            // Nobody reads meanwhile.
            for _ in 1...3 {
                let script = stage.script(
                    ["create.choose": Stage.passcode, "create.confirm": Stage.passcode])
                await stage.run(
                    .create(Create(target: Target(), way: .ownPasscode, openExisting: false)),
                    script)
                #expect(watcher.storeCount == 1)
                await stage.run(.reset(Target()), stage.person([:]))
                #expect(watcher.storeCount == 0)
            }
        }
    }

    @Test(
        "of a store that root has given to somebody else its former owner hears that, and no more",
        arguments: [true, false])
    func given(isOpen: Bool) async throws {
        try await Stage.run("") { stage in
            await stage.sitDown()
            if !isOpen { await stage.run(.lock(Target()), stage.script([:])) }
            let watcher = try watch(stage)
            #expect(await hear(watcher) == [isOpen ? .opened : .locked, .told])
            let host = try #require(stage.store)
            let other = Person(uid: stage.alice.uid + 1, name: Array("somebody".utf8))
            try await stage.house.desk.vault.chown(host, to: other)
            let events = await watcher.next()
            #expect(events.map(\.what) == [.locked])
            // Nor to whom.
            #expect(events.first?.name == Array("default".utf8))
            #expect(watcher.storeCount == 0)
        }
    }

    @Test("a lock that idleness brought is told after its grace, and not if it is taken back")
    func grace() async throws {
        try await Stage.run("LockGrace=1\n") { stage in
            await stage.sitDown()
            let watcher = try watch(stage)
            #expect(await hear(watcher) == [.opened, .told])
            stage.hear(.changed(session: "1", isLocked: nil, isIdle: true))
            stage.hear(.changed(session: "1", isLocked: true, isIdle: nil))
            stage.hear(.changed(session: "1", isLocked: false, isIdle: nil))
            await EventLoop.sleep(until: Clock.bootMilliseconds() + 1_500)
            stage.hear(.changed(session: "1", isLocked: true, isIdle: nil))
            let heard = await hear(watcher)
            #expect(heard.prefix(1) == [.left])
        }
    }

    @Test("as many as the limit says, and a place is free again when one ends")
    func limit() async throws {
        try await Stage.run("") { stage in
            await stage.sitDown()
            let watchers = stage.house.upkeep.watchers
            let stores = stage.house.desk.vault.stores(of: stage.alice.uid)
            var all: [Watcher] = []
            for _ in 0..<Limits.watchers { all.append(try watch(stage)) }
            #expect(watchers.watch(stage.alice, stores, isAway: false) == nil)
            watchers.end(all[0])
            #expect(await all[0].next().isEmpty)
            _ = try watch(stage)
        }
    }

    @Test("what answers for the desktop's secrets has places that others cannot take")
    func forSecrets() async throws {
        try await Stage.run("") { stage in
            await stage.sitDown()
            let watchers = stage.house.upkeep.watchers
            let stores = stage.house.desk.vault.stores(of: stage.alice.uid)
            @LoopActor
            func watch(isForSecrets: Bool) -> Watcher? {
                watchers.watch(
                    stage.alice, stores, isAway: false, isForSecrets: isForSecrets)
            }
            for _ in 0..<Limits.watchers { #expect(watch(isForSecrets: false) != nil) }
            #expect(watch(isForSecrets: false) == nil)
            for _ in 0..<Limits.watchersOfSecrets { #expect(watch(isForSecrets: true) != nil) }
            #expect(watch(isForSecrets: true) == nil)
        }
    }

    @Test("nobody hears of another person's store")
    func others() async throws {
        try await Stage.run("") { stage in
            await stage.sitDown()
            let mallory = Person(uid: stage.alice.uid, name: Array("mallory".utf8))
            let stores = stage.house.desk.vault.stores(of: stage.alice.uid)
            let watcher = try #require(
                stage.house.upkeep.watchers.watch(mallory, stores, isAway: false))
            await stage.run(.lock(Target()), stage.script([:]))
            stage.house.upkeep.watchers.end(watcher)
            #expect(await watcher.next().isEmpty)
        }
    }
}
