import Policy
import Posix
import StoreKeeping
import Testing
import Wire
import Words

@testable import VaultService

@Suite("several people at one account")
struct PeopleTests {
    static let passcodes = ["": "correct horse", "work": "another horse", "Ben": "a third horse 3"]
    /// What is typed to add Ben.
    static let adding = [
        "people": "add", "people.question": "", "people.add.name": "Ben",
        "create.choose": "a third horse 3", "create.confirm": "a third horse 3",
        "recovery.keep": "", "fingerprint.offer": "n",
    ]
    static let removing = [
        "people": "remove", "people.question": "2", "people.remove.name": "work",
        "match.current": "another horse",
    ]

    /// `default` and `work`, the first of them open.
    @LoopActor
    private func settle(_ stage: Stage) async {
        for name in ["", "work"] {
            var target = Target()
            target.store = Array(name.utf8)
            let passcode = Self.passcodes[name] ?? ""
            let done = await stage.run(
                .create(Create(target: target, way: .ownPasscode, openExisting: false)),
                stage.script([
                    "create.choose": passcode, "create.confirm": passcode, "recovery.keep": "",
                    "fingerprint.offer": "n",
                ]))
            #expect(done == .success("create.done"))
        }
        await host(stage, "work")?.lock()
        #expect(states(stage) == ["default": true, "work": false])
    }

    @LoopActor
    private func host(_ stage: Stage, _ name: String) -> StoreHost? {
        stage.house.desk.vault.ownStore(of: stage.alice, named: Array(name.utf8))
    }

    /// Which stores there are, and which of them are open.
    @LoopActor
    private func states(_ stage: Stage) -> [String: Bool] {
        var states: [String: Bool] = [:]
        for host in stage.house.desk.vault.stores(of: stage.alice.uid) {
            states[String(decoding: host.identity.storeName, as: UTF8.self)] = host.isOpen
        }
        return states
    }

    @LoopActor
    private func run(
        _ stage: Stage, _ act: SwitchStore.Act, _ script: Script, name: String = ""
    ) async -> Result<String, Interruption> {
        await stage.run(.switchStore(SwitchStore(store: Array(name.utf8), act: act)), script)
    }

    @LoopActor
    private func opens(_ stage: Stage, _ name: String) async -> Bool {
        await host(stage, name)?.lock()
        let script = stage.script(["match.prompt": Self.passcodes[name] ?? ""])
        return await run(stage, .open, script, name: name) == .success("people.switched")
    }

    @Test("somebody who is added has a store with their own passcode, and it is the open one")
    func adds() async throws {
        try await Stage.run("") { stage in
            await settle(stage)
            stage.drawsScreens = true
            let script = stage.script(Self.adding)
            #expect(await run(stage, .ask, script) == .success("people.switched"))
            #expect(script.drawn == ["people", "people.add", "create.passcode"])
            #expect(script.shown.contains("create.done"))
            #expect(states(stage) == ["default": false, "work": false, "Ben": true])
            #expect(host(stage, "Ben")?.hasRecovery == true)
            #expect(await opens(stage, "work"))
            #expect(await opens(stage, "Ben"))
            let wrong = stage.script(["match.prompt": "another horse"])
            #expect(await run(stage, .open, wrong, name: "") != .success("people.switched"))
        }
    }

    @Test("by lines the name is asked for, or it came with the request", arguments: ["", "Ben"])
    func addsByLines(_ name: String) async throws {
        try await Stage.run("") { stage in
            await settle(stage)
            let script = stage.script(Self.adding)
            #expect(await run(stage, .add, script, name: name) == .success("people.switched"))
            #expect(script.asked.contains("people.add.name") == name.isEmpty)
            #expect(script.drawn == [])
            #expect(states(stage) == ["default": false, "work": false, "Ben": true])
        }
    }

    @Test("who is added has a passcode, whatever the policy allows")
    func noneWithout() async throws {
        try await Stage.run("AllowNoPasscode=yes\n") { stage in
            await settle(stage)
            let empty = Self.adding.merging(["create.choose": "", "create.confirm": ""]) { $1 }
            let end = await run(stage, .add, stage.script(empty), name: "Ben")
            #expect(end == .failure(.refused(.cancelled)))
            #expect(states(stage) == ["default": true, "work": false])
        }
    }

