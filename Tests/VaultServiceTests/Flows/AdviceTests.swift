import Posix
import StoreKeeping
import Testing
import Wire
import Words

@testable import VaultService

private let passcode = "correct horse battery"
private let new = "otter badger 7 heron"
private let noPasscodeMode = "Enabled=no\nUseDefaultPolicy=no\n"
private let typedOnce = ["create.choose": passcode, "create.confirm": passcode]

@Suite("what was chosen, and what is advised")
struct AdviceTests {
    private func create(_ way: Create.Way) -> FlowRequest {
        .create(Create(target: Target(), way: way, openExisting: false))
    }

    // MARK: how a store begins

    @Test(
        "a way that the person chose is refused where the policy asks for no passcode",
        arguments: [Create.Way.ownPasscode, .followLogin])
    func chosen(_ way: Create.Way) async throws {
        try await Stage.run(noPasscodeMode) { stage in
            let script = stage.script(typedOnce)
            let end = await stage.run(create(way), script)
            #expect(end == .failure(.refused(.policyDenies(key: "UseDefaultPolicy"))))
            #expect(script.asked == [])
            #expect(stage.store == nil)
        }
    }

    @Test(
        "where nothing was chosen the policy decides, and nothing is asked",
        arguments: [noPasscodeMode, "NoPasscodeByDefault=yes\n"],
        [Create.Way.usuallyOwnPasscode, .usuallyFollowLogin])
    func usual(_ policy: String, _ way: Create.Way) async throws {
        try await Stage.run(policy) { stage in
            let script = stage.script([:])
            #expect(await stage.run(create(way), script) == .success("create.done.none"))
            #expect(script.asked == [])
            #expect(stage.store?.hasPasscode == false)
        }
    }

    @Test("a way that the person chose comes before NoPasscodeByDefault")
    func chosenOverDefault() async throws {
        try await Stage.run("NoPasscodeByDefault=yes\n") { stage in
            let answers = typedOnce.merging(["recovery.keep": ""]) { $1 }
            let end = await stage.run(create(.ownPasscode), stage.script(answers))
            #expect(end == .success("create.done"))
            #expect(await stage.opens(with: passcode))
        }
        try await Stage.run("NoPasscodeByDefault=yes\n") { stage in
            let answers = ["create.login-password": passcode, "recovery.keep": ""]
            let end = await stage.run(create(.followLogin), stage.script(answers))
            #expect(end == .success("create.done"))
            #expect(stage.store?.followsLogin == true)
        }
    }

    // MARK: no tries are left

    /// All own tries are used up. Made through a program, it has no recovery key.
    @LoopActor
    private func useUp(_ stage: Stage, _ frontEnd: FrontEnd) async {
        let answers = typedOnce.merging(["recovery.keep": ""]) { $1 }
        await stage.run(create(.ownPasscode), stage.script(answers, frontEnd))
        await stage.store?.lock()
        for _ in 0..<9 {
            _ = await stage.enter(.step, stage.login(["match.prompt": "wrong"]), password: "")
        }
    }

    @LoopActor
    private func advice(_ stage: Stage) async throws -> String {
        let state = try await stage.house.statuses.status(Target(), for: stage.script([:]).caller)
        #expect(state.lock == .retryLocked)
        return String(decoding: state.advice, as: UTF8.self)
    }

    @Test("with a recovery key the advice is to use it, and that works")
    func withKey() async throws {
        try await Stage.run("OnRetryLimit=lock\n") { stage in
            let made = stage.script(typedOnce.merging(["recovery.keep": ""]) { $1 })
            await stage.run(create(.ownPasscode), made)
            await stage.store?.lock()
            for _ in 0..<9 {
                _ = await stage.enter(.step, stage.login(["match.prompt": "wrong"]), password: "")
            }
            let words = try await advice(stage)
            #expect(words.contains("`appvault recover`"))
            let script = stage.script([
                "recovery.prompt": made.revealed, "create.choose": new, "create.confirm": new,
            ])
            #expect(await stage.run(.recover(Target()), script) == .success("recovery.done"))
            #expect(await stage.opens(with: new))
        }
    }

    @Test(
        "without one it is root's verb, or the reset; nothing names the key",
        arguments: [("", true), ("ShowReset=no\n", false)])
    func withoutKey(_ policy: String, _ namesReset: Bool) async throws {
        try await Stage.run("OnRetryLimit=lock\n" + policy) { stage in
            await useUp(stage, .program)
            let limit = Refusal.retryLimitReached(.locked(namesReset ? .reset : .nothing))
            let words = try await advice(stage)
            #expect(words.contains("tries clear") && !words.contains("recover"))
            #expect(words.contains("appvault reset") == namesReset)
            for request in [FlowRequest.recover(Target()), .openStore(Target())] {
                let script = stage.script([:])
                #expect(await stage.run(request, script) == .failure(.refused(limit)))
                #expect(script.asked == [])
            }
            let login = stage.login(["match.prompt": passcode])
            _ = await stage.enter(.step, login, password: "")
            #expect(login.shown == ["match.locked.keyless"])
        }
    }

    @Test("a key that the policy makes useless is not advised")
    func uselessKey() async throws {
        try await Stage.run("OnRetryLimit=lock\nAllowRecoveryKey=no\n") { stage in
            await useUp(stage, .terminal)
            let words = try await advice(stage)
            #expect(!words.contains("recover"))
        }
    }

