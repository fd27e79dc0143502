import StoreKeeping
import Testing
import Wire
import Words

@testable import VaultService

@Suite("a store that its organisation wipes")
struct WipeTests {
    @Test("whoever asks while it is wiped hears who wipes it, and of no wrong passcodes")
    func reason() async throws {
        try await Stage.run("") { stage in
            await stage.run(
                .create(Create(target: Target(), way: .ownPasscode, openExisting: false)),
                stage.script([
                    "create.choose": "correct horse", "create.confirm": "correct horse",
                    "recovery.keep": "",
                ]))
            let store = try #require(stage.store)
            var told: Refusal?
            // Its keys are still on the disk then.
            store.whenErased = { host in told = host.gone }
            try await stage.house.desk.vault.obey(.wiped, store)
            #expect(told == .wiped(by: nil))
            #expect(store.gone == .wiped(by: nil))
        }
    }
}
