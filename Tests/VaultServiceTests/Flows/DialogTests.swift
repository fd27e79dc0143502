import StoreKeeping
import Testing
import Wire
import Words

@testable import VaultService

/// A front end that asks in dialogs gets what a terminal gets, or less.
@Suite("a person in dialogs")
struct DialogFlowTests {
    private let create = FlowRequest.create(
        Create(target: Target(), way: .ownPasscode, openExisting: false))

    @Test("three tries, as at a terminal; a program has one")
    func tries() async throws {
        for (frontEnd, count) in [(FrontEnd.dialog, 3), (.terminal, 3), (.program, 1)] {
            try await Stage.run("") { stage in
                await FingerTests.settle(stage)
                await stage.store?.lock()
                let script = stage.script(["match.prompt": "wrong"], frontEnd)
                _ = await stage.run(.openStore(Target()), script)
                #expect(script.asked.count == count)
                #expect(stage.store?.isOpen == false)
            }
        }
    }

    @Test("no recovery key is shown at create, and no passcode is skipped")
    func recovery() async throws {
        try await Stage.run("AllowNoPasscode=yes\n") { stage in
            let script = stage.script(
                ["create.choose": "correct horse", "create.confirm": "correct horse"], .dialog)
            #expect(await stage.run(create, script) == .success("create.done"))
            #expect(script.revealed.isEmpty)
            #expect(!script.shown.contains("create.skip"))
            #expect(stage.store?.hasRecovery == false)
            let again = stage.script(["match.current": "correct horse"], .dialog)
            let end = await stage.run(.recoveryNew(Target()), again)
            #expect(
                end
                    == .failure(
                        .refused(.invalidAction(action: .newRecoveryKey, reason: .terminalOnly))))
            #expect(again.asked == [])
        }
    }

    @Test("a dialog has a button that cancels, so no line speaks of Enter")
    func cancel() async throws {
        for (frontEnd, isShown) in [(FrontEnd.dialog, false), (.terminal, true)] {
            try await Stage.run("ShowCancel=yes\n") { stage in
                await FingerTests.settle(stage)
                await stage.store?.lock()
                let script = stage.script(["match.prompt": FingerTests.passcode], frontEnd)
                _ = await stage.run(.openStore(Target()), script)
                #expect(script.shown.contains("match.cancel") == isShown)
            }
        }
    }

    @Test("the finger comes first, and its line says that the passcode may be typed")
    func finger() async throws {
        try await Stage.run("", hasReader: true) { stage in
            await FingerTests.settle(stage)
            let enrolling = stage.script(["match.current": FingerTests.passcode], .dialog)
            #expect(
                await FingerTests.enroll(stage, enrolling) == .success("fingerprint.enrolled"))
            await stage.store?.lock()
            let script = stage.script([:], .dialog)
            script.touches = [.matched(0)]
            _ = await stage.run(.openStore(Target()), script)
            #expect(script.shown.contains("fingerprint.place.type"))
            #expect(stage.store?.isOpen == true)
        }
    }
}
