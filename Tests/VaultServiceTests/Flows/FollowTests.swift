import KeySlots
import Policy
import Posix
import Secrets
import StoreKeeping
import Testing
import Wire
import Words

@testable import VaultService

@Suite("a store that follows another one")
struct FollowTests {
    private static let secrets = "[Passcode store:secrets]\nLockOnBackground=never\n"

    @Test("is made without a question while that one is open, and opens and locks with it")
    func together() async throws {
        try await Stage.run("") { stage in
            await stage.sitDown()
            #expect(await stage.opens())
            #expect(await stage.follow("mail") == .success("create.done.following"))
            let mail = try #require(stage.named("mail"))
            #expect(mail.isOpen && mail.identity.kind == .follows(stage.store!.id))
            await stage.run(.lock(Target()), stage.script([:]))
            #expect(!mail.isOpen && stage.store?.isOpen == false)
            #expect(await stage.opens())
            #expect(await stage.comes { mail.isOpen })
        }
    }

    @Test("asks for what opens the other one, where that is locked")
    func asks() async throws {
        try await Stage.run("") { stage in
            await stage.sitDown()
            await stage.run(.lock(Target()), stage.script([:]))
            let script = stage.script(["match.current": Stage.passcode])
            #expect(await stage.follow("mail", script) == .success("create.done.following"))
            #expect(script.asked == ["match.current"])
            await stage.run(.lock(Target()), stage.script([:]))
            // Its own name leads to the other one's passcode, and that opens both.
            let opens = stage.script(["match.prompt": Stage.passcode])
            let target = Target(store: Array("mail".utf8))
            #expect(await stage.run(.openStore(target), opens) == .success("match.done"))
            #expect(stage.named("mail")?.isOpen == true && stage.store?.isOpen == true)
            // Locked alone, it opens again without a question.
            await stage.run(.lock(target), stage.script([:]))
            #expect(stage.named("mail")?.isOpen == false && stage.store?.isOpen == true)
            let silent = stage.script([:])
            #expect(await stage.run(.openStore(target), silent) == .success("match.done"))
            #expect(silent.asked == [])
        }
    }

    @Test("what is locked right after both were opened stays locked")
    func lockedAtOnce() async throws {
        try await Stage.run("") { stage in
            await stage.sitDown()
            #expect(await stage.opens())
            await stage.follow("mail")
            let mail = Target(store: Array("mail".utf8))
            for _ in 0..<20 {
                await stage.run(.lock(Target()), stage.script([:]))
                let opens = stage.script(["match.prompt": Stage.passcode])
                #expect(await stage.run(.openStore(mail), opens) == .success("match.done"))
                await stage.run(.lock(mail), stage.script([:]))
                // Those that follow a store are opened in the background with it.
                await EventLoop.sleep(until: Clock.bootMilliseconds() + 20)
                #expect(stage.named("mail")?.isOpen == false && stage.store?.isOpen == true)
            }
        }
    }

    @Test("a wrong passcode is a try at the other one, and counts there alone")
    func counted() async throws {
        try await Stage.run("") { stage in
            await stage.sitDown()
            #expect(await stage.opens())
            await stage.follow("mail")
            await stage.run(.lock(Target()), stage.script([:]))
            let target = Target(store: Array("mail".utf8))
            await stage.run(.openStore(target), stage.script(["match.prompt": "wrong"]))
            #expect(stage.named("mail")?.isOpen == false)
            #expect(stage.store?.tally(.builtIn).isClear == false)
            #expect(stage.named("mail")?.tally(.builtIn).isClear == true)
        }
    }

    @Test("with a policy of its own it stays open behind the screen, and not after a lock")
    func ownPolicy() async throws {
        try await Stage.run(Self.secrets) { stage in
            await stage.sitDown()
            #expect(await stage.opens())
            await stage.follow("mail")
            await stage.follow("keys", policy: "secrets")
            let mail = try #require(stage.named("mail"))
            let keys = try #require(stage.named("keys"))
            #expect(await stage.comes { keys.leavingRules?.onBackground == .never })
            stage.hear(.changed(session: "1", isLocked: true, isIdle: nil))
            #expect(await stage.comes { !mail.records.isOpen && !stage.store!.records.isOpen })
            #expect(keys.isOpen)
            await stage.run(.lock(Target()), stage.script([:]))
            #expect(!keys.isOpen)
        }
    }

    @Test("with the name `secrets` it stays open behind the screen, and locks with `lock`")
    func secretsOfTheDesktop() async throws {
        try await Stage.run("LockOnBackground=immediate\n") { stage in
            await stage.sitDown()
            #expect(await stage.opens())
            await stage.follow("secrets")
            let secrets = try #require(stage.named("secrets"))
            #expect(secrets.identity.policyKey == Array("secrets".utf8))
            #expect(await stage.comes { secrets.leavingRules?.onBackground == .never })
            stage.hear(.changed(session: "1", isLocked: true, isIdle: nil))
            #expect(await stage.comes { !stage.store!.records.isOpen })
            #expect(secrets.isOpen)
            await stage.run(.lock(Target()), stage.script([:]))
            #expect(!secrets.records.isOpen)
        }
    }

