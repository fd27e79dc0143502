import AppVaultJSON
import Testing

@testable import AppVault

@Suite("a store of AppVault", .enabled(if: PrivateDaemon.isThere), .timeLimit(.minutes(20)))
struct StoreTests {
    let passcode = "correct horse"

    @Test("a record is what was stored, over the real daemon")
    func record() async throws {
        let daemon = try PrivateDaemon()
        let vault = try await daemon.connect()
        let prompter = ScriptedPrompter(passcodes: [passcode, passcode])
        let store = try await vault.openStore(orCreate: .ownPasscode, with: prompter)
        #expect(prompter.asked.map(\.purpose) == [.newPasscode, .confirmPasscode])
        #expect(prompter.asked.map(\.mode) == [.create, .create])
        #expect(prompter.asked[0].checklist.contains { $0.id == "minLength" })
        try await store.set([1, 2, 3], for: "token")
        #expect(try await store.get("token") == [1, 2, 3])
        #expect(try await store.get("other") == nil)
        #expect(try await store.names() == ["token"])
        #expect(try await store.delete("token"))
        #expect(try await !store.delete("token"))
        struct Account: Codable, Equatable {
            var user: String
        }
        try await store.setValue(Account(user: "ann"), for: "imap")
        #expect(try await store.value(Account.self, for: "imap") == Account(user: "ann"))
    }

    private func made(
        _ daemon: PrivateDaemon, hooks: PromptHooks = .none
    ) async throws -> (vault: Vault, store: Store) {
        let vault = try await daemon.connect(hooks: hooks)
        let store = try await vault.openStore(
            orCreate: .ownPasscode, with: ScriptedPrompter(passcodes: [passcode, passcode]))
        return (vault, store)
    }

