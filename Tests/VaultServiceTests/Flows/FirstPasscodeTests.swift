import KeySlots
import Policy
import Posix
import StoreKeeping
import Testing
import Wire
import Words

@testable import VaultService

private let new = "otter badger 7 heron"
private let long = "a passcode that is longer than thirty"
private let typed = ["notice.enter": "", "create.choose": new, "create.confirm": new]
private let asks = ["notice.enter", "create.choose", "create.confirm"]
private let demanded = "AllowNoPasscode=no\n"

/// Where its owner meets the demand.
private enum Place: CaseIterable {
    /// A login that pam_unix has let in.
    case login
    case terminal
}

@Suite("a policy that demands a passcode of a store without one")
struct FirstPasscodeTests {
    private func onStage(
        _ body: @escaping @LoopActor @Sendable (Stage) async throws -> Void
    ) async throws {
        try await Stage.run("") { stage in
            await stage.run(
                .create(Create(target: Target(), way: .noPasscode, openExisting: false)),
                stage.script(["recovery.keep": ""]))
            await stage.store?.lock()
            await stage.change(demanded)
            try await body(stage)
        }
    }

    /// Nobody is kept out by it.
    @LoopActor
    private func enter(
        _ place: Place, _ stage: Stage, at turn: (Int, Script.Turn)? = nil,
        afterwards: [String: String] = [:], once: [String: String] = [:]
    ) async -> Script {
        let script =
            place == .login ? stage.login(typed, at: turn) : stage.script(typed, at: turn)
        script.afterwards = afterwards
        script.once = once
        switch place {
        case .login:
            let entered = await stage.enter(.behind, script, password: "login password 1")
            #expect(entered.isIn)
        case .terminal: await stage.run(.openStore(Target()), script)
        }
        return script
    }

    @LoopActor
    private func expectPasscode(_ stage: Stage, _ passcode: String) async {
        #expect(stage.store?.isOpen == true)
        #expect(stage.store?.pending == nil)
        #expect(stage.store?.snapshot.hasDevice == false)
        #expect(await stage.opens(with: passcode))
    }

    @Test(
        "no or silence at any question: none is made, and the next time it is asked for again",
        arguments: Place.allCases)
    private func cut(_ place: Place) async throws {
        try await onStage { stage in
            for turn in [Script.Turn.cancels, .leaves] {
                for at in asks.indices {
                    let script = await enter(place, stage, at: (at, turn))
                    #expect(script.asked == Array(asks[...at]))
                    if case .cancels = turn, place == .login {
                        #expect(script.shown.contains("cancel.change.title"))
                    }
                    #expect(stage.store?.isOpen == false)
                    #expect(stage.store?.hasPasscode == false)
                    #expect(stage.store?.snapshot.hasDevice == true)
                    #expect(stage.store?.pending?.flow == .create)
                    #expect(stage.store?.pending?.reason == .policy)
                }
            }
            #expect(await enter(place, stage).asked == asks)
            await expectPasscode(stage, new)
        }
    }

    @Test(
        "rules that became stricter while it was asked for are those that hold",
        arguments: Place.allCases, asks.indices)
    private func stricter(_ place: Place, _ at: Int) async throws {
        try await onStage { stage in
            let script = await enter(
                place, stage,
                at: (at, .first { await stage.change(demanded + "MinLength=30\n") }),
                afterwards: ["create.choose": long, "create.confirm": long],
                // What was begun is ended first.
                once: at == 1 ? ["create.confirm": new] : [:])
            let again = ["create.choose", "create.confirm"]
            #expect(script.asked == asks + (at == 0 ? [] : again))
            #expect(script.shown.contains("unmet.minLength") == (at > 0))
            await expectPasscode(stage, long)
            #expect(await !stage.opens(with: new))
        }
    }

    @Test(
        "where none is wanted any more none is made, and the store opens as before",
        arguments: Place.allCases, ["AllowNoPasscode=yes\n", "Enabled=no\nUseDefaultPolicy=no\n"])
    private func noMore(_ place: Place, _ policy: String) async throws {
        for at in asks.indices {
            try await onStage { stage in
                let script = await enter(
                    place, stage, at: (at, .first { await stage.change(policy) }))
                // What was begun is ended.
                #expect(script.asked == (at == 0 ? Array(asks[..<1]) : asks))
                #expect(!script.shown.contains("cancel.change.title"))
                #expect(stage.store?.hasPasscode == false)
                await stage.store?.lock()
                let opens = stage.script([:])
                #expect(await stage.run(.openStore(Target()), opens) == .success("match.done"))
                #expect(opens.asked == [])
                #expect(stage.store?.pending == nil)
            }
        }
    }
}
