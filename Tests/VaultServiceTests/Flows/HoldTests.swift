import Policy
import Posix
import StoreKeeping
import Testing
import Wire
import Words

@testable import VaultService

@Suite("the owner suspends locking, and ends that")
struct HoldTests {
    @LoopActor
    private func hold(_ stage: Stage, _ seconds: UInt32) async -> Result<String, Interruption> {
        await stage.run(
            .hold(Hold(target: Target(), seconds: seconds)),
            stage.script(["match.current": Stage.passcode]))
    }

    @Test("behind a locked screen it stays open, and locks when the hold ends")
    func held() async throws {
        try await Stage.run("IdleTimeout=1h\n") { stage in
            await stage.sitDown()
            #expect(await hold(stage, 3600) == .success("hold.done"))
            stage.hear(.changed(session: "1", isLocked: true, isIdle: nil))
            #expect(stage.store?.isOpen == true)
            #expect(await hold(stage, 0) == .success("hold.over"))
            #expect(await stage.comes { stage.store?.records.isOpen == false })
        }
    }

    @Test("whoever is back when it ends finds it open")
    func back() async throws {
        try await Stage.run("") { stage in
            await stage.sitDown()
            #expect(await hold(stage, 3600) == .success("hold.done"))
            stage.hear(.changed(session: "1", isLocked: true, isIdle: nil))
            stage.hear(.changed(session: "1", isLocked: false, isIdle: nil))
            #expect(await hold(stage, 0) == .success("hold.over"))
            #expect(stage.store?.isHeld == false)
            #expect(stage.store?.isOpen == true)
            stage.hear(.changed(session: "1", isLocked: true, isIdle: nil))
            #expect(stage.store?.isOpen == false)
        }
    }

    @Test("its time is over: locked, without anybody asking")
    func over() async throws {
        try await Stage.run("") { stage in
            await stage.sitDown()
            #expect(await hold(stage, 1) == .success("hold.done"))
            stage.hear(.front(seat: "seat0", session: nil))
            #expect(await stage.comes { stage.store?.records.isOpen == false })
        }
    }

    @Test("idle time waits for its end")
    func idle() async throws {
        try await Stage.run("IdleTimeout=1\n") { stage in
            await stage.sitDown()
            #expect(await hold(stage, 3) == .success("hold.done"))
            #expect(stage.store?.isIdle == false)
            #expect(await stage.comes { stage.store?.records.isOpen == false })
            #expect(stage.store?.heldUntil == nil)
        }
    }

    @Test("a lock, the end of the session and a shorter policy end it")
    func ends() async throws {
        try await Stage.run("") { stage in
            await stage.sitDown()
            #expect(await hold(stage, 3600) == .success("hold.done"))
            await stage.run(.lock(Target()), stage.script([:]))
            #expect(stage.store?.heldUntil == nil)
            #expect(stage.store?.isOpen == false)
            // It opens a store that is locked.
            #expect(await hold(stage, 3600) == .success("hold.done"))
            #expect(stage.store?.isOpen == true)
            stage.hear(.ended(session: "1"))
            #expect(stage.store?.isOpen == false)
        }
        try await Stage.run("") { stage in
            await stage.sitDown()
            #expect(await hold(stage, 3600) == .success("hold.done"))
            await stage.change("HoldMax=0\n")
            #expect(await stage.comes { stage.store?.isHeld == false })
            stage.hear(.changed(session: "1", isLocked: true, isIdle: nil))
            #expect(stage.store?.isOpen == false)
        }
    }

    @Test("no longer than the policy allows, and not at all where it says so: before the passcode")
    func policy() async throws {
        try await Stage.run("HoldMax=10min\n") { stage in
            await stage.sitDown()
            let before = stage.store?.tally(.builtIn)
            let most = Refusal.invalidAction(action: .hold, reason: .holdMost(seconds: 600))
            #expect(await hold(stage, 601) == .failure(.refused(most)))
            #expect(await hold(stage, Hold.longest) == .success("hold.done"))
            #expect(stage.store?.tally(.builtIn) == before)
        }
        try await Stage.run("HoldMax=0\n") { stage in
            await stage.sitDown()
            #expect(await hold(stage, 1) == .failure(.refused(.policyDenies(key: "HoldMax"))))
            #expect(await hold(stage, 0) == .success("hold.over"))
        }
    }
}

extension StoreHost {
    fileprivate var isHeld: Bool { heldUntil.map { $0 > Clock.bootMilliseconds() } ?? false }
}
