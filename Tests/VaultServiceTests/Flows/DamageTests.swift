import Posix
import Secrets
import StoreKeeping
import Testing
import Wire
import Words

@testable import VaultService

private let right = "correct horse battery"
private let loginPassword = "login password 1"

/// What a daemon before this one left: alice's store, and damage to its slots file.
@LoopActor
private func left(
    _ folder: String, knowsOwner: Bool = true, _ damage: ([UInt8]) -> [UInt8]
) async throws {
    let vault = Vault(stateFolder: folder)
    _ = await vault.open { _, _, _ in }
    let typed = try TypedPasscode(try SecretBytes(copying: Array(right.utf8).span))
    let alice = Person(uid: 4711, name: Array("alice".utf8))
    let made = try await vault.create(
        for: alice, Vault.Label([]), .with(.own(typed, digest: [UInt8](repeating: 0, count: 32))),
        .ofTests, .builtIn)
    await made.host.lock()
    let slots = "\(made.host.folder.path)/slots"
    try TextFile.replace(at: slots, with: damage(try TextFile.read(at: slots, limit: 100_000)))
    if !knowsOwner { try Folder(path: "\(folder)/owners").remove("\(made.host.id)") }
}

private func turned(_ bytes: [UInt8]) -> [UInt8] { bytes.map { $0 ^ 0x5A } }

@Suite("a damaged slots file, and who is told what")
struct DamageFlowTests {
    private func onStage<R: Sendable>(
        under policy: String = "", knowsOwner: Bool = true,
        _ damage: @escaping @Sendable ([UInt8]) -> [UInt8],
        _ body: @escaping @LoopActor @Sendable (Stage) async throws -> R
    ) async throws -> R {
        try await Stage.run(
            policy, before: { try await left($0, knowsOwner: knowsOwner, damage) }, body)
    }

    @Test(
        "its owner's login makes no second store beside it, and goes on",
        arguments: [Stack.step, .inFront, .behind])
    private func login(stack: Stack) async throws {
        try await onStage(turned) { stage in
            let script = stage.login([:])
            let entered = await stage.enter(stack, script, password: loginPassword)
            // As where there is no AppVault, unless an administrator made it a step of its own.
            #expect(entered.isIn == (stack != .step))
            #expect(entered.outcomes.allSatisfy { $0 == .unavailable || $0 == .ignore })
            #expect(script.asked.isEmpty)
            #expect(script.shown == ["store.damaged"])
            #expect(stage.house.desk.vault.all.count == 1)
        }
    }

    @Test("its owner is refused another one, and told so")
    private func create() async throws {
        try await onStage(turned) { stage in
            let script = stage.script(["create.choose": right, "create.confirm": right])
            let made = await stage.run(
                .create(Create(target: Target(), way: .ownPasscode, openExisting: false)), script)
            #expect(made == .failure(.refused(.storeDamaged(.slotsBlock(0)))))
            let state = try await stage.house.statuses.status(Target(), for: script.caller)
            #expect(state.lock == .damaged)
            #expect(!state.trouble.isEmpty)
            #expect(!state.advice.isEmpty)
        }
    }

    @Test("where nothing tells whose it is, nobody is held up, and root's doctor lists it")
    private func nobody() async throws {
        try await onStage(under: "Onboard=silent\n", knowsOwner: false, turned) { stage in
            let caller = stage.script([:]).caller
            let none = try await stage.house.statuses.status(Target(), for: caller)
            #expect(none.lock == .absent)
            let entered = await stage.enter(.behind, stage.login([:]), password: loginPassword)
            #expect(entered.isIn)
            #expect(stage.house.desk.vault.all.count == 2)
            #expect(stage.store?.health == .live)
            let nobody = try #require(stage.house.desk.vault.storesOfNobody.first)
            let root = stage.caller(Hello(frontEnd: .terminal, realUID: 0), uid: 0)
            let told = await stage.house.health.health(for: root)
            #expect(told.ownerless == [Wire.Health.Ownerless(store: nobody.id.bytes)])
            let bob = stage.caller(Hello(frontEnd: .terminal, realUID: 4712), uid: 4712)
            #expect(await stage.house.health.health(for: bob).ownerless.isEmpty)
            // What doctor says to do works, although there is another store by now.
            let owner = Subject(name: stage.alice.name, uid: stage.alice.uid)
            let rootAsks = stage.login([:])
            let moved = await stage.run(
                .chown(Chown(store: nobody.id.bytes, owner: owner)), rootAsks)
            #expect(moved == .success("chown.done"))
            #expect(await stage.house.health.health(for: root).ownerless.isEmpty)
            let target = Target(subject: owner, store: Array("\(nobody.id)".utf8))
            let status = try await stage.house.statuses.status(target, for: caller)
            #expect(status.lock == .damaged)
            #expect(await stage.run(.reset(target), rootAsks) == .success("reset.done"))
            #expect(stage.house.desk.vault.all.count == 1)
        }
    }

    @Test("whoever opens one that was damaged is told once, in a login and at a terminal")
    private func told() async throws {
        let damage: @Sendable ([UInt8]) -> [UInt8] = { bytes in
            var bytes = bytes
            bytes[4 * 4096 + 9] ^= 1
            bytes[3 * 4096 + 100] ^= 4
            return bytes
        }
        try await onStage(damage) { stage in
            for times in [1, 0] {
                await stage.store?.lock()
                let script = stage.script(["match.prompt": right])
                #expect(await stage.run(.openStore(Target()), script) == .success("match.done"))
                #expect(script.shown.count { $0 == "store.mended" } == times)
            }
        }
        try await onStage(damage) { stage in
            let script = stage.login(["match.prompt": right])
            #expect(await stage.enter(.step, script, password: loginPassword).isIn)
            #expect(script.shown.contains("store.mended"))
        }
    }

    @Test("who lost the recovery key is told, and offered another one")
    private func recoveryGone() async throws {
        try await onStage(
            { bytes in
                var bytes = bytes
                for index in 6 * 4096..<(6 * 4096 + 512) { bytes[index] ^= 0x3C }
                return bytes
            }
        ) { stage in
            let script = stage.script(["match.prompt": right])
            #expect(await stage.run(.openStore(Target()), script) == .success("match.done"))
            #expect(script.shown.contains("store.mended.no-recovery"))
            #expect(stage.store?.isRecoveryOfferDue(.builtIn) == true)
        }
    }
}