    @Test("an administrator may have `secrets` lock with the screen")
    func secretsThatLock() async throws {
        let text = "[Passcode store:secrets]\nLockOnBackground=immediate\n"
        try await Stage.run(text) { stage in
            await stage.sitDown()
            #expect(await stage.opens())
            await stage.follow("secrets")
            let secrets = try #require(stage.named("secrets"))
            #expect(await stage.comes { secrets.leavingRules?.onBackground == .immediate })
            stage.hear(.changed(session: "1", isLocked: true, isIdle: nil))
            #expect(await stage.comes { !secrets.records.isOpen })
        }
    }

    @Test("the last logout locks it, also where the screen had locked the other one before")
    func logoutBehindTheScreen() async throws {
        try await Stage.run("LockOnBackground=immediate\n") { stage in
            await stage.sitDown()
            await stage.begin()
            #expect(await stage.opens())
            await stage.follow("secrets")
            let secrets = try #require(stage.named("secrets"))
            #expect(await stage.comes { secrets.leavingRules?.onBackground == .never })
            stage.hear(.changed(session: "1", isLocked: true, isIdle: nil))
            #expect(await stage.comes { !stage.store!.records.isOpen })
            #expect(secrets.isOpen)
            await stage.leave()
            #expect(!secrets.records.isOpen)
        }
    }

    @Test("behind the locked screen no request opens it, and unlocking that brings it back")
    func away() async throws {
        try await Stage.run("LockOnBackground=never\n[Passcode store:tight]\n") { stage in
            await stage.change(
                "LockOnBackground=never\n[Passcode store:tight]\nLockOnBackground=immediate\n")
            await stage.sitDown()
            #expect(await stage.opens())
            await stage.follow("safe", policy: "tight")
            let safe = try #require(stage.named("safe"))
            #expect(await stage.comes { safe.leavingRules?.onBackground == .immediate })
            stage.hear(.changed(session: "1", isLocked: true, isIdle: nil))
            #expect(await stage.comes { !safe.records.isOpen })
            #expect(stage.store?.isOpen == true)
            await #expect(throws: Refusal.locked) { try await safe.openAlong() }
            #expect(await stage.comes { !safe.records.isOpen })
            stage.hear(.changed(session: "1", isLocked: false, isIdle: nil))
            try await safe.openAlong()
            #expect(safe.isOpen)
        }
    }

    @Test("both have one idle time: who uses one uses the other")
    func idle() async throws {
        try await Stage.run("IdleTimeout=1h\n") { stage in
            await stage.sitDown()
            #expect(await stage.opens())
            await stage.follow("mail")
            let mail = try #require(stage.named("mail"))
            #expect(mail.timekeeper === stage.store)
            let before = stage.store?.lastUse ?? 0
            #expect(await stage.comes { Clock.bootMilliseconds() > before + 5 })
            _ = try await mail.names(prefix: [], cursor: 0)
            #expect((stage.store?.lastUse ?? 0) > before)
        }
    }

    @Test("its passcode and its fingers are the other one's")
    func noneOfItsOwn() async throws {
        try await Stage.run("") { stage in
            await stage.sitDown()
            #expect(await stage.opens())
            await stage.follow("mail")
            let target = Target(store: Array("mail".utf8))
            for change in [Passcode.Change.change, .turnOff, .turnOn, .followLogin] {
                let done = await stage.run(
                    .passcode(Passcode(target: target, change: change)), stage.script([:]))
                guard case .failure(.refused(.invalidAction(_, .follows("default")))) = done else {
                    Issue.record("\(change): \(done)")
                    continue
                }
            }
        }
    }

