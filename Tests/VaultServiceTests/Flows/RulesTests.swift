import Policy
import Posix
import Secrets
import StoreKeeping
import Testing
import Wire
import Words

@testable import VaultService

private let old = "correct horse battery"
private let new = "otter badger 7 heron"
private let noPasscodes = "Enabled=no\nUseDefaultPolicy=no\n"

@Suite("the rules for a passcode, wherever one is made")
struct RulesTests {
    @LoopActor
    private func create(_ stage: Stage, _ way: Create.Way, _ script: Script) async
        -> Result<String, Interruption>
    {
        await stage.run(
            .create(Create(target: Target(), way: way, openExisting: false)), script)
    }

    /// A store that opens with `old`, and its recovery key.
    @LoopActor @discardableResult
    private func made(_ stage: Stage) async -> String {
        let script = stage.script(
            ["create.choose": old, "create.confirm": old, "recovery.keep": ""])
        #expect(await create(stage, .ownPasscode, script) == .success("create.done"))
        return script.revealed
    }

    private func twice(_ candidate: String, _ more: [String: String] = [:]) -> [String: String] {
        more.merging(["create.choose": candidate, "create.confirm": candidate]) { $1 }
    }

    @LoopActor
    private func change(_ stage: Stage, to candidate: String, from current: String = old) async
        -> Result<String, Interruption>
    {
        await stage.run(
            .passcode(Passcode(target: Target(), change: .change)),
            stage.script(twice(candidate, ["match.current": current]), .program))
    }

    /// The code of the first rule that is not met, and the ids of all.
    private func unmet(_ end: Result<String, Interruption>) -> Unmet? {
        guard case .failure(.refused(let refusal)) = end,
            let ids = refusal.parameters.first(where: { $0.name == "unmet" })?.value
        else { return nil }
        return Unmet(code: refusal.code, ids: ids)
    }

    private struct Unmet: Equatable {
        let code: Code
        let ids: String
    }

    @Test("a new passcode costs what the policy says, and its slot says so")
    func costs() async throws {
        let policy = "DerivationMemory=20MiB\nDerivationPasses=3\n"
        let cost = try KeyDerivation.Cost(memoryKiB: 20 * 1024, passes: 3)
        try await Stage.run(policy, cost: Edges().cost) { stage in
            await made(stage)
            #expect(stage.store?.snapshot.passcodes.map(\.details.cost) == [cost])
        }
    }

    @Test(
        "a refusal has the code of the first rule that is not met, and the ids of all in order",
        arguments: [
            ("abc", Code.underMinLength, "minLength digit upper unique"),
            ("abcdefghijkl", .requiresDigit, "digit upper"),
            ("abcdefghijk1", .requiresUpper, "upper"),
            ("AB1AB1AB1AB1", .underMinUniqueCharacters, "unique"),
        ])
    func all(_ candidate: String, _ code: Code, _ ids: String) async throws {
        try await Stage.run("") { stage in
            await made(stage)
            await stage.change(
                "MinLength=12\nRequireUpper=yes\nRequireDigit=yes\nMinUniqueCharacters=8\n"
                    + "ChangeOnUpdate=noncompliant\n")
            let end = await change(stage, to: candidate)
            #expect(unmet(end) == Unmet(code: code, ids: ids), "\(end)")
            #expect(await change(stage, to: "Abcdefghijk1") == .success("change.done"))
        }
    }

