import Policy
import Posix
import StoreKeeping
import Testing
import Wire
import Words
import WorkerLinks

@testable import VaultService

@Suite("of several stores one is open")
struct SwitchTests {
    /// `default` and `work` with a passcode each, and `mail`, which follows `default`: all open.
    @LoopActor
    private func settle(_ stage: Stage) async {
        for (name, passcode) in [("", "correct horse"), ("work", "another horse")] {
            var target = Target()
            target.store = Array(name.utf8)
            let done = await stage.run(
                .create(Create(target: target, way: .ownPasscode, openExisting: false)),
                stage.script([
                    "create.choose": passcode, "create.confirm": passcode, "recovery.keep": "",
                    "fingerprint.offer": "n",
                ]))
            #expect(done == .success("create.done"))
        }
        var target = Target()
        target.store = Array("mail".utf8)
        let mail = Create(target: target, way: .followStore, openExisting: false)
        #expect(
            await stage.run(.create(mail), stage.script([:])) == .success("create.done.following"))
        #expect(open(stage) == ["default", "mail", "work"])
    }

    @LoopActor
    private func open(_ stage: Stage) -> [String] {
        stage.house.desk.vault.stores(of: stage.alice.uid).filter(\.isOpen)
            .map { String(decoding: $0.identity.storeName, as: UTF8.self) }.sorted()
    }

    @LoopActor
    private func change(_ stage: Stage, to name: String?, _ script: Script) async
        -> Result<String, Interruption>
    {
        await stage.run(
            .switchStore(name.map { SwitchStore(store: Array($0.utf8)) } ?? .asking), script)
    }

    @Test("the others lock with what follows them, and the passcode is what opens it")
    func switches() async throws {
        try await Stage.run("") { stage in
            await settle(stage)
            await stage.house.desk.vault.lockAll()
            let wrong = stage.script(["match.prompt": "no horse at all"])
            #expect(await change(stage, to: "work", wrong) != .success("people.switched"))
            #expect(open(stage) == [])
            let work = stage.script(["match.prompt": "another horse"])
            #expect(await change(stage, to: "work", work) == .success("people.switched"))
            #expect(open(stage) == ["work"])
            // Whoever cannot open the other one keeps what is open.
            for turn in [Script.Turn.cancels, .leaves] {
                let leaving = stage.script([:], at: (0, turn))
                #expect(await change(stage, to: "", leaving) != .success("people.switched"))
                #expect(open(stage) == ["work"])
            }
            let back = stage.script(["match.prompt": "correct horse"])
            #expect(await change(stage, to: "", back) == .success("people.switched"))
            #expect(open(stage) == ["default"])
            let mail = stage.script([:])
            #expect(await change(stage, to: "mail", mail) == .success("people.switched"))
            #expect(open(stage) == ["default", "mail"])
        }
    }

    @Test("a finger of the other one switches, too")
    func finger() async throws {
        try await Stage.run("", hasReader: true) { stage in
            await settle(stage)
            let script = stage.script(["match.current": "another horse"])
            script.touches = [.enrolled(stage.print)]
            let enrolled = await stage.run(
                .fingerprintEnroll(
                    FingerRequest(
                        subject: Subject(), store: Array("work".utf8), finger: .rightIndex)),
                script)
            #expect(enrolled == .success("fingerprint.enrolled"))
            let first = stage.script([:])
            #expect(await change(stage, to: "", first) == .success("people.switched"))
            #expect(open(stage) == ["default", "mail"])
            let touch = stage.script([:])
            touch.touches = [.matched(0)]
            #expect(await change(stage, to: "work", touch) == .success("people.switched"))
            #expect(open(stage) == ["work"])
        }
    }

    @Test("whoever names none is shown them, and takes one", arguments: [false, true])
    func asks(isDrawn: Bool) async throws {
        try await Stage.run("") { stage in
            await settle(stage)
            await stage.house.desk.vault.lockAll()
            stage.drawsScreens = isDrawn
            for (number, ends) in [("3", false), ("", false), ("2", true)] {
                let script = stage.script([
                    "people.question": number, "match.prompt": "another horse",
                ])
                let done = await change(stage, to: nil, script)
                #expect((done == .success("people.switched")) == ends, "\(number)")
                #expect(open(stage) == (ends ? ["work"] : []))
                let drawn = ends ? ["people", "match"] : ["people"]
                #expect(script.drawn == (isDrawn ? drawn : []))
            }
        }
    }

    @Test("a shared store is no one's alone, and one that is not there is not found")
    func others() async throws {
        try await Stage.run("") { stage in
            await settle(stage)
            var target = Target()
            target.store = Array("team".utf8)
            let team = Create(target: target, way: .shared, openExisting: false)
            #expect(
                await stage.run(.create(team), stage.script([:])) == .success("create.done.shared"))
            let before = open(stage)
            #expect(
                await change(stage, to: "team", stage.script([:]))
                    == .failure(.refused(.invalidArgument(.switchShared))))
            #expect(
                await change(stage, to: "nothing", stage.script([:]))
                    == .failure(.refused(.doesNotExist(.store))))
            #expect(open(stage) == before)
        }
    }
}