    @Test("its own recovery key opens it where the other one is gone, and it is its own then")
    func orphan() async throws {
        try await Stage.run("") { stage in
            await stage.sitDown()
            #expect(await stage.opens())
            await stage.follow("mail")
            let target = Target(store: Array("mail".utf8))
            let making = stage.script(["match.current": Stage.passcode, "recovery.keep": ""])
            #expect(await stage.run(.recoveryNew(target), making) == .success("recovery.made"))
            await stage.run(.reset(Target()), stage.script(["match.current": Stage.passcode]))
            #expect(stage.store == nil)
            let mail = try #require(stage.named("mail"))
            #expect(!mail.isOpen)
            await #expect(throws: Refusal.doesNotExist(.parent)) { try await mail.openAlong() }
            #expect(
                await stage.run(.openStore(target), stage.script([:]))
                    == .failure(.refused(.doesNotExist(.parent))))
            let script = stage.script([
                "recovery.prompt": making.revealed, "create.choose": "Brandnew-4",
                "create.confirm": "Brandnew-4",
            ])
            #expect(await stage.run(.recover(target), script) == .success("recovery.done"))
            #expect(mail.identity.kind == .own && mail.hasPasscode)
            await mail.lock()
            let opens = stage.script(["match.prompt": "Brandnew-4"])
            #expect(await stage.run(.openStore(target), opens) == .success("match.done"))
        }
    }

    @Test("what cannot be followed, and what a store cannot be called")
    func refused() async throws {
        try await Stage.run("") { stage in
            await stage.sitDown()
            #expect(await stage.opens())
            await stage.follow("mail")
            #expect(
                await stage.follow("deeper", parent: "mail")
                    == .failure(.refused(.invalidArgument(.parent))))
            #expect(
                await stage.follow("other", parent: "nothing")
                    == .failure(.refused(.doesNotExist(.store))))
            #expect(await stage.follow("mail") == .failure(.refused(.alreadyExists)))
            for name in ["a/b", "a\u{7}b", "00010203-0405-4607-8809-0a0b0c0d0e0f"] {
                #expect(
                    await stage.follow(name) == .failure(.refused(.invalidArgument(.storeName))))
            }
            #expect(
                await stage.follow("x", policy: "a]b")
                    == .failure(.refused(.invalidArgument(.policyKey))))
            let rename = { (from: String, to: String) in
                await stage.run(
                    .rename(
                        Rename(target: Target(store: Array(from.utf8)), name: Array(to.utf8))),
                    stage.script([:]))
            }
            #expect(await rename("mail", "post") == .success("store.renamed"))
            #expect(stage.named("mail") == nil && stage.named("post")?.isOpen == true)
            #expect(await rename("post", "default") == .failure(.refused(.alreadyExists)))
            #expect(
                await rename("default", "first")
                    == .failure(
                        .refused(.invalidAction(action: .rename, reason: .isDefault))))
        }
    }

    @Test("so many and no more, besides those that open by themselves")
    func most() async throws {
        try await Stage.run("") { stage in
            await stage.sitDown()
            #expect(await stage.opens())
            for number in 0..<64 {
                #expect(
                    await stage.follow("f\(number)") == .success("create.done.following"))
            }
            #expect(
                await stage.follow("f64")
                    == .failure(
                        .refused(.invalidAction(action: .create, reason: .tooManyFollowers(64)))))
            var create = Create(
                target: Target(store: Array("own".utf8)), way: .noPasscode, openExisting: false)
            create.policyKey = Array("default".utf8)
            #expect(
                await stage.run(.create(create), stage.script([:]))
                    == .success("create.done.none"))
            await stage.run(.lock(Target()), stage.script([:]))
            #expect(stage.house.desk.vault.openStores.map(\.identity.storeName).count <= 1)
            #expect(await stage.opens())
            #expect(await stage.comes { stage.house.desk.vault.openStores.count >= 65 })
        }
    }

    @Test("an id that was agreed is the store's, once")
    func agreedID() async throws {
        try await Stage.run("") { stage in
            await stage.sitDown()
            #expect(await stage.opens())
            let id: [UInt8] = Array(1...16)
            #expect(await stage.follow("mail", id: id) == .success("create.done.following"))
            #expect(stage.named("mail")?.id.bytes == id)
            #expect(await stage.follow("other", id: id) == .failure(.refused(.alreadyExists)))
        }
    }

    @Test("the list names all of a person's stores, and root's list everybody's")
    func listed() async throws {
        try await Stage.run("") { stage in
            await stage.sitDown()
            #expect(await stage.opens())
            await stage.follow("mail")
            let caller = stage.script([:]).caller
            let list = try await stage.house.statuses.stores(
                Stores(subject: Subject(), all: false, cursor: 0), for: caller)
            #expect(list.stores.map(\.name) == ["default", "mail"].map { Array($0.utf8) })
            #expect(list.stores.map(\.kind) == [.own, .follows])
            #expect(list.stores[1].parent == Array("default".utf8))
            #expect(list.stores[1].bytes > 0 && list.cursor == 0)
            var hello = Hello(frontEnd: .program, realUID: 0)
            hello.service = Array("appvault".utf8)
            let root = stage.caller(hello, uid: 0, daemonUID: 990)
            let all = try await stage.house.statuses.stores(
                Stores(subject: Subject(), all: true, cursor: 1), for: root)
            #expect(all.stores.map(\.name) == [Array("mail".utf8)])
            let bob = stage.caller(hello, uid: 4712, daemonUID: 990)
            await #expect(throws: Interruption.refused(.notPermitted(.rootOnly))) {
                try await stage.house.statuses.stores(
                    Stores(subject: Subject(), all: true, cursor: 0), for: bob)
            }
        }
    }
}

extension Stage {
    fileprivate func opens() async -> Bool {
        let script = script(["match.prompt": Stage.passcode])
        let done = await run(.openStore(Target()), script)
        return done == .success("match.done") || done == .success("match.open")
    }

    fileprivate func named(_ name: String) -> StoreHost? {
        house.desk.vault.ownStore(of: alice, named: Array(name.utf8))
    }

    @discardableResult
    fileprivate func follow(
        _ name: String, _ given: Script? = nil, parent: String = "", policy: String = "",
        id: [UInt8]? = nil
    ) async -> Result<String, Interruption> {
        var create = Create(
            target: Target(store: Array(name.utf8)), way: .followStore, openExisting: false)
        create.parent = Array(parent.utf8)
        create.policyKey = Array(policy.utf8)
        if let id { create.id = id }
        return await run(.create(create), given ?? script([:]))
    }
}