    @Test("a new store, one that gets a passcode again, and a recovery have the same rules")
    func wherever() async throws {
        try await Stage.run("RequireDigit=yes\n") { stage in
            let refused = Unmet(code: .requiresDigit, ids: "digit")
            let bad = twice("no digit here at all")
            #expect(
                unmet(await create(stage, .ownPasscode, stage.script(bad, .program))) == refused)
            #expect(stage.store == nil)
            let good = stage.script(twice("1 digit at least", ["recovery.keep": ""]))
            #expect(await create(stage, .ownPasscode, good) == .success("create.done"))
            await stage.store?.lock()
            let key = ["recovery.prompt": good.revealed]
            let recovery = stage.script(bad.merging(key) { $1 }, .program)
            #expect(unmet(await stage.run(.recover(Target()), recovery)) == refused)
            let off = stage.script(["match.current": "1 digit at least"], .program)
            let without = Passcode(target: Target(), change: .turnOff)
            #expect(await stage.run(.passcode(without), off) == .success("off.done"))
            let on = Passcode(target: Target(), change: .turnOn)
            #expect(unmet(await stage.run(.passcode(on), stage.script(bad, .program))) == refused)
            #expect(stage.store?.hasPasscode == false)
        }
    }

    @Test("it has to differ from the present one, which nobody hears who does not know that one")
    func same() async throws {
        try await Stage.run("") { stage in
            await made(stage)
            let end = await change(stage, to: old)
            #expect(unmet(end) == Unmet(code: .sameAsCurrent, ids: "same"))
            guard
                case .failure(.refused(.invalidPasscode)) = await change(stage, to: old, from: "x")
            else {
                Issue.record("told of the present passcode")
                return
            }
        }
    }

    @Test(
        "three candidates where the person can be asked again, and one elsewhere",
        arguments: [(FrontEnd.terminal, 3), (.program, 1)])
    func candidates(_ frontEnd: FrontEnd, _ count: Int) async throws {
        try await Stage.run("") { stage in
            await made(stage)
            let script = stage.script(twice(old, ["match.current": old]), frontEnd)
            let request = Passcode(target: Target(), change: .change)
            let end = await stage.run(.passcode(request), script)
            #expect(unmet(end) == Unmet(code: .sameAsCurrent, ids: "same"))
            #expect(script.asked.count { $0 == "create.choose" } == count)
        }
    }

    @Test("a rule that cannot be run refuses a new one, and demands none of the present one")
    func notRun() async throws {
        try await Stage.run("") { stage in
            await made(stage)
            await stage.store?.lock()
            await stage.change(
                "ChangeOnUpdate=noncompliant\n"
                    + "[Rule company]\nDisplay=not the company's name\nReject=acme\n")
            #expect(await stage.opens(with: old))
            let end = await change(stage, to: new)
            #expect(unmet(end) == Unmet(code: .ruleFailed, ids: "rule.company"), "\(end)")
        }
    }

    // MARK: what is due

    @Test("only Enter at the new one cancels it, and the answer names the flow and its reason")
    func empty() async throws {
        try await Stage.run("") { stage in
            await made(stage)
            await stage.store?.lock()
            await stage.change("RequireDigit=yes\n")
            let script = stage.script(
                ["match.prompt": old, "notice.enter": "", "create.choose": ""], .program)
            #expect(
                await stage.run(.openStore(Target()), script)
                    == .failure(.refused(.changeRequired(.change, .policy))))
        }
    }

    @Test("what needs the passcode goes through what is due first")
    func first() async throws {
        try await Stage.run("") { stage in
            await made(stage)
            await stage.change("RequireDigit=yes\n")
            let script = stage.script(
                ["match.current": old, "notice.enter": "", "create.choose": ""])
            #expect(
                await stage.run(.recoveryNew(Target()), script)
                    == .failure(.refused(.changeRequired(.change, .policy))))
            #expect(script.asked == ["match.current", "notice.enter", "create.choose"])
            #expect(script.revealed == "")
        }
    }

    @Test("whoever changes it unasked while a change is due reads no notice, and none is due then")
    func unasked() async throws {
        try await Stage.run("") { stage in
            await made(stage)
            await stage.change("RequireDigit=yes\n")
            let script = stage.script(twice(new, ["match.current": old]))
            let request = Passcode(target: Target(), change: .change)
            #expect(await stage.run(.passcode(request), script) == .success("change.done"))
            #expect(script.asked == ["match.current", "create.choose", "create.confirm"])
            #expect(stage.store?.pending == nil)
            #expect(await stage.opens(with: new))
        }
    }

    @Test("a recovery that ends with its new passcode leaves nothing due")
    func recovered() async throws {
        try await Stage.run("") { stage in
            let key = await made(stage)
            let script = stage.script(twice(new, ["recovery.prompt": key]), .program)
            #expect(await stage.run(.recover(Target()), script) == .success("recovery.done"))
            #expect(stage.store?.pending == nil)
            #expect(await stage.opens(with: new))
        }
    }

    // MARK: without one

    @Test("only Enter goes on without one, where the policy allows that")
    func skipped() async throws {
        try await Stage.run("AllowNoPasscode=yes\n") { stage in
            let script = stage.script(["create.choose": "", "recovery.keep": ""])
            #expect(await create(stage, .ownPasscode, script) == .success("create.done.none"))
            #expect(script.shown.contains("create.skip"))
            #expect(stage.store?.hasPasscode == false)
        }
        try await Stage.run("AllowNoPasscode=no\n") { stage in
            let script = stage.script(["create.choose": "", "recovery.keep": ""])
            #expect(
                await create(stage, .ownPasscode, script) == .failure(.refused(.cancelled)))
            #expect(!script.shown.contains("create.skip"))
            #expect(stage.store == nil)
        }
    }

    @Test("NoPasscodeByDefault: a store begins without one, and needs one where that is forbidden")
    func byDefault() async throws {
        try await Stage.run("NoPasscodeByDefault=yes\n") { stage in
            _ = await create(stage, .usuallyOwnPasscode, stage.script([:]))
            await stage.store?.lock()
            let opens = stage.script([:])
            #expect(await stage.run(.openStore(Target()), opens) == .success("match.done"))
            await stage.store?.lock()
            await stage.change("NoPasscodeByDefault=yes\nAllowNoPasscode=no\n")
            let skips = stage.script(["notice.enter": "", "create.choose": ""], .program)
            #expect(
                await stage.run(.openStore(Target()), skips)
                    == .failure(.refused(.changeRequired(.create, .policy))))
            let types = stage.script(twice(new, ["notice.enter": ""]), .program)
            #expect(await stage.run(.openStore(Target()), types) == .success("match.done"))
            #expect(stage.store?.snapshot.hasDevice == false)
            #expect(await stage.opens(with: new))
        }
    }

    @Test("where the policy wants no passcodes, none can be changed or set; later one is asked for")
    func none() async throws {
        try await Stage.run(noPasscodes) { stage in
            _ = await create(stage, .usuallyOwnPasscode, stage.script([:]))
            for change in [Passcode.Change.change, .turnOn] {
                let script = stage.script(twice(new, ["match.current": new]), .program)
                #expect(
                    await stage.run(.passcode(Passcode(target: Target(), change: change)), script)
                        == .failure(.refused(.policyDenies(key: "UseDefaultPolicy"))))
                #expect(script.asked == [])
            }
            await stage.store?.lock()
            let opens = stage.script([:])
            #expect(await stage.run(.openStore(Target()), opens) == .success("match.done"))
            #expect(opens.asked == [])
            await stage.store?.lock()
            await stage.change("")
            let types = stage.script(twice(new, ["notice.enter": ""]), .program)
            #expect(await stage.run(.openStore(Target()), types) == .success("match.done"))
            #expect(stage.store?.hasPasscode == true)
            #expect(stage.store?.snapshot.hasDevice == false)
        }
    }

    @Test("the recovery key leads to what the policy wants, and to no passcode where it wants none")
    func recoveredToNone() async throws {
        try await Stage.run("") { stage in
            let key = await made(stage)
            await stage.store?.lock()
            await stage.change(noPasscodes)
            let script = stage.script(["recovery.prompt": key, "notice.enter": ""], .program)
            guard case .success = await stage.run(.recover(Target()), script) else {
                Issue.record("not recovered: \(script.asked)")
                return
            }
            #expect(stage.store?.hasRecovery == true)
            #expect(stage.store?.hasPasscode == false)
            #expect(stage.store?.snapshot.hasDevice == true)
        }
    }

    @Test("so does the login password of a store that lost touch with it")
    func resynced() async throws {
        try await Stage.run("") { stage in
            let follows = stage.script(["create.login-password": old, "recovery.keep": ""])
            #expect(await create(stage, .followLogin, follows) == .success("create.done"))
            await stage.store?.lock()
            await stage.change(noPasscodes)
            let script = stage.script(
                ["create.login-password": new, "drift.former": old, "notice.enter": ""], .program)
            guard case .success = await stage.run(.resync(Target()), script) else {
                Issue.record("not opened: \(script.asked)")
                return
            }
            #expect(stage.store?.hasPasscode == false)
            #expect(stage.store?.snapshot.hasDevice == true)
        }
    }
}
