import Posix
import StoreKeeping
import Testing
import Wire
import Words

@testable import VaultService

private let passcode = "correct horse battery"
private let notYes: [(PolkitAnswer, String)] = [
    (.no, "reset.not-allowed"), (.noAgent, "reset.not-asked"), (.absent, "reset.not-asked"),
]

@Suite("a person resets their store")
struct ResetTests {
    /// Made through a program, it has no recovery key.
    @LoopActor
    private func made(_ stage: Stage, _ frontEnd: FrontEnd = .program) async {
        await stage.run(
            .create(Create(target: Target(), way: .ownPasscode, openExisting: false)),
            stage.script(
                ["create.choose": passcode, "create.confirm": passcode, "recovery.keep": ""],
                frontEnd))
        await stage.store?.lock()
    }

    @Test("by what polkit demands, without the passcode; the process is the kernel's")
    func allowed() async throws {
        try await Stage.run("") { stage in
            await made(stage)
            stage.polkit.answer = .yes
            let script = stage.person([:])
            #expect(await stage.run(.reset(Target()), script) == .success("reset.done"))
            #expect(script.asked == [] && script.shown == [])
            #expect(stage.store == nil)
            let beginning = try #require(ProcessFacts.beginning(of: ThisProcess.pid))
            let subject = PolkitSubject(
                pid: ThisProcess.pid, beginning: beginning, uid: stage.alice.uid)
            #expect(stage.polkit.subjects == [subject])
        }
    }

    @Test(
        "where polkit does not say yes, one line says so and the passcode is asked for",
        arguments: notYes)
    func notAllowed(_ answer: PolkitAnswer, _ line: String) async throws {
        try await Stage.run("") { stage in
            await made(stage)
            stage.polkit.answer = answer
            let wrong = stage.person(["match.current": "wrong"])
            let end = await stage.run(.reset(Target()), wrong)
            #expect(end == .failure(.refused(.invalidPasscode(left: 6, .resetByRoot))))
            #expect(wrong.shown.first == line)
            #expect(wrong.shown.contains("match.reset.root"))
            #expect(!wrong.shown.contains("match.reset"))
            #expect(await stage.opens(with: passcode))
            let script = stage.person(["match.current": passcode])
            #expect(await stage.run(.reset(Target()), script) == .success("reset.done"))
            #expect(script.shown == [line])
            #expect(stage.store == nil)
        }
    }

    @Test("with a recovery key, a wrong passcode there leads to `recover`")
    func recoverable() async throws {
        try await Stage.run("") { stage in
            await made(stage, .terminal)
            let wrong = stage.person(["match.current": "wrong"])
            let end = await stage.run(.reset(Target()), wrong)
            #expect(end == .failure(.refused(.invalidPasscode(left: 6, .recover))))
            #expect(wrong.shown.contains("match.recover"))
        }
    }

    @Test("polkit is asked about a person at a terminal, and about no other peer")
    func others() async throws {
        try await Stage.run("") { stage in
            await made(stage)
            stage.polkit.answer = .yes
            for script in [
                stage.person([:], .program), stage.person([:], .dialog), stage.script([:]),
            ] {
                await stage.run(.reset(Target()), script)
                #expect(script.asked == ["match.current"])
            }
            #expect(stage.polkit.subjects == [] && stage.store != nil)
        }
    }

    @Test("no tries left: polkit lets them reset it, and where it does not, root's verbs are named")
    func retryLocked() async throws {
        try await Stage.run("OnRetryLimit=lock\n") { stage in
            await made(stage)
            for _ in 0..<9 {
                _ = await stage.enter(.step, stage.login(["match.prompt": "wrong"]), password: "")
            }
            let limit = Refusal.retryLimitReached(.locked(.resetByRoot))
            stage.polkit.answer = .no
            let refused = await stage.run(.reset(Target()), stage.person([:]))
            #expect(refused == .failure(.refused(limit)))
            #expect(stage.store != nil)
            stage.polkit.answer = .yes
            let end = await stage.run(.reset(Target()), stage.person([:]))
            #expect(end == .success("reset.done"))
        }
    }

    @Test("whoever leaves while polkit asks resets nothing")
    func left() async throws {
        try await Stage.run("") { stage in
            await made(stage)
            stage.polkit.answer = .yes
            var isGone = false
            stage.polkit.meanwhile = { isGone = true }
            let script = stage.person([:]) { isGone }
            #expect(await stage.run(.reset(Target()), script) == .failure(.gone(.closed)))
            #expect(await stage.opens(with: passcode))
        }
    }

    @Test("a store that belongs to another account when polkit answers stays")
    func moved() async throws {
        try await Stage.run("") { stage in
            await made(stage)
            let host = try #require(stage.store)
            stage.polkit.answer = .yes
            stage.polkit.meanwhile = {
                try? await stage.house.desk.vault.chown(
                    host, to: Person(uid: 4712, name: Array("bob".utf8)))
            }
            let end = await stage.run(.reset(Target()), stage.person([:]))
            #expect(end == .failure(.refused(.notPermitted(.ownerChanged))))
            #expect(host.isUsable)
        }
    }

    @Test("one question a person: a second reset does not wait for polkit")
    func twice() async throws {
        try await Stage.run("") { stage in
            await made(stage)
            stage.polkit.answer = .no
            let second = stage.person([:])
            stage.polkit.meanwhile = { await stage.run(.reset(Target()), second) }
            await stage.run(.reset(Target()), stage.person([:]))
            #expect(second.shown == ["reset.not-asked"] && second.asked == ["match.current"])
            #expect(stage.polkit.subjects.count == 1)
        }
    }

    @Test("sixteen questions at once of all people together, and each stands two minutes at most")
    func many() async throws {
        try await Stage.run("") { stage in
            let authority = Authority(desk: stage.house.desk)
            stage.polkit.answer = .yes
            var answers: [PolkitAnswer] = []
            // Each person asks while the person before is still being asked.
            @LoopActor func ask(_ uid: UInt32) async {
                let caller = stage.caller(
                    Hello(frontEnd: .terminal, realUID: uid), uid: uid, daemonUID: 999)
                answers.append((try? await authority.allows(.reset, caller)) ?? .noAgent)
            }
            stage.polkit.meanwhile = { await ask(UInt32(5000 + stage.polkit.subjects.count)) }
            let began = Clock.bootMilliseconds()
            await ask(5000)
            let ended = Clock.bootMilliseconds()
            #expect(answers == [.absent] + Array(repeating: .yes, count: 16))
            #expect(stage.polkit.deadlines.count == 16)
            #expect(
                stage.polkit.deadlines.allSatisfy {
                    (began + 120_000...ended + 120_000).contains($0)
                })
            await ask(5000)
            #expect(stage.polkit.deadlines.count == 32)
        }
    }
}

extension Stage {
    /// A person who is not the daemon's own user.
    func person(
        _ answers: [String: String], _ frontEnd: FrontEnd = .terminal,
        hangsUp: @escaping () -> Bool = { false }
    ) -> Script {
        let hello = Hello(frontEnd: frontEnd, realUID: alice.uid)
        let caller = caller(hello, uid: alice.uid, daemonUID: 999, hangsUp: hangsUp)
        return Script(caller, reader, answers)
    }
}
