import Glibc
import Policy
import Posix
import StoreKeeping
import Synchronization
import Testing
import Wire

@testable import VaultService

@Suite("a store is locked when its owner leaves, as the policy says")
struct ScreenTests {
    @LoopActor
    private func unlock(_ stage: Stage) async {
        let done = await stage.run(
            .openStore(Target()), stage.script(["match.prompt": Stage.passcode]))
        #expect(done == .success("match.done"))
    }

    @Test("at once, and stays locked when the screen is unlocked without it")
    func immediate() async throws {
        try await Stage.run("") { stage in
            await stage.sitDown()
            stage.hear(.changed(session: "1", isLocked: true, isIdle: nil))
            #expect(stage.store?.isOpen == false)
            #expect(await stage.comes { stage.store?.records.isOpen == false })
            stage.hear(.changed(session: "1", isLocked: false, isIdle: nil))
            #expect(stage.store?.isOpen == false)
            await unlock(stage)
            #expect(stage.store?.isOpen == true)
        }
    }

    @Test("what the locker opens stays open when it then says that the screen is unlocked")
    func locker() async throws {
        try await Stage.run("") { stage in
            await stage.sitDown()
            stage.hear(.changed(session: "1", isLocked: true, isIdle: nil))
            await unlock(stage)
            #expect(stage.store?.isOpen == true)
            stage.hear(.changed(session: "1", isLocked: false, isIdle: nil))
            #expect(stage.store?.isOpen == true)
            stage.hear(.changed(session: "1", isLocked: true, isIdle: nil))
            #expect(stage.store?.isOpen == false)
        }
    }

    @Test("an opening that was under way when its owner left opens nothing")
    func tooLate() async throws {
        try await Stage.run("", cost: Edges().cost) { stage in
            await stage.sitDown()
            stage.hear(.lock(session: "1"))
            #expect(await stage.comes { stage.store?.records.isOpen == false })
            let opening = EventLoop.shared.task {
                let done = await stage.run(
                    .openStore(Target()), stage.script(["match.prompt": Stage.passcode]))
                #expect(done == .failure(.refused(.locked)))
            }
            // The passcode is being derived.
            #expect(await stage.comes { stage.house.desk.vault.workers.isDeriving })
            stage.hear(.lock(session: "1"))
            await opening.value
            #expect(stage.store?.isOpen == false)
            #expect(await stage.comes { stage.store?.records.isOpen == false })
        }
    }

    @Test("idle screens are given the policy's grace, and whoever is back in time finds it open")
    func grace() async throws {
        try await Stage.run("LockGrace=5min\n") { stage in
            await stage.sitDown()
            stage.hear(.changed(session: "1", isLocked: true, isIdle: true))
            #expect(stage.store?.isOpen == true)
            #expect(stage.store?.awayEnd != nil)
            stage.hear(.changed(session: "1", isLocked: false, isIdle: false))
            #expect(stage.store?.awayEnd == nil)
            #expect(stage.store?.isOpen == true)
        }
        try await Stage.run("LockGrace=0\n") { stage in
            await stage.sitDown()
            stage.hear(.changed(session: "1", isLocked: true, isIdle: true))
            #expect(stage.store?.isOpen == false)
        }
    }

    @Test("after the policy's time, and not if the owner is back before")
    func timeout() async throws {
        try await Stage.run("LockOnBackground=timeout\nLockTimeout=1\n") { stage in
            await stage.sitDown()
            stage.hear(.changed(session: "1", isLocked: true, isIdle: nil))
            #expect(await stage.comes { stage.store?.records.isOpen == false })
        }
        try await Stage.run("LockOnBackground=timeout\nLockTimeout=1h\n") { stage in
            await stage.sitDown()
            stage.hear(.changed(session: "1", isLocked: true, isIdle: nil))
            let end = stage.store?.awayEnd
            #expect(end != nil)
            // The first of several ends counts, and an opening takes it back.
            stage.hear(.lock(session: "1"))
            #expect(stage.store?.awayEnd == end)
            let locker = stage.login(["match.prompt": Stage.passcode])
            #expect(await stage.enter(.step, locker, password: "", session: nil).isIn)
            #expect(stage.store?.awayEnd == nil)
            stage.hear(.front(seat: "seat0", session: nil))
            stage.hear(.changed(session: "1", isLocked: false, isIdle: nil))
            stage.hear(.front(seat: "seat0", session: "1"))
            #expect(stage.store?.awayEnd == nil)
            #expect(stage.store?.isOpen == true)
        }
    }

    @Test("never, if the policy says so, also at the last logout")
    func never() async throws {
        try await Stage.run("LockOnBackground=never\n") { stage in
            await stage.sitDown()
            await stage.begin()
            stage.hear(.changed(session: "1", isLocked: true, isIdle: nil))
            stage.hear(.ended(session: "1"))
            await stage.leave()
            #expect(stage.store?.isOpen == true)
            // Without a session, an end there is.
            #expect(await stage.comes { stage.store?.idleLimit != nil })
        }
    }

