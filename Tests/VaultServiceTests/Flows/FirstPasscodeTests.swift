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

    private enum End: Equatable {
        /// For a login that is all that may come: nobody is kept out.
        case done
        case refused(Refusal)
        case cut
    }

    @LoopActor
    private func enter(
        _ place: Place, _ stage: Stage, at turn: (Int, Script.Turn)? = nil,
        afterwards: [String: String] = [:], once: [String: String] = [:]
    ) async -> (Script, End) {
        let script =
            place == .login ? stage.login(typed, at: turn) : stage.script(typed, at: turn)
        script.afterwards = afterwards
        script.once = once
        switch place {
        case .login:
            let entered = await stage.enter(.behind, script, password: "login password 1")
            switch entered.outcomes {
            case [.ignore, .ignore]: return (script, .done)
            case [nil, .ignore]: return (script, .cut)
            default:
                Issue.record("the login hears \(entered.outcomes)")
                return (script, .cut)
            }
        case .terminal:
            switch await stage.run(.openStore(Target()), script) {
            case .success(let text):
                #expect(text == "match.done")
                return (script, .done)
            case .failure(.refused(let refusal)): return (script, .refused(refusal))
            case .failure(.gone): return (script, .cut)
            }
        }
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
        for at in asks.indices {
            try await onStage { stage in
                let (script, end) = await enter(place, stage, at: (at, .cancels))
                #expect(script.asked == Array(asks[...at]))
                switch place {
                case .login:
                    #expect(end == .done)
                    #expect(script.shown.contains("cancel.change.title"))
                case .terminal: #expect(end == .refused(.changeRequired(.create, .policy)))
                }
                await expectDue(stage)
                let (again, last) = await enter(place, stage)
                #expect(last == .done)
                #expect(again.asked == asks)
                await expectPasscode(stage, new)
            }
            try await onStage { stage in
                let (script, end) = await enter(place, stage, at: (at, .leaves))
                #expect(end == .cut)
                #expect(script.asked == Array(asks[...at]))
                await expectDue(stage)
            }
        }
    }

    @LoopActor
    private func expectDue(_ stage: Stage) async {
        #expect(stage.store?.isOpen == false)
        #expect(stage.store?.hasPasscode == false)
        #expect(stage.store?.snapshot.hasDevice == true)
        #expect(stage.store?.pending?.flow == .create)
        #expect(stage.store?.pending?.reason == .policy)
    }

    @Test(
        "rules that became stricter while it was asked for are those that hold",
        arguments: Place.allCases, asks.indices)
    private func stricter(_ place: Place, _ at: Int) async throws {
        try await onStage { stage in
            let (script, end) = await enter(
                place, stage,
                at: (at, .first { await stage.change(demanded + "MinLength=30\n") }),
                afterwards: ["create.choose": long, "create.confirm": long],
                // What was begun is ended first.
                once: at == 1 ? ["create.confirm": new] : [:])
            #expect(end == .done)
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
                let (script, end) = await enter(
                    place, stage, at: (at, .first { await stage.change(policy) }))
                #expect(end == .done)
                // What was begun is ended.
                #expect(script.asked == (at == 0 ? Array(asks[..<1]) : asks))
                #expect(!script.shown.contains("cancel.change.title"))
                // A login does not open a store without a passcode: whoever asks for it does.
                #expect(stage.store?.isOpen == (place == .terminal))
                #expect(stage.store?.pending == nil || place == .login)
                #expect(stage.store?.hasPasscode == false)
                #expect(stage.store?.snapshot.hasDevice == true)
                await stage.store?.lock()
                let opens = stage.script([:])
                #expect(await stage.run(.openStore(Target()), opens) == .success("match.done"))
                #expect(opens.asked == [])
                #expect(stage.store?.pending == nil)
            }
        }
    }
}
