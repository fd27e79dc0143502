import Policy
import Posix
import StoreKeeping
import Testing
import Wire
import Words

@testable import VaultService

@Suite("what is shown before an application starts")
struct AppTests {
    @LoopActor
    private static let right = ["match.prompt": Stage.passcode, "match.current": Stage.passcode]

    @LoopActor
    private func open(
        _ stage: Stage, _ answers: [String: String], _ demand: AppDemand = .open,
        id: String = "org.gnome.Evolution", store: String = "",
        _ frontEnd: FrontEnd = .terminal
    ) async -> (Result<String, Interruption>, asked: [String]) {
        let script = stage.script(answers, frontEnd)
        let app = App(
            target: Target(store: Array(store.utf8)), id: Array(id.utf8), demand: demand)
        return (await stage.run(.appOpen(app), script), script.asked)
    }

    @Test("`open`: nothing is asked while the store is open, and else what opens it")
    func storeOpen() async throws {
        try await Stage.run("") { stage in
            await stage.sitDown()
            let first = await open(stage, [:])
            #expect(first.0 == .success("match.open"))
            #expect(first.asked.isEmpty)
            await stage.run(.lock(Target()), stage.script([:]))
            let second = await open(stage, Self.right)
            #expect(second.0 == .success("match.done"))
            #expect(second.asked == ["match.prompt"])
            #expect(stage.store?.isOpen == true)
        }
    }

    @Test("`passcode`: typed now, also while the store is open; whichever of the two demands it")
    func passcode() async throws {
        try await Stage.run("") { stage in
            await stage.sitDown()
            let asked = await open(stage, Self.right, .passcode)
            #expect(asked.0 == .success("match.done"))
            #expect(asked.asked == ["match.current"])
            await stage.change("[App org.gnome.Evolution]\nRequire=passcode\n")
            #expect(await open(stage, Self.right).asked == ["match.current"])
            let other = await open(stage, Self.right, id: "other")
            #expect(other.asked.isEmpty)
        }
    }

    @Test("a wrong passcode and a cancel start nothing, and the try is counted")
    func wrong() async throws {
        try await Stage.run("") { stage in
            await stage.sitDown()
            let before = stage.store?.snapshot.tally
            let wrong = await open(stage, ["match.current": "wrong"], .passcode, .program)
            #expect(wrong.0.refused?.code == .invalidPasscode)
            #expect(stage.store?.snapshot.tally != before)
            let cancelled = await open(stage, ["match.current": ""], .passcode, .program)
            #expect(cancelled.0 == .failure(.refused(.cancelled)))
        }
    }

    @Test("`finger`: without a reader the passcode does")
    func finger() async throws {
        try await Stage.run("") { stage in
            await stage.sitDown()
            let asked = await open(stage, Self.right, .finger)
            #expect(asked.0 == .success("match.done"))
            #expect(asked.asked == ["match.current"])
        }
    }

    @Test("`finger` with an open store: the finger, wherever a passcode could be typed meanwhile")
    func fingerPlaces() async throws {
        for (frontEnd, line) in [
            (FrontEnd.terminal, "fingerprint.place.enter"), (.dialog, "fingerprint.place.type"),
        ] {
            try await Stage.run("", hasReader: true) { stage in
                await FingerTests.settle(stage)
                #expect(await FingerTests.enroll(stage) == .success("fingerprint.enrolled"))
                let script = stage.script([:], frontEnd)
                script.touches = [.matched(0)]
                let end = await stage.run(.appOpen(Self.byFinger), script)
                #expect(end == .success("fingerprint.verified"))
                #expect(script.shown.contains(line))
                #expect(script.asked == [Script.finger])
                // Whoever would rather type does so.
                let typing = stage.script(["match.current": FingerTests.passcode], frontEnd)
                #expect(await stage.run(.appOpen(Self.byFinger), typing) == .success("match.done"))
                #expect(typing.asked == [Script.finger, "match.current"])
            }
        }
    }

    private static let byFinger = App(
        target: Target(), id: Array("org.gnome.Evolution".utf8), demand: .finger)

    @Test("a finger does not count for a store that was locked meanwhile")
    func lockedMeanwhile() async throws {
        try await Stage.run("", hasReader: true) { stage in
            await FingerTests.settle(stage)
            #expect(await FingerTests.enroll(stage) == .success("fingerprint.enrolled"))
            let script = Script(
                stage.caller(
                    Hello(frontEnd: .terminal, realUID: stage.alice.uid), uid: stage.alice.uid),
                stage.reader, [:], at: (0, .first { await stage.store?.lock() }))
            script.touches = [.matched(0)]
            #expect(
                await stage.run(.appOpen(Self.byFinger), script) == .failure(.refused(.locked)))
            #expect(stage.store?.isOpen == false)
        }
    }

    @Test("the store of the policy, and no other one")
    func store() async throws {
        try await Stage.run("[App org.gnome.Evolution]\nStore=default\n") { stage in
            await stage.sitDown()
            #expect(await open(stage, [:], store: "default").0 == .success("match.open"))
            #expect(
                await open(stage, [:], store: "other").0
                    == .failure(.refused(.policyDenies(key: "Store"))))
            #expect(
                await open(stage, [:], id: "b", store: "other").0.refused?.code == .doesNotExist)
        }
    }

    @Test("ids that are none", arguments: ["", "a/b", "..", "a b", "-a"])
    func ids(id: String) async throws {
        try await Stage.run("") { stage in
            await stage.sitDown()
            let refusal = Refusal.invalidArgument(.appID)
            #expect(await open(stage, [:], id: id).0 == .failure(.refused(refusal)))
        }
    }

    @Test("only its owner asks")
    func another() async throws {
        try await Stage.run("") { stage in
            await stage.sitDown()
            let caller = stage.caller(
                Hello(frontEnd: .terminal, realUID: 0), uid: 0, daemonUID: 990)
            let subject = Subject(name: stage.alice.name, uid: stage.alice.uid)
            let app = App(
                target: Target(subject: subject), id: Array("a".utf8), demand: .open)
            await #expect(throws: Interruption.refused(.notPermitted(.notYours))) {
                try await stage.house.flows.apps.policy(app, caller)
            }
        }
    }
}

extension Result where Failure == Interruption {
    fileprivate var refused: Refusal? {
        guard case .failure(.refused(let refusal)) = self else { return nil }
        return refusal
    }
}
