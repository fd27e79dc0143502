import Policy
import Posix
import StoreKeeping
import Testing
import Wire
import Words
import WorkerLinks

@testable import VaultService

@Suite("a person meets the vault")
struct WelcomeTests {
    static let passcode = "otter über badger 7"
    static let answers = [
        "notice.enter": "", "welcome.own.offer": "y", "create.choose": passcode,
        "create.confirm": passcode, "recovery.keep": "", "fingerprint.offer": "n",
        "recovery.offer": "y", "match.current": passcode,
    ]

    @LoopActor
    private func welcome(
        _ stage: Stage, _ script: Script, _ way: Create.Way = .guidedOwnPasscode
    ) async -> Result<String, Interruption> {
        await stage.run(
            .create(Create(target: Target(), way: way, openExisting: false)), script)
    }

    @Test(
        "each screen comes in its turn",
        arguments: [Create.Way.guidedOwnPasscode, .guidedFollowLogin])
    func screens(_ way: Create.Way) async throws {
        try await Stage.run("", hasReader: true) { stage in
            stage.drawsScreens = true
            let script = stage.script(
                Self.answers.merging(["onboard.follow": "y", "welcome.way": "own-passcode"]) { $1 })
            #expect(await welcome(stage, script, way) == .success("create.done"))
            #expect(
                script.drawn
                    == [
                        "welcome", "welcome.way", "create.passcode", "fingerprint.offer",
                        "welcome.ready",
                    ])
            let usual = way == .guidedOwnPasscode ? "welcome.own" : "welcome.login"
            #expect(script.shown.first { $0.hasPrefix("welcome.") } == usual)
            #expect(script.asked.contains("fingerprint.offer"))
        }
    }

    @Test("whoever was interrupted goes on with what is left, and is asked nothing twice")
    func goesOn() async throws {
        try await Stage.run("", hasReader: true) { stage in
            stage.drawsScreens = true
            // The recovery key was on the screen.
            let first = stage.script(Self.answers, at: (4, .leaves))
            #expect(await welcome(stage, first) == .failure(.gone(.closed)))
            #expect(first.asked.last == "recovery.keep")
            #expect(stage.store?.hasPasscode == true)
            #expect(stage.store?.hasRecovery == false)
            let second = stage.script(Self.answers)
            #expect(await welcome(stage, second) == .success("welcome.nothing"))
            #expect(
                second.asked == [
                    "recovery.offer", "match.current", "recovery.keep", "fingerprint.offer",
                    "notice.enter",
                ])
            #expect(stage.store?.hasRecovery == true)
            let third = stage.script(
                Self.answers.merging(["fingerprint.offer": "y"]) { $1 })
            third.touches = [.enrolled(stage.print)]
            #expect(await welcome(stage, third) == .success("welcome.nothing"))
            #expect(third.asked.first == "fingerprint.offer")
            #expect(third.asked.contains("match.current"))
            #expect(stage.store?.fingerprintIsOn == true)
            let last = stage.script(Self.answers)
            #expect(await welcome(stage, last) == .success("welcome.nothing"))
            #expect(last.asked == [])
        }
    }

    @Test(
        "who has an invitation is asked for it; what is none is asked for again, and then no more")
    func invited() async throws {
        try await Stage.run("") { stage in
            stage.drawsScreens = true
            let script = stage.script(
                Self.answers.merging(["welcome": "invitation", "join.field": "nonsense"]) { $1 })
            #expect(await welcome(stage, script) == .failure(.refused(.cancelled)))
            #expect(
                script.drawn == ["welcome"] + Array(repeating: "join", count: 10))
            #expect(script.shown.last == "refused.InvalidArgument.join-what")
            #expect(stage.store == nil)
            // Nothing is offered by lines, where there is no third answer.
            stage.drawsScreens = false
            let lines = stage.script(
                Self.answers.merging(["welcome": "invitation", "onboard.follow": "n"]) { $1 })
            #expect(await welcome(stage, lines) == .success("create.done"))
            #expect(!lines.asked.contains("join.field"))
        }
    }

    @Test("no passcode is offered where the policy allows it, and only there")
    func none() async throws {
        for allows in [false, true] {
            try await Stage.run(allows ? "" : "AllowNoPasscode=no\n") { stage in
                stage.drawsScreens = true
                let script = stage.script(
                    Self.answers.merging(["welcome.way": "no-passcode"]) { $1 })
                let end = await welcome(stage, script)
                #expect(script.shown.contains("welcome.none") == allows)
                #expect(end == .success(allows ? "create.done.none" : "create.done"))
                #expect(stage.store?.hasPasscode == !allows)
            }
        }
    }

    @Test("a policy that has stores begin without a passcode asks nobody for one")
    func byDefault() async throws {
        try await Stage.run("AllowNoPasscode=yes\nNoPasscodeByDefault=yes\n") { stage in
            stage.drawsScreens = true
            let script = stage.script(["notice.enter": ""])
            #expect(await welcome(stage, script) == .success("create.done.none"))
            #expect(script.drawn == ["welcome", "welcome.ready"])
        }
    }

    @Test("a policy that comes while a way is chosen is the one that holds")
    func policy() async throws {
        try await Stage.run("AllowNoPasscode=yes\n") { stage in
            stage.drawsScreens = true
            let script = stage.script(
                Self.answers.merging(["welcome.way": "no-passcode"]) { $1 },
                at: (1, .first { await stage.change("AllowNoPasscode=no\n") }))
            #expect(
                await welcome(stage, script)
                    == .failure(.refused(.policyDenies(key: "AllowNoPasscode"))))
            #expect(stage.store == nil)
        }
    }
}
