import Posix
import StoreKeeping
import Testing
import Wire

@testable import VaultService

private let passcode = "correct horse battery"
private let quarter: UInt64 = 15 * 60_000

@Suite("what ends an open store, with sessions and without")
struct SessionTests {
    @LoopActor
    private func made(_ stage: Stage) async {
        await stage.run(
            .create(Create(target: Target(), way: .ownPasscode, openExisting: false)),
            stage.script([
                "create.choose": passcode, "create.confirm": passcode, "recovery.keep": "",
            ])
        )
        await stage.store?.lock()
    }

    @LoopActor
    private func unlock(_ stage: Stage) async {
        let done = await stage.run(.openStore(Target()), stage.script(["match.prompt": passcode]))
        #expect(done == .success("match.done"))
    }

    @Test("without a session it locks when nothing has used it for a quarter of an hour")
    func alone() async throws {
        try await Stage.run("") { stage in
            await made(stage)
            await unlock(stage)
            #expect(await stage.comes { stage.store?.idleLimit == quarter })
            #expect(stage.store?.isOpen == true)
        }
    }

    @Test("also just made, and without a passcode")
    func fresh() async throws {
        try await Stage.run("") { stage in
            await stage.run(
                .create(Create(target: Target(), way: .noPasscode, openExisting: false)),
                stage.script([:]))
            #expect(await stage.comes { stage.store?.idleLimit == quarter })
        }
    }

    @Test("the policy's own time holds there as well", arguments: [60, 24 * 3600] as [UInt64])
    func byPolicy(_ seconds: UInt64) async throws {
        try await Stage.run("IdleTimeout=\(seconds)\n") { stage in
            await made(stage)
            await unlock(stage)
            #expect(await stage.comes { stage.store?.idleLimit == seconds * 1000 })
        }
    }

    @Test("a session that begins sets that time aside, and its end locks")
    func followed() async throws {
        try await Stage.run("") { stage in
            await made(stage)
            await unlock(stage)
            #expect(await stage.comes { stage.store?.idleLimit == quarter })
            await stage.begin()
            #expect(await stage.comes { stage.store?.idleLimit == nil })
            await stage.leave()
            #expect(stage.store?.isOpen == false)
        }
    }

    @Test("a session that only logind knows of keeps it open, and ends it")
    func listed() async throws {
        try await Stage.run("") { stage in
            await made(stage)
            try stage.list("c1")
            await unlock(stage)
            #expect(await stage.comes { stage.house.sessions.count(of: stage.alice.uid) == 1 })
            #expect(await stage.comes { stage.store?.idleLimit == nil })
            try stage.unlist("c1")
            #expect(await stage.comes { stage.store?.isOpen == false })
            #expect(stage.house.sessions.isEmpty)
        }
    }

    @Test("a session is over when logind says that it is closing, whatever is left of it")
    func closing() async throws {
        try await Stage.run("") { stage in
            await made(stage)
            try stage.list("c1")
            await stage.begin("c1")
            await unlock(stage)
            try stage.list("c1", "online")
            await stage.begin("c2")
            try stage.list("c1", "closing")
            #expect(await stage.comes { stage.house.sessions.count(of: stage.alice.uid) == 1 })
            #expect(stage.store?.isOpen == true)
        }
        try await Stage.run("") { stage in
            await made(stage)
            try stage.list("c1")
            await stage.begin("c1")
            await unlock(stage)
            try stage.list("c1", "closing")
            #expect(await stage.comes { stage.store?.isOpen == false })
        }
    }

    @Test("what a login opens in a session that the daemon has missed is not taken for one without")
    func missed() async throws {
        try await Stage.run("") { stage in
            await made(stage)
            try stage.list("c1")
            let script = stage.login(["match.prompt": passcode])
            #expect(await stage.enter(.step, script, password: "", session: nil).isIn)
            #expect(stage.store?.isOpen == true)
            #expect(stage.store?.shutTimer == nil)
        }
        try await Stage.run("") { stage in
            await made(stage)
            let script = stage.login(["match.prompt": passcode])
            #expect(await stage.enter(.step, script, password: "", session: nil).isIn)
            #expect(stage.store?.shutTimer != nil)
        }
    }

    @Test("a session whose class has an ending is a person's, and a service's is none")
    func classes() async throws {
        try await Stage.run("") { stage in
            for kind in ["user", "user-early", "user-light"] {
                await stage.begin(kind, class: kind)
            }
            for kind in ["background", "manager", "manager-early", "greeter", "lock-screen"] {
                await stage.begin(kind, class: kind)
            }
            #expect(stage.house.sessions.count(of: stage.alice.uid) == 3)
        }
    }
}