    // MARK: a forgotten passcode

    @Test(
        "after a wrong passcode the line and the hint name what works, and no hidden reset"
    )
    func forgotten() async throws {
        let table: [(String, FrontEnd, String?, Refusal.WayBack)] = [
            ("", .terminal, "match.recover", .recover),
            ("", .program, "match.reset", .reset),
            ("ShowReset=no\n", .program, nil, .nothing),
            ("AllowRecoveryKey=no\n", .terminal, "match.reset", .reset),
        ]
        for (policy, frontEnd, line, advice) in table {
            try await Stage.run(policy) { stage in
                let answers = typedOnce.merging(["recovery.keep": ""]) { $1 }
                await stage.run(create(.ownPasscode), stage.script(answers, frontEnd))
                await stage.store?.lock()
                let login = stage.login(["match.prompt": "wrong"])
                _ = await stage.enter(.step, login, password: "")
                #expect(login.shown == ["match.retry.left"] + (line.map { [$0] } ?? []))
                let script = stage.script(["match.prompt": "wrong"])
                let end = await stage.run(.openStore(Target()), script)
                #expect(end == .failure(.refused(.invalidPasscode(left: 6, advice))))
            }
        }
    }

    @Test(
        "a screen lets whoever has forgotten it say so after a wrong one, and that is no try",
        arguments: [("", true), ("ShowReset=no\n", false)])
    func saysSo(_ policy: String, _ isOffered: Bool) async throws {
        try await Stage.run(policy) { stage in
            let answers = typedOnce.merging(["recovery.keep": ""]) { $1 }
            await stage.run(create(.ownPasscode), stage.script(answers))
            await stage.store?.lock()
            stage.drawsScreens = true
            let script = stage.script(["match.prompt": "wrong", "match": "forgotten"])
            let before = try await stage.house.statuses.status(Target(), for: script.caller)
            let end = await stage.run(.openStore(Target()), script)
            let tries = isOffered ? 1 : 3
            #expect(script.asked == Array(repeating: "match.prompt", count: tries))
            #expect(script.drawn.count == (isOffered ? 2 : 3))
            if isOffered { #expect(end == .failure(.refused(.resetRequested))) }
            let state = try await stage.house.statuses.status(Target(), for: script.caller)
            #expect(state.apartTriesLeft == before.apartTriesLeft - Int32(tries))
            stage.drawsScreens = false
            #expect(await stage.opens(with: passcode))
        }
    }

    // MARK: what is due on an open store

    @LoopActor
    private func openWithDue(_ stage: Stage) async {
        let answers = typedOnce.merging(["recovery.keep": ""]) { $1 }
        await stage.run(create(.ownPasscode), stage.script(answers))
        await stage.change("RequireDigit=yes\n")
        #expect(stage.store?.isOpen == true)
    }

    @Test("`unlock` of an open store goes on with what is due, and it stays open")
    func due() async throws {
        try await Stage.run("") { stage in
            await openWithDue(stage)
            let script = stage.script([
                "match.prompt": passcode, "notice.enter": "", "create.choose": new,
                "create.confirm": new,
            ])
            #expect(await stage.run(.openStore(Target()), script) == .success("match.open"))
            #expect(
                script.asked == ["match.prompt", "notice.enter", "create.choose", "create.confirm"])
            #expect(stage.store?.isOpen == true)
            let again = stage.script([:])
            #expect(await stage.run(.openStore(Target()), again) == .success("match.open"))
            #expect(again.asked == [])
            #expect(await stage.opens(with: new))
        }
    }

    @Test("a wrong passcode or none there leaves the store open; saying no to what is due locks it")
    func dueCancelled() async throws {
        try await Stage.run("") { stage in
            await openWithDue(stage)
            await stage.run(.openStore(Target()), stage.script([:], at: (0, .cancels)))
            #expect(stage.store?.isOpen == true)
            await stage.run(.openStore(Target()), stage.script(["match.prompt": "wrong"]))
            #expect(stage.store?.isOpen == true)
            let script = stage.script(["match.prompt": passcode], at: (1, .cancels))
            await stage.run(.openStore(Target()), script)
            #expect(stage.store?.isOpen == false)
        }
    }

    @Test("a program that asks for an open store is asked nothing, whatever is due")
    func dueForProgram() async throws {
        try await Stage.run("") { stage in
            await openWithDue(stage)
            let script = stage.script([:], .program)
            #expect(await stage.run(.openStore(Target()), script) == .success("match.open"))
            #expect(script.asked == [])
        }
    }

    @Test("what is only told is told on an open store without a question, once")
    func told() async throws {
        try await Stage.run("AllowFingerprint=no\n") { stage in
            let answers = typedOnce.merging(["recovery.keep": ""]) { $1 }
            await stage.run(create(.ownPasscode), stage.script(answers))
            await stage.change("AllowFingerprint=yes\n")
            let script = stage.script([:])
            #expect(await stage.run(.openStore(Target()), script) == .success("match.open"))
            #expect(script.asked == [] && script.shown == ["fingerprint.allowed"])
            let again = stage.script([:])
            #expect(await stage.run(.openStore(Target()), again) == .success("match.open"))
            #expect(again.shown == [])
        }
    }
}