    @Test("a changed policy holds for the next time, for stores that are open, too")
    func changed() async throws {
        try await Stage.run("LockOnBackground=never\n") { stage in
            await stage.sitDown()
            await stage.change("LockOnBackground=immediate\n")
            #expect(await stage.comes { stage.store?.leavingRules?.onBackground == .immediate })
            stage.hear(.front(seat: "seat0", session: nil))
            #expect(stage.store?.isOpen == false)
        }
    }

    @Test("also for an owner who is away already")
    func changedMeanwhile() async throws {
        try await Stage.run("LockOnBackground=never\n") { stage in
            await stage.sitDown()
            stage.hear(.changed(session: "1", isLocked: true, isIdle: nil))
            #expect(stage.store?.isOpen == true)
            await stage.change("LockOnBackground=immediate\n")
            #expect(await stage.comes { stage.store?.records.isOpen == false })
        }
    }

    @Test("each absence ends in its own way: in front of a locked screen nobody is back")
    func absences() async throws {
        try await Stage.run("LockOnBackground=timeout\nLockTimeout=1h\n") { stage in
            await stage.sitDown()
            stage.hear(.lock(session: "1"))
            stage.hear(.front(seat: "seat0", session: nil))
            stage.hear(.front(seat: "seat0", session: "1"))
            #expect(stage.store?.absences.keys.sorted { "\($0)" < "\($1)" } == [.screen])
            stage.house.upkeep.awake()
            #expect(stage.store?.awayEnd != nil)
            // The end of the last session is taken back by a session that begins.
            await stage.begin()
            await stage.leave()
            #expect(stage.store?.absences[.session] != nil)
            await stage.begin()
            #expect(stage.store?.absences[.session] == nil)
        }
    }

    @Test("a store that is being made when its owner leaves is shut when it is there")
    func creating() async throws {
        try await Stage.run("", cost: Edges().cost) { stage in
            await stage.sitDown()
            let making = EventLoop.shared.task {
                await stage.run(
                    .create(
                        Create(
                            target: Target(store: Array("second".utf8)), way: .ownPasscode,
                            openExisting: false)),
                    stage.script([
                        "create.choose": Stage.passcode, "create.confirm": Stage.passcode,
                        "recovery.keep": "",
                    ]))
            }
            #expect(await stage.comes { stage.house.desk.vault.workers.isDeriving })
            stage.hear(.lock(session: "1"))
            await making.value
            let second = stage.house.desk.vault.all.first {
                $0.identity.storeName == Array("second".utf8)
            }
            #expect(second != nil)
            #expect(second?.isOpen == false)
        }
    }

    @Test("a sleep waits for the lock that the screen has just brought")
    func sleep() async throws {
        try await Stage.run("") { stage in
            await stage.sitDown()
            // No disk thread is free, so no store key can be wiped.
            let isFree = Flag()
            let workers = stage.house.desk.vault.workers
            let held = [Flag(), Flag()]
            for thread in held {
                EventLoop.shared.task {
                    await workers.disk.run {
                        thread.value = true
                        while !isFree.value { usleep(1_000) }
                    }
                }
            }
            #expect(await stage.comes { held.allSatisfy(\.value) })
            stage.hear(.changed(session: "1", isLocked: true, isIdle: nil))
            #expect(await stage.comes { stage.store?.isBeingLocked == true })
            var hasLocked = false
            let asleep = EventLoop.shared.task {
                await stage.house.upkeep.lockForSleep()
                hasLocked = true
            }
            await EventLoop.sleep(until: Clock.bootMilliseconds() + 100)
            #expect(!hasLocked)
            isFree.value = true
            await asleep.value
            #expect(stage.store?.isBeingLocked == false || stage.store?.records.isOpen == false)
        }
    }

    @Test("another person's screen says nothing of this one's store")
    func another() async throws {
        try await Stage.run("") { stage in
            await stage.sitDown()
            let bob = SeatSession(
                id: "2", uid: 4712, kind: .person, seat: nil, isGraphical: true)
            stage.hear(.began(bob))
            stage.hear(.changed(session: "2", isLocked: true, isIdle: nil))
            stage.hear(.ended(session: "2"))
            #expect(stage.store?.isOpen == true)
        }
    }
}

extension Stage {
    /// logind says something.
    func hear(_ news: SeatNews) { house.upkeep.screens.take(news) }

    static let passcode = "correct horse battery"

    /// The person makes a store, in a session that is in front.
    func sitDown() async {
        await run(
            .create(Create(target: Target(), way: .ownPasscode, openExisting: false)),
            script([
                "create.choose": Self.passcode, "create.confirm": Self.passcode,
                "recovery.keep": "",
            ])
        )
        let session = SeatSession(
            id: "1", uid: alice.uid, kind: .person, seat: "seat0", isGraphical: true)
        hear(.view(sessions: [session], front: ["seat0": "1"]))
        // The policy is known from here on.
        #expect(await comes { self.store?.leavingRules != nil })
    }
}

private final class Flag: Sendable {
    private let flag = Mutex(false)

    var value: Bool {
        get { flag.withLock { $0 } }
        set { flag.withLock { $0 = newValue } }
    }
}
