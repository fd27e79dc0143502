import Policy
import Posix
import StoreKeeping
import Testing
import Wire
import Words
import WorkerLinks

@testable import VaultService

@Suite("a finger says who is there")
struct FingerWhoTests {
    static let passcodes = ["default": "correct horse", "work": "another horse"]

    /// `default` and `work` with a finger each, both locked; whoever is named has agreed.
    @LoopActor
    private func settle(_ stage: Stage, agreed: [String] = ["default", "work"]) async {
        // The touches come when it is their turn, on a busy machine as well.
        stage.house.flows.fingers.scans.whoSeconds = 3600
        for name in ["default", "work"] {
            let passcode = Self.passcodes[name] ?? ""
            var target = Target()
            target.store = Array(name.utf8)
            let script = stage.script([
                "create.choose": passcode, "create.confirm": passcode, "recovery.keep": "",
                "fingerprint.offer": "n", "match.current": passcode, "fingerprint.who": "n",
            ])
            #expect(
                await stage.run(
                    .create(Create(target: target, way: .ownPasscode, openExisting: false)), script)
                    == .success("create.done"))
            script.touches = [.enrolled(stage.print)]
            #expect(
                await stage.run(
                    .fingerprintEnroll(
                        FingerRequest(
                            subject: Subject(), store: target.store, finger: .rightIndex)), script)
                    == .success("fingerprint.enrolled"))
            guard agreed.contains(name) else { continue }
            #expect(await run(stage, .agree, script, name: name) == .success("people.finger.on"))
        }
        for name in ["default", "work"] { await host(stage, name)?.lock() }
    }

    @LoopActor
    private func run(
        _ stage: Stage, _ act: SwitchStore.Act, _ script: Script, name: String = ""
    ) async -> Result<String, Interruption> {
        await stage.run(.switchStore(SwitchStore(store: Array(name.utf8), act: act)), script)
    }

    @LoopActor
    private func host(_ stage: Stage, _ name: String) -> StoreHost? {
        stage.house.desk.vault.ownStore(of: stage.alice, named: Array(name.utf8))
    }

    @LoopActor
    private func open(_ stage: Stage) -> [String] {
        ["default", "work"].filter { host(stage, $0)?.isOpen == true }
    }

    @LoopActor
    private func failures(_ stage: Stage) -> [UInt8?] {
        ["default", "work"].map { host(stage, $0)?.snapshot.terms.fingerFailures }
    }

    /// At the list, which comes where no finger did, they leave.
    @LoopActor
    private func touching(_ stage: Stage, _ touches: [FingerEnd]) -> Script {
        let script = stage.script(["people.question": "none"])
        script.touches = touches
        return script
    }

    @Test("one touch opens the store whose finger it is, and the other locks", arguments: [0, 1])
    func says(_ index: Int) async throws {
        try await Stage.run("", hasReader: true) { stage in
            await settle(stage)
            for drawn in [false, true] {
                stage.drawsScreens = drawn
                let other = index == 0 ? "work" : "default"
                let first = stage.script(["match.prompt": Self.passcodes[other] ?? ""])
                #expect(await run(stage, .open, first, name: other) == .success("people.switched"))
                let script = touching(stage, [.matched(index)])
                #expect(await run(stage, .ask, script) == .success("people.switched"))
                #expect(script.asked == [Script.finger])
                #expect(script.shown.contains("people.finger"))
                #expect(open(stage) == [index == 0 ? "default" : "work"])
                #expect(failures(stage) == [0, 0])
                #expect(stage.reader.compared.last == 2)
            }
        }
    }

    @Test(
        "without the agreement of two no finger is asked for",
        arguments: [[], ["default"], ["work"]])
    func agreement(_ agreed: [String]) async throws {
        try await Stage.run("", hasReader: true) { stage in
            await settle(stage, agreed: agreed)
            let script = touching(stage, [.matched(0)])
            #expect(await run(stage, .ask, script) == .failure(.refused(.cancelled)))
            #expect(script.asked == ["people.question"])
            #expect(stage.reader.compared == [])
            #expect(open(stage) == [])
        }
    }

    @Test(
        "who enrols a finger where others have one is asked, and agrees to nothing by Enter",
        arguments: [false, true])
    func enrolling(isDrawn: Bool) async throws {
        try await Stage.run("", hasReader: true) { stage in
            await settle(stage, agreed: [])
            stage.drawsScreens = isDrawn
            for (typed, agreed) in [("n", false), ("", false), ("y", true)] {
                let script = stage.script([
                    "match.current": "correct horse", "fingerprint.who": typed,
                ])
                script.touches = [.enrolled(stage.print)]
                let end = await stage.run(
                    .fingerprintEnroll(
                        FingerRequest(subject: Subject(), store: [], finger: .leftThumb)), script)
                #expect(end == .success("fingerprint.enrolled"))
                #expect(script.asked.last == "fingerprint.who")
                #expect(script.shown.contains("people.finger.on") == agreed)
                #expect(host(stage, "default")?.fingersTellWho == agreed)
            }
            // It is known now: nobody is asked again. And whoever leaves at it has their finger.
            for (name, asks) in [("default", false), ("work", true)] {
                let script = stage.script(
                    ["match.current": Self.passcodes[name] ?? ""], at: (2, .leaves))
                script.touches = [.enrolled(stage.print)]
                let end = await stage.run(
                    .fingerprintEnroll(
                        FingerRequest(
                            subject: Subject(), store: Array(name.utf8), finger: .leftIndex)),
                    script)
                #expect((end == .success("fingerprint.enrolled")) == !asks)
                #expect(script.asked.contains("fingerprint.who") == asks)
                let fingers = try await host(stage, name)?.enrolledFingers().fingers
                #expect(fingers?.contains { $0.finger == Finger.leftIndex.rawValue } == true)
                #expect(host(stage, name)?.fingersTellWho == (name == "default"))
                #expect(
                    await run(stage, .agreed, stage.script([:]), name: name)
                        == .success(asks ? "people.finger.off" : "people.finger.on"))
            }
        }
    }

    @Test("its passcode is typed for it, and without a finger there is nothing to agree to")
    func agrees() async throws {
        try await Stage.run("", hasReader: true) { stage in
            await settle(stage, agreed: [])
            let wrong = stage.script(["match.current": "another horse"])
            #expect(await run(stage, .agree, wrong) != .success("people.finger.on"))
            #expect(host(stage, "default")?.fingersTellWho == false)
            let right = stage.script(["match.current": "correct horse"])
            #expect(await run(stage, .agree, right) == .success("people.finger.on"))
            #expect(host(stage, "default")?.fingersTellWho == true)
            #expect(
                await run(stage, .disagree, stage.script([:])) == .success("people.finger.off"))
            #expect(host(stage, "default")?.fingersTellWho == false)
            #expect(await run(stage, .agree, right) == .success("people.finger.on"))
            try await host(stage, "default")?.turnFingerprintOff()
            #expect(host(stage, "default")?.fingersTellWho == false)
            #expect(
                await run(stage, .agree, right)
                    == .failure(.refused(.fingerprintUnavailable(.notEnrolled))))
        }
    }

    @Test("a touch that matches none is a try at each of them, and no more are made than for one")
    func counts() async throws {
        try await Stage.run("FingerprintMaxFailures=2\n", hasReader: true) { stage in
            await settle(stage)
            // One try is used up already, where this one alone was to be opened.
            let alone = stage.script(["match.prompt": ""])
            alone.touches = [.noMatch]
            #expect(await run(stage, .open, alone, name: "work") != .success("people.switched"))
            // A touch that was waited for and did not come is given back a moment later.
            #expect(await stage.comes { failures(stage) == [0, 1] })
            let script = touching(stage, [.noMatch, .noMatch, .matched(0)])
            #expect(await run(stage, .ask, script) == .failure(.refused(.cancelled)))
            #expect(failures(stage) == [1, 2])
            // No second touch: `work` had none left.
            #expect(script.asked == [Script.finger, "people.question"])
            let none = touching(stage, [.matched(1)])
            #expect(await run(stage, .ask, none) == .failure(.refused(.cancelled)))
            #expect(none.asked == ["people.question"])
            #expect(open(stage) == [])
        }
    }

    @Test("three touches, and then the list comes")
    func three() async throws {
        try await Stage.run("FingerprintMaxFailures=9\n", hasReader: true) { stage in
            await settle(stage)
            // What touches it between two scans is lost. Then `work` alone is asked
            // for its finger, which nobody gives.
            let script = touching(
                stage, [.noMatch, .stopped(.nobody), .noMatch, .stopped(.nobody), .noMatch])
            script.answers = ["people.question": "2", "match.prompt": "another horse"]
            #expect(await run(stage, .ask, script) == .success("people.switched"))
            #expect(stage.reader.compared == [2, 2, 2, 1])
            #expect(open(stage) == ["work"])
            // The passcode was typed there; the other's tries are used up all the same.
            #expect(failures(stage) == [3, 0])
        }
    }

    @Test("whoever goes at the reader opens nothing, and has used up nothing")
    func leaves() async throws {
        for turn in [Script.Turn.leaves, .leavesBehind] {
            try await Stage.run("", hasReader: true) { stage in
                await settle(stage)
                let script = stage.script(["people.question": "none"], at: (0, turn))
                script.touches = [.matched(1)]
                #expect(await run(stage, .ask, script) == .failure(.gone(.closed)))
                #expect(open(stage) == [])
                #expect(await stage.comes { self.failures(stage) == [0, 0] })
            }
        }
        try await Stage.run("", hasReader: true) { stage in
            await settle(stage)
            let script = stage.script(["people.question": "none"], at: (0, .cancels))
            #expect(await run(stage, .ask, script) == .failure(.refused(.cancelled)))
            #expect(script.asked == [Script.finger, "people.question"])
            #expect(await stage.comes { self.failures(stage) == [0, 0] })
        }
    }

    enum Change: CaseIterable { case disagrees, deletes, turnsOff, policy }

    @Test("what has changed while the reader waited opens nothing", arguments: Change.allCases)
    func changes(_ change: Change) async throws {
        try await Stage.run("", hasReader: true) { stage in
            await settle(stage)
            let script = stage.script(
                ["people.question": "none"],
                at: (
                    0,
                    .first {
                        let work = self.host(stage, "work")
                        switch change {
                        case .disagrees: try? await work?.letFingersTellWho(false)
                        case .deletes:
                            _ = try? await work?.forgetFinger(Finger.rightIndex.rawValue)
                        case .turnsOff: try? await work?.turnFingerprintOff()
                        case .policy: await stage.change("AllowFingerprint=no\n")
                        }
                    }
                ))
            script.touches = [.matched(1)]
            #expect(await run(stage, .ask, script) == .failure(.refused(.cancelled)))
            #expect(open(stage) == [])
            #expect(await stage.comes { self.failures(stage) == [0, 0] })
        }
    }

    @Test("a worker that names a print that nobody sent opens nothing", arguments: [2, 99, -1])
    func nonsense(_ index: Int) async throws {
        try await Stage.run("", hasReader: true) { stage in
            await settle(stage)
            let script = touching(stage, [.matched(index)])
            #expect(await run(stage, .ask, script) == .failure(.refused(.cancelled)))
            #expect(open(stage) == [])
            #expect(failures(stage) == [1, 1])
        }
    }

    @Test("a script is asked for no finger, and neither is a store that a policy keeps from it")
    func notAsked() async throws {
        try await Stage.run("", hasReader: true) { stage in
            await settle(stage)
            await stage.change("AllowFingerprint=no\n")
            let script = touching(stage, [.matched(0)])
            #expect(await run(stage, .ask, script) == .failure(.refused(.cancelled)))
            #expect(script.asked == ["people.question"])
            #expect(stage.reader.compared == [])
        }
    }
}
