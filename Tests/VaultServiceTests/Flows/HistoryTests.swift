import Posix
import Testing
import Wire
import Words

@testable import VaultService

private let first = "correct horse battery"
private let password = "otter 7"

@Suite("former passcodes and the login password")
struct HistoryTests {
    @LoopActor
    private func create(_ stage: Stage) async {
        await stage.run(
            .create(Create(target: Target(), way: .ownPasscode, openExisting: false)),
            stage.script(["create.choose": first, "create.confirm": first, "recovery.keep": ""]))
    }

    @LoopActor
    private func change(_ stage: Stage, _ change: Passcode.Change, _ script: Script) async
        -> Result<String, Interruption>
    {
        await stage.run(.passcode(Passcode(target: Target(), change: change)), script)
    }

    @Test("a former passcode is refused also where the store followed the login in between")
    func back() async throws {
        try await Stage.run("HistoryCount=3\n") { stage in
            await create(stage)
            let follows = stage.script(["match.current": first, "create.login-password": password])
            #expect(await change(stage, .followLogin, follows) == .success("follow.done"))
            let again = stage.script([
                "match.current": password, "create.choose": first, "create.confirm": first,
            ])
            #expect(await change(stage, .ownPasscode, again) != .success("change.done"))
            #expect(await stage.opens(with: password))
            #expect(await !stage.opens(with: first))
        }
    }

    @Test("of a login password nothing is remembered")
    func login() async throws {
        try await Stage.run("HistoryCount=3\nMinLength=1\n") { stage in
            await create(stage)
            for (from, to) in [(first, password), ("badger", "fox 9")] {
                let follows = stage.script(["match.current": from, "create.login-password": to])
                #expect(await change(stage, .followLogin, follows) == .success("follow.done"))
                let next = to == "fox 9" ? password : "badger"
                let own = stage.script([
                    "match.current": to, "create.choose": next, "create.confirm": next,
                ])
                #expect(await change(stage, .ownPasscode, own) == .success("change.done"))
            }
        }
    }
}
