import Policy
import Posix
import StoreKeeping
import Testing
import Wire
import Words

@testable import VaultService

@Suite("somebody else, at the question for a passcode")
struct SomebodyElseTests {
    static let passcodes = ["": "correct horse", "work": "another horse"]

    /// `default` and `work`, both locked.
    @LoopActor
    private func settle(_ stage: Stage, _ names: [String] = ["", "work"]) async {
        for name in names {
            var target = Target()
            target.store = Array(name.utf8)
            let passcode = Self.passcodes[name] ?? ""
            let done = await stage.run(
                .create(Create(target: target, way: .ownPasscode, openExisting: false)),
                stage.script([
                    "create.choose": passcode, "create.confirm": passcode, "recovery.keep": "",
                    "fingerprint.offer": "n",
                ]))
            #expect(done == .success("create.done"))
        }
        await stage.house.desk.vault.lockAll()
        #expect(open(stage) == [])
        stage.drawsScreens = true
    }

    @LoopActor
    private func open(_ stage: Stage) -> [String] {
        stage.house.desk.vault.stores(of: stage.alice.uid).filter(\.isOpen)
            .map { String(decoding: $0.identity.storeName, as: UTF8.self) }.sorted()
    }

    /// At this machine, and elsewhere.
    @LoopActor
    private func triesLeft(_ stage: Stage, _ name: String) async -> [Int32] {
        let target = Target(subject: Subject(), store: Array(name.utf8))
        let state = try? await stage.house.statuses.status(target, for: stage.script([:]).caller)
        return state.map { [$0.ownTriesLeft, $0.apartTriesLeft] } ?? []
    }

    @LoopActor
    private func other(
        _ stage: Stage, _ more: [String: String] = [:], _ frontEnd: FrontEnd = .terminal,
        at turn: (Int, Script.Turn)? = nil
    ) -> Script {
        let script = stage.script(
            ["people.question": "2", "match.prompt": "another horse"].merging(more) { $1 },
            at: turn, frontEnd)
        script.once["match"] = "somebody-else"
        return script
    }

    @LoopActor
    private func unlock(_ stage: Stage, _ script: Script, _ name: String = "") async
        -> Result<String, Interruption>
    {
        await stage.run(
            .openStore(Target(subject: Subject(), store: Array(name.utf8))), script)
    }

    @Test("the list comes, whoever is taken opens theirs, and no try was made at the first")
    func unlocks() async throws {
        try await Stage.run("") { stage in
            await settle(stage)
            let before = await triesLeft(stage, "")
            let script = other(stage)
            #expect(await unlock(stage, script) == .success("people.switched"))
            #expect(script.drawn == ["match", "people", "match"])
            #expect(open(stage) == ["work"])
            #expect(before.contains(9))
            #expect(await triesLeft(stage, "") == before)
        }
    }

    @Test("it can be said again at each passcode, and the first can be taken after all")
    func again() async throws {
        try await Stage.run("") { stage in
            await settle(stage)
            // Whoever is at the second list has a passcode after all.
            let script = other(
                stage, ["match": "somebody-else", "people.question": "1"], at: (1, .first {}))
            script.afterwards = ["match": ""]
            script.answers["match.prompt"] = "correct horse"
            #expect(await unlock(stage, script) == .success("people.switched"))
            #expect(script.drawn == ["match", "people", "match", "people", "match"])
            #expect(open(stage) == ["default"])
            let endless = other(stage, ["match": "somebody-else"])
            await stage.house.desk.vault.lockAll()
            #expect(await unlock(stage, endless) == .failure(.refused(.cancelled)))
            #expect(open(stage) == [])
        }
    }

    @Test("at `switch`, too: what was open stays open until the other one is")
    func switches() async throws {
        try await Stage.run("") { stage in
            await settle(stage, ["", "work"])
            let first = stage.script(["match.prompt": "correct horse"])
            #expect(await unlock(stage, first) == .success("match.done"))
            let leaving = other(stage, at: (0, .cancels))
            #expect(
                await stage.run(
                    .switchStore(SwitchStore(store: Array("work".utf8))), leaving)
                    == .failure(.refused(.cancelled)))
            #expect(open(stage) == ["default"])
            let script = other(stage)
            #expect(
                await stage.run(.switchStore(SwitchStore(store: Array("work".utf8))), script)
                    == .success("people.switched"))
            #expect(open(stage) == ["work"])
        }
    }

    @Test("whoever goes at the list, or cancels it, has opened and locked nothing")
    func leaves() async throws {
        for turn in [Script.Turn.cancels, .leaves] {
            for question in 0..<2 {
                try await Stage.run("") { stage in
                    await settle(stage)
                    let script = other(stage, at: (question, turn))
                    #expect(await unlock(stage, script) != .success("people.switched"))
                    #expect(open(stage) == [])
                    #expect(await triesLeft(stage, "work") == triesLeft(stage, ""))
                }
            }
        }
    }

    @Test(
        "an application that draws hears who, with code 45, or that somebody is new; nothing opens",
        arguments: [FrontEnd.program, .dialog, .device])
    func programs(_ frontEnd: FrontEnd) async throws {
        try await Stage.run("") { stage in
            await settle(stage)
            let script = other(stage, [:], frontEnd)
            #expect(
                await unlock(stage, script)
                    == .failure(.refused(.switchUser(to: Array("work".utf8)))))
            #expect(script.drawn == ["match", "people"])
            let add = other(stage, ["people": "add", "people.question": ""], frontEnd)
            #expect(await unlock(stage, add) == .failure(.refused(.addUser)))
            #expect(open(stage) == [])
        }
    }

    @Test("it is offered where others have a way in of their own, and a front end can draw it")
    func offered() async throws {
        for (names, draws, offered) in [
            (["", "work"], true, true), ([""], true, false), (["", "work"], false, false),
        ] {
            try await Stage.run("") { stage in
                await settle(stage, names)
                stage.drawsScreens = draws
                let script = stage.script(["match.prompt": "correct horse"])
                #expect(await unlock(stage, script) == .success("match.done"))
                #expect(script.offered.contains("somebody-else") == offered)
            }
        }
    }

    @Test("a store that follows another one, and a change, are asked for as before")
    func others() async throws {
        try await Stage.run("") { stage in
            await settle(stage)
            var mail = Create(
                target: Target(subject: Subject(), store: Array("mail".utf8)), way: .followStore,
                openExisting: false)
            mail.parent = Array("".utf8)
            let script = stage.script(["match.prompt": "correct horse"])
            #expect(await unlock(stage, script) == .success("match.done"))
            #expect(
                await stage.run(.create(mail), stage.script([:]))
                    == .success("create.done.following"))
            await stage.house.desk.vault.lockAll()
            let follower = stage.script(["match.prompt": "correct horse"])
            #expect(await unlock(stage, follower, "mail") == .success("match.done"))
            #expect(!follower.offered.contains("somebody-else"))
            let change = stage.script([
                "match.current": "correct horse", "create.choose": "a new horse 4",
                "create.confirm": "a new horse 4",
            ])
            #expect(
                await stage.run(
                    .passcode(Passcode(target: Target(), change: .change)), change)
                    == .success("change.done"))
            #expect(!change.offered.contains("somebody-else"))
        }
    }
}