    @Test(
        "a name that is taken, or none, is asked for again, three times", arguments: [true, false])
    func names(isDrawn: Bool) async throws {
        try await Stage.run("") { stage in
            await settle(stage)
            stage.drawsScreens = isDrawn
            for (name, line) in [("work", "taken"), ("a/b", "wrong"), ("a\nb", "wrong")] {
                let once = stage.script(Self.adding)
                once.once["people.add.name"] = name
                let wrong = stage.script(Self.adding.merging(["people.add.name": name]) { $1 })
                #expect(await run(stage, .add, wrong) == .failure(.refused(.cancelled)))
                #expect(wrong.asked.filter { $0 == "people.add.name" }.count == 3)
                #expect(wrong.shown.contains("people.add.\(line)"))
                #expect(states(stage) == ["default": true, "work": false])
                guard name == "work" else { continue }
                let named = stage.script(Self.adding)
                #expect(
                    await run(stage, .add, named, name: name) == .failure(.refused(.alreadyExists)))
                #expect(states(stage) == ["default": true, "work": false])
            }
            let script = stage.script(Self.adding.merging(["people.add.name": " Ben "]) { $1 })
            script.once["people.add.name"] = "work"
            #expect(await run(stage, .add, script) == .success("people.switched"))
            #expect(states(stage)["Ben"] == true)
        }
    }

    /// Whoever goes at a question: what is open is what was open, and who was added can be opened.
    @Test(
        "whoever goes while somebody is added shuts nothing, and leaves nothing open",
        arguments: [false, true], [false, true])
    func leavesAdding(isDrawn: Bool, cancels: Bool) async throws {
        for question in 0..<9 {
            let isLast = try await Stage.run("", hasReader: true) { stage in
                await settle(stage)
                stage.drawsScreens = isDrawn
                let script = stage.script(
                    Self.adding, at: (question, cancels ? .cancels : .leaves))
                let end = await run(stage, isDrawn ? .ask : .add, script)
                if end == .success("people.switched") {
                    #expect(states(stage) == ["default": false, "work": false, "Ben": true])
                    return script.asked.count <= question
                }
                #expect(states(stage)["default"] == true)
                #expect(states(stage)["work"] == false)
                if let isOpen = states(stage)["Ben"] {
                    #expect(!isOpen)
                    #expect(await opens(stage, "Ben"))
                }
                return false
            }
            if isLast { return }
        }
        Issue.record("it never ended")
    }

    @Test("a policy that comes at a question is the one that holds for who is added")
    func policyWhileAdding() async throws {
        var asked = 9
        for question in 0..<5 where question < asked {
            asked = try await Stage.run("") { stage in
                await settle(stage)
                stage.drawsScreens = true
                let script = stage.script(
                    Self.adding,
                    at: (question, .first { await stage.change("MinLength=40\n") }))
                let end = await run(stage, .ask, script)
                // Once the passcode is there, a new rule is due at its next use.
                let isMade = script.asked.contains("recovery.keep")
                #expect((end == .success("people.switched")) == isMade, "\(question) \(end)")
                #expect((states(stage)["Ben"] == true) == isMade)
                #expect((states(stage)["default"] == true) == !isMade)
                return script.asked.count
            }
        }
    }

    @Test("whoever is removed is gone with all that is theirs, once name and passcode were typed")
    func removes() async throws {
        try await Stage.run("") { stage in
            await settle(stage)
            stage.drawsScreens = true
            for wrong in [["people.remove.name": "Work"], ["match.current": "correct horse"]] {
                let script = stage.script(Self.removing.merging(wrong) { $1 })
                #expect(await run(stage, .ask, script) != .success("people.removed"))
                #expect(states(stage) == ["default": true, "work": false])
            }
            let script = stage.script(Self.removing)
            #expect(await run(stage, .ask, script) == .success("people.removed"))
            #expect(script.drawn == ["people", "people.remove", "match.current"])
            #expect(states(stage) == ["default": true])
            let last = stage.script([
                "people": "remove", "people.question": "1", "people.remove.name": "default",
                "match.current": "correct horse",
            ])
            #expect(await run(stage, .ask, last) == .success("people.removed.last"))
            #expect(states(stage) == [:])
            #expect(
                await run(stage, .ask, stage.script([:]))
                    == .failure(.refused(.doesNotExist(.store))))
        }
    }

    @Test("whoever goes at a question removes nobody", arguments: [false, true])
    func leavesRemoving(cancels: Bool) async throws {
        try await Stage.run("") { stage in
            await settle(stage)
            stage.drawsScreens = true
            for question in 0..<3 {
                let script = stage.script(
                    Self.removing, at: (question, cancels ? .cancels : .leaves))
                #expect(await run(stage, .ask, script) != .success("people.removed"))
                #expect(states(stage) == ["default": true, "work": false])
            }
        }
    }

    @Test("what follows it is named before, and another one that got its name meanwhile stays")
    func removesThatOne() async throws {
        try await Stage.run("") { stage in
            await settle(stage)
            var mail = Create(
                target: Target(subject: Subject(), store: Array("mail".utf8)), way: .followStore,
                openExisting: false)
            mail.parent = Array("work".utf8)
            #expect(await opens(stage, "work"))
            #expect(
                await stage.run(.create(mail), stage.script([:]))
                    == .success("create.done.following"))
            stage.drawsScreens = true
            let script = stage.script(
                Self.removing,
                at: (
                    2,
                    .first {
                        let vault = stage.house.desk.vault
                        guard let work = self.host(stage, "work"),
                            let other = self.host(stage, "")
                        else { return }
                        try? await vault.rename(work, to: Array("office".utf8))
                        try? await vault.rename(other, to: Array("work".utf8))
                    }
                ))
            #expect(await run(stage, .ask, script) == .success("people.removed"))
            #expect(script.shown.contains("people.remove.along"))
            #expect(Set(states(stage).keys) == ["work", "mail"])
            #expect(host(stage, "work")?.isUsable == true)
        }
    }

    @Test("a number means the same one whenever they were made: `default`, then by name")
    func order() async throws {
        try await Stage.run("") { stage in
            await settle(stage)
            for name in ["zoe", "Ben"] {
                let script = stage.script(Self.adding.merging(["people.add.name": name]) { $1 })
                #expect(await run(stage, .add, script) == .success("people.switched"))
            }
            for (number, name) in [("1", "default"), ("2", "Ben"), ("3", "work"), ("4", "zoe")] {
                #expect(
                    await run(stage, .tell, stage.script(["people.question": number]))
                        == .failure(.refused(.switchUser(to: Array(name.utf8)))))
            }
        }
    }

    @Test("what another account of the same number left behind is nobody here")
    func strays() async throws {
        try await Stage.run("") { stage in
            await settle(stage)
            let former = Person(uid: stage.alice.uid, name: Array("mallory".utf8))
            let work = try #require(host(stage, "work"))
            try await stage.house.desk.vault.chown(work, to: former)
            #expect(
                await run(stage, .tell, stage.script(["people.question": "2"]))
                    == .failure(.refused(.cancelled)))
            let script = stage.script(["people.question": "1"])
            #expect(
                await run(stage, .tell, script)
                    == .failure(.refused(.switchUser(to: Array("default".utf8)))))
        }
    }

    @Test(
        "a program that asks who it is hears it, and nothing is opened", arguments: [false, true])
    func tells(isDrawn: Bool) async throws {
        try await Stage.run("") { stage in
            await settle(stage)
            stage.drawsScreens = isDrawn
            let script = stage.script(["people.question": "2"])
            #expect(
                await run(stage, .tell, script)
                    == .failure(.refused(.switchUser(to: Array("work".utf8)))))
            #expect(script.asked == ["people.question"])
            #expect(Refusal.switchUser(to: Array("work".utf8)).code.rawValue == 45)
            #expect(Refusal.addUser.code.rawValue == 44)
            if isDrawn {
                let add = stage.script(["people": "add", "people.question": ""])
                #expect(await run(stage, .tell, add) == .failure(.refused(.addUser)))
                // There is no such way: what Enter does is left.
                let remove = stage.script(["people": "remove", "people.question": "2"])
                #expect(
                    await run(stage, .tell, remove)
                        == .failure(.refused(.switchUser(to: Array("work".utf8)))))
            }
            #expect(states(stage) == ["default": true, "work": false])
        }
    }
}