    @Test("of two programs that make the same store one makes it, and both have it")
    func race() async throws {
        let daemon = try PrivateDaemon()
        let vaults = try await [daemon.connect(), daemon.connect(), daemon.connect()]
        let hooked = Counter()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for vault in vaults {
                group.addTask {
                    let store = try await vault.openStore("mail", orCreate: .noPasscode)
                    try await store.set([1], for: RecordName("\(hooked.next())"))
                }
            }
            try await group.waitForAll()
        }
        #expect(try await vaults[0].stores().map(\.name) == ["mail"])
        #expect(try await vaults[0].store("mail").names().count == 3)
    }

    @Test("a store that does not exist is not made by itself")
    func absent() async throws {
        let daemon = try PrivateDaemon()
        let vault = try await daemon.connect()
        let error = await #expect(throws: VaultError.self) { try await vault.openStore("x") }
        #expect(error?.code == .doesNotExist)
        let store = try vault.store("x")
        let read = await #expect(throws: VaultError.self) { try await store.get("a") }
        #expect(read?.code == .doesNotExist)
        #expect(try await store.state().lock == .absent)
    }

    @Test("a locked store opens with the passcode, and a wrong one is asked for again")
    func locked() async throws {
        let told = Told()
        let daemon = try PrivateDaemon()
        let (_, store) = try await made(daemon, hooks: PromptHooks { told.append($0) })
        try await store.set([1], for: "a")
        try await store.lock()
        #expect(try await store.state().lock == .locked)
        let error = await #expect(throws: VaultError.self) { try await store.get("a") }
        #expect(error?.code == .locked)
        let prompter = ScriptedPrompter(passcodes: ["wrong", passcode])
        try await store.unlock(with: prompter)
        #expect(prompter.asked.map(\.mode) == [.match, .match])
        #expect(prompter.shown.contains { $0.isError })
        #expect(try await store.get("a") == [1])
        let tries = told.all.filter { $0.kind == .tried }
        #expect(tries.map(\.code) == [.invalidPasscode, nil])
        #expect(told.all.filter { $0.kind == .validate }.map(\.code) == [nil, nil])
        // Open already: nobody is asked.
        try await store.unlock()
    }

    @Test("who cancels, and who cannot answer, opens nothing")
    func refused() async throws {
        let daemon = try PrivateDaemon()
        let (_, store) = try await made(daemon)
        try await store.lock()
        let cancelled = await #expect(throws: VaultError.self) {
            try await store.unlock(with: ScriptedPrompter(passcodes: []))
        }
        #expect(cancelled?.code == .cancelled)
        let nobody = await #expect(throws: VaultError.self) { try await store.unlock() }
        #expect(nobody?.code == .passcodeRequired)
        let wrong = await #expect(throws: VaultError.self) {
            try await store.unlock(with: ScriptedPrompter(passcodes: ["x", "y", "z", "z"]))
        }
        #expect(wrong?.code == .invalidPasscode)
        let long = await #expect(throws: VaultError.self) {
            try await store.unlock(
                with: ScriptedPrompter(passcodes: [String(repeating: "x", count: 2000)]))
        }
        #expect(long?.code == .tooLarge)
        #expect(try await store.state().lock == .locked)
    }

    @Test("somebody else at the passcode opens nothing, and the program hears who it is")
    func somebodyElse() async throws {
        let daemon = try PrivateDaemon()
        let (_, store) = try await made(daemon)
        try await store.lock()
        let new = await #expect(throws: VaultError.self) {
            try await store.unlock(with: ScriptedPrompter { _ in .addUser })
        }
        #expect(new?.code == .addUser)
        let other = await #expect(throws: VaultError.self) {
            try await store.unlock(with: ScriptedPrompter { _ in .switchUser(to: "Ben") })
        }
        #expect(other?.code == .switchUser)
        #expect(other?.parameters == ["to": "Ben"])
        let state = try await store.state()
        #expect(state.lock == .locked)
        // The connection goes on.
        try await store.unlock(with: ScriptedPrompter(passcodes: [passcode]))
    }

    @Test("a new passcode is judged while it is typed, and one that falls short is refused")
    func judged() async throws {
        let daemon = try PrivateDaemon(policy: "MinLength=6\nRequireDigit=yes")
        let (_, store) = try await made2(daemon, "correct horse 1")
        let short = try await store.judge(SecretBytes(copying: "abc"))
        #expect(short.first { $0.id == "minLength" }?.finding == .unmet)
        #expect(short.first { $0.id == "digit" }?.finding == .unmet)
        let good = try await store.judge(SecretBytes(copying: "abcdef1"))
        #expect(!good.contains { $0.finding == .unmet })
        let prompter = ScriptedPrompter(
            passcodes: ["correct horse 1", "abc", "new horse 2", "new horse 2"])
        try await store.perform(.changePasscode, with: prompter)
        #expect(
            prompter.asked.map(\.purpose)
                == [.passcode, .newPasscode, .newPasscode, .confirmPasscode])
        #expect(prompter.asked.map(\.mode) == [.matchForChange, .change, .change, .change])
        try await store.lock()
        try await store.unlock(with: ScriptedPrompter(passcodes: ["new horse 2"]))
    }

    @Test("hooks hear why each entry was refused, as far as the daemon tells")
    func codes() async throws {
        let told = Told()
        let daemon = try PrivateDaemon(policy: "MinLength=6\nRequireDigit=yes")
        let vault = try await daemon.connect(hooks: PromptHooks { told.append($0) })
        let first = "correct horse 1"
        let store = try await vault.createStore(
            .default, .ownPasscode,
            with: ScriptedPrompter(passcodes: ["abc", "abcdef", first, first]))
        #expect(told.all.map(\.code) == [.invalidArgument, .requiresDigit, nil, nil])
        let change = await #expect(throws: VaultError.self) {
            try await store.perform(
                .changePasscode,
                with: ScriptedPrompter(passcodes: [first, first, "new horse 2", "other", ""]))
        }
        #expect(change?.code == .cancelled)
        let changing = told.all.dropFirst(4)
        #expect(changing.map(\.kind) == [.tried, .validate, .validate, .validate, .cancel])
        #expect(changing.map(\.code) == [nil, .sameAsCurrent, nil, .noMatch, nil])
        try await store.lock()
        let wrong = await #expect(throws: VaultError.self) {
            try await store.unlock(with: ScriptedPrompter(passcodes: ["x", "y", "z"]))
        }
        #expect(wrong?.code == .invalidPasscode)
        let empty = await #expect(throws: VaultError.self) {
            try await store.unlock(with: ScriptedPrompter(passcodes: [""]))
        }
        #expect(empty?.code == .cancelled)
        let opening = told.all.dropFirst(9)
        #expect(opening.map(\.kind) == [.tried, .tried, .tried, .cancel])
        #expect(
            opening.map(\.code) == [.invalidPasscode, .invalidPasscode, .invalidPasscode, nil])
    }

    @Test("an error names the store that is missing, and not the one that was to follow it")
    func missingParent() async throws {
        let daemon = try PrivateDaemon()
        let vault = try await daemon.connect()
        for (new, missing) in [
            (NewStore.following(.default), "default"), (.following("work"), "work"),
            (.shared, "default"),
        ] {
            let error = await #expect(throws: VaultError.self) {
                try await vault.openStore("mail", orCreate: new)
            }
            #expect(error?.code == .doesNotExist)
            #expect(error?.message == "there is no store \(missing)")
        }
    }

    private func made2(
        _ daemon: PrivateDaemon, _ passcode: String
    ) async throws -> (Vault, Store) {
        let vault = try await daemon.connect()
        return (
            vault,
            try await vault.createStore(
                .default, .ownPasscode, with: ScriptedPrompter(passcodes: [passcode, passcode]))
        )
    }

    @Test("a recovery key is shown on a terminal, and opens the store for a new passcode")
    func recovery() async throws {
        let daemon = try PrivateDaemon()
        let (_, store) = try await made(daemon)
        let prompter = ScriptedPrompter(passcodes: [passcode], kind: .terminal)
        try await store.perform(.newRecoveryKey, with: prompter)
        let key = try #require(prompter.revealed.first)
        try await store.recover(
            with: ScriptedPrompter(passcodes: [key, "another horse", "another horse"]))
        #expect(try await store.state().hasRecoveryKey)
        try await store.lock()
        try await store.unlock(with: ScriptedPrompter(passcodes: ["another horse"]))
    }

    @Test("a store that follows another one opens and locks with it")
    func follower() async throws {
        let daemon = try PrivateDaemon()
        let (vault, store) = try await made(daemon)
        let mail = try await vault.openStore("mail", orCreate: .following(.default))
        try await mail.set([1], for: "a")
        let state = try await mail.state()
        #expect(state.kind == .follows)
        #expect(state.parent == .default)
        try await store.lock()
        #expect(try await mail.state().lock == .locked)
        let renamed = try await mail.rename(to: "post")
        #expect(try await !mail.state().exists)
        #expect(try await renamed.state().exists)
        let id = try #require(StoreID("00112233-4455-6677-8899-aabbccddeeff"))
        try await store.unlock(with: ScriptedPrompter(passcodes: [passcode]))
        let fixed = try await vault.createStore("fixed", NewStore.following(.default).withID(id))
        #expect(try await fixed.state().id == id)
        #expect(id.description == "00112233-4455-6677-8899-aabbccddeeff")
    }

    @Test("who has made a passcode up is kept with it, and a program's own opens its store")
    func source() async throws {
        let daemon = try PrivateDaemon()
        let (vault, store) = try await made(daemon)
        #expect(try await store.state().passcodeSource == .user)
        let fixed = FixedPrompter(passcode: SecretBytes(copying: "made up by a device"))
        let own = try await vault.createStore("own", .ownPasscode, with: fixed)
        #expect(try await own.state().passcodeSource == .device)
        try await own.lock()
        try await own.unlock(with: fixed)
        try await own.set([1], for: "a")
        // A wrong one is not tried again and again.
        try await own.lock()
        let wrong = FixedPrompter(passcode: SecretBytes(copying: "of another device"))
        let error = await #expect(throws: VaultError.self) { try await own.unlock(with: wrong) }
        #expect(error?.code == .invalidPasscode)
    }

    @Test("what may be done is listed, held stores stay open, and the policy is told")
    func actions() async throws {
        let daemon = try PrivateDaemon(policy: "RetryLimit=7")
        let (_, store) = try await made(daemon)
        let actions = try await store.actions()
        #expect(actions.first { $0.action == .changePasscode }?.isAllowed == true)
        let create = actions.first { $0.action == .createPasscode }
        #expect(create?.isAllowed == false && create?.refusal?.code == .invalidAction)
        #expect(try await store.policy().values["RetryLimit"] == "7")
        try await store.hold(seconds: 600, with: ScriptedPrompter(passcodes: [passcode]))
        #expect(try await store.state().heldUntil != nil)
        try await store.resume()
        #expect(try await store.state().heldUntil == nil)
        let unknown = await #expect(throws: VaultError.self) {
            try await store.perform(StoreAction(rawValue: "fly"))
        }
        #expect(unknown?.code == .invalidAction)
        try await store.reset(with: ScriptedPrompter(passcodes: [passcode]))
        #expect(try await !store.state().exists)
    }

    @Test("a shared store names its members")
    func shared() async throws {
        let daemon = try PrivateDaemon()
        let (vault, _) = try await made(daemon)
        let team = try await vault.openStore("team", orCreate: .shared)
        let members = try await team.members()
        #expect(members.map(\.role) == [.owner])
        let error = await #expect(throws: VaultError.self) {
            try await team.share(
                to: .person("nobody-of-that-name"),
                with: ScriptedPrompter(passcodes: [passcode]))
        }
        #expect(error?.code == .doesNotExist)
    }

    @Test("each listener hears that the store is locked and opened, by whomever")
    func events() async throws {
        let daemon = try PrivateDaemon()
        let (_, store) = try await made(daemon)
        let other = try await daemon.connect().store()
        var events = store.events().makeAsyncIterator()
        try await other.lock()
        while let event = await events.next(), event.kind != .locked {}
        try await other.unlock(with: ScriptedPrompter(passcodes: [passcode]))
        while let event = await events.next(), event.kind != .opened {}
        try await other.set([1], for: "a")
        while let event = await events.next(), event.kind != .recordsChanged {}
        // A daemon that goes and comes back may have done anything meanwhile.
        daemon.stop()
        try daemon.start()
        while let event = await events.next(), event.kind != .missed {}
    }

    @Test("a thousand calls at once are all answered")
    func thousand() async throws {
        let daemon = try PrivateDaemon()
        let vault = try await daemon.connect()
        let store = try await vault.openStore(orCreate: .noPasscode)
        try await store.set([7], for: "a")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<1000 {
                group.addTask {
                    let value = try await store.get("a")
                    #expect(value == [7])
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("a question to a person holds up no other call")
    func meanwhile() async throws {
        let daemon = try PrivateDaemon()
        let (vault, store) = try await made(daemon)
        let open = try await vault.openStore("open", orCreate: .noPasscode)
        let (shown, answer) = (Gate(), Gate())
        let passcode = self.passcode
        let change = Task {
            try await store.perform(
                .changePasscode,
                with: ScriptedPrompter { _ in
                    shown.open()
                    await answer.wait()
                    return .text(passcode)
                })
        }
        await shown.wait()
        try await open.set([1], for: "a")
        #expect(try await open.get("a") == [1])
        answer.open()
        // The new one is the present one, each time.
        let error = await #expect(throws: VaultError.self) { try await change.value }
        #expect(error?.code == .sameAsCurrent)
    }

    @Test("a daemon that is restarted, killed or stopped under calls makes none of them hang")
    func restarts() async throws {
        let daemon = try PrivateDaemon()
        let vault = try await daemon.connect()
        let store = try await vault.openStore(orCreate: .noPasscode)
        try await store.set([7], for: "a")
        let isOver = Gate()
        let answered = Counter()
        let calls = Task {
            var codes: Set<VaultError.Code> = []
            while !isOver.isOpen {
                do throws(VaultError) {
                    _ = try await store.get("a")
                    try await store.set([7], for: "a")
                    answered.next()
                } catch {
                    codes.insert(error.code)
                    if error.code == .locked { _ = try? await store.unlock() }
                }
            }
            return codes
        }
        for round in 0...4 {
            // After each restart calls are answered again.
            let before = answered.value
            while answered.value == before {
                try await Task.sleep(for: .milliseconds(5))
            }
            guard round < 4 else { break }
            try await Task.sleep(for: .milliseconds(50))
            if round % 2 == 0 { daemon.stop() } else { daemon.kill() }
            try daemon.start()
        }
        isOver.open()
        let codes = await calls.value
        #expect(
            codes.isSubset(of: [
                .notRunning, .connectionLost, .outcomeUnknown, .locked, .connectionFailed,
            ]), "\(codes)")
        try await store.unlock()
        #expect(try await store.get("a") == [7])
    }

    @Test(
        "a daemon that stands still is not waited for for ever, and is used again when it goes on")
    func standsStill() async throws {
        let daemon = try PrivateDaemon()
        var waits = Waits()
        waits.silence = 2_000
        let store = try await daemon.connect(waits: waits).openStore(orCreate: .noPasscode)
        daemon.pause()
        let error = await #expect(throws: VaultError.self) { try await store.get("a") }
        #expect(error?.code == .noAnswer)
        daemon.resume()
        #expect(try await store.get("a") == nil)
    }

    @Test(
        "the life of a store in AppVault: made, undone, opened, locked in the background, removed")
    func life() async throws {
        let daemon = try PrivateDaemon()
        let vault = try await daemon.connect()
        let storage = VaultStorage(vault, creating: .ownPasscode)
        let twice = ScriptedPrompter(passcodes: [passcode, passcode])
        let failed = await #expect(throws: VaultError.self) {
            try await Lifecycle(storage, prompter: twice).onboard(
                steps: [Step("fails") { _ in throw CancellationError() }])
        }
        #expect(failed?.code == .cancelled)
        #expect(twice.asked.count == 2, "nobody is asked for the passcode of what is undone")
        #expect(try await !storage.exists(.default))
        let prompter = ScriptedPrompter(passcodes: [passcode, passcode, passcode, passcode])
        let life = Lifecycle(storage, prompter: prompter)
        let store = try await life.onboard(steps: [.storing(["server": [1]])])
        #expect(try await life.background())
        #expect(try await store.state().lock == .locked)
        let restored = try await life.onboard(runRestoreIfStoreExists: true)
        #expect(try await restored.get("server") == [1])
        try await life.reset()
        #expect(try await !storage.exists(.default))
    }
}
