import Fleet
import Posix
import StoreKeeping
import Testing
import Wire
import Words

@testable import VaultService

@Suite("people say to their organisation who they are")
struct SigningInTests {
    private static let passcode = "otter über badger 7"
    private static let answers = [
        "create.choose": passcode, "create.confirm": passcode, "match.prompt": passcode,
        "user": "alice", "word": "hunter2", "note": "", "signin.web": "signed-in",
        "notice.enter": "",
    ]

    private static func fields(_ version: Int = 1) -> String {
        """
        [Sign-in]
        Version=\(version)
        URL=https://id.example.org/appvault
        Title=Staff
        [Field user]
        Label=Name
        Kind=name
        Prefill={account}@example.org
        [Field word]
        Label=Password
        Kind=secret
        [Field note]
        Label=Note
        Kind=text
        Required=no
        """
    }

    private static let page = """
        [Sign-in]
        Version=1
        URL=https://id.example.org/appvault
        Title=Staff
        Page=https://id.example.org/device
        """

    /// At a machine whose organisation wants it.
    private func stage(
        _ signIn: String = fields(),
        _ body: @escaping @LoopActor @Sendable (Stage, PlayedOrganisation) async throws -> Void
    ) async throws {
        try await Stage.run("AllowRecoveryKey=no\n") { stage in
            stage.drawsScreens = true
            let organisation = PlayedOrganisation()
            try await stage.join(organisation)
            try await stage.take(try organisation.bundle(1, [.signin: signIn]))
            try await body(stage, organisation)
        }
    }

    @LoopActor
    private func create(
        _ stage: Stage, _ script: Script
    ) async -> Result<String, Interruption> {
        await stage.run(
            .create(Create(target: Target(), way: .ownPasscode, openExisting: false)), script)
    }

    @LoopActor
    private func open(_ stage: Stage, _ script: Script) async -> Result<String, Interruption> {
        await stage.run(.openStore(Target()), script)
    }

    @LoopActor
    private func isSignedIn(_ stage: Stage) -> Bool {
        let orders = stage.house.desk.orders
        return orders.signIn.map { orders.agreements(of: stage.alice).signedIn($0) != nil } ?? false
    }

    @Test("once, before a store is made; what was typed is handed in, and nothing else")
    func once() async throws {
        try await stage { stage, organisation in
            stage.server.answers = [PlayedServer.says(200)]
            let script = stage.script(Self.answers)
            script.once["user"] = "a\"\\\u{1}ü"
            #expect(await create(stage, script) == .success("create.done"))
            #expect(script.drawn == ["signin", "create.passcode"])
            let heard = try #require(stage.server.heard.first)
            #expect(heard.hasPrefix(#"{"version":1,"person":""#))
            #expect(
                heard.hasSuffix(
                    #""fields":{"user":"a\"\\\u0001ü","word":"hunter2","note":""}}"# + "\n"))
            #expect(isSignedIn(stage))
            let join = try Join(organisation.join)
            let report = try await stage.house.fleet.report(of: join, nil).render()
            #expect(String(decoding: report, as: UTF8.self).contains(" sign-in 1 yes "))
            await stage.store?.lock()
            let again = stage.script(Self.answers)
            #expect(await open(stage, again) == .success("match.done"))
            #expect(again.drawn == ["match"])
        }
    }

    @Test("the server's line is shown, and what was no secret stands there again")
    func refused() async throws {
        try await stage { stage, _ in
            stage.server.answers = [
                PlayedServer.says(401, "wrong \u{202E}password\nmore"), PlayedServer.says(403),
                PlayedServer.says(204),
            ]
            let script = stage.script(Self.answers)
            #expect(await create(stage, script) == .success("create.done"))
            #expect(script.drawn == ["signin", "signin", "signin", "create.passcode"])
            #expect(script.shown.filter { $0 == "signin.refused" }.count == 2)
            #expect(script.shown.filter { $0 == "signin.says" }.count == 1)
            #expect(!script.offered.contains("later"))
        }
        try await stage { stage, _ in
            let script = stage.script(Self.answers, at: (3, .cancels))
            stage.server.answers = [PlayedServer.says(401)]
            _ = await create(stage, script)
            #expect(script.prefilled == ["alice", "", ""])
        }
        try await stage { stage, _ in
            let script = stage.script(Self.answers, at: (0, .cancels))
            _ = await create(stage, script)
            #expect(script.prefilled == ["alice@example.org", "", ""])
        }
    }

    @Test("what is needed and left empty is not handed in")
    func missing() async throws {
        try await stage { stage, _ in
            stage.server.answers = [PlayedServer.says(200)]
            let script = stage.script(Self.answers)
            script.once["word"] = ""
            #expect(await create(stage, script) == .success("create.done"))
            #expect(script.shown.contains("signin.missing"))
            #expect(stage.server.heard.count == 1)
        }
        try await stage { stage, _ in
            let script = stage.script(Self.answers, at: (3, .cancels))
            script.typed["user"] = [0xFF, 0x41]
            #expect(await create(stage, script) == .failure(.refused(.cancelled)))
            #expect(stage.server.heard.isEmpty)
        }
    }

    @Test("whoever cancels, leaves, or is never taken has no store, and is asked the next time")
    func cancelled() async throws {
        for turn in [Script.Turn.cancels, .leaves] {
            try await stage { stage, _ in
                let script = stage.script(Self.answers, at: (1, turn))
                #expect((try? await create(stage, script).get()) == nil)
                #expect(stage.store == nil)
                #expect(stage.server.heard.isEmpty && !isSignedIn(stage))
            }
        }
        try await stage { stage, _ in
            stage.server.answers = Array(repeating: PlayedServer.says(401), count: 30)
            let script = stage.script(Self.answers)
            #expect(await create(stage, script) == .failure(.refused(.cancelled)))
            #expect(stage.server.heard.count == 10 && stage.store == nil)
        }
    }

    @Test("a store that is there opens without it, also where there is no way to the server")
    func later() async throws {
        try await stage { stage, organisation in
            stage.server.answers = [PlayedServer.says(200)]
            #expect(await create(stage, stage.script(Self.answers)) == .success("create.done"))
            try await stage.take(try organisation.bundle(2, [.signin: Self.fields(2)]))
            #expect(!isSignedIn(stage))
            await stage.store?.lock()
            let script = stage.script(Self.answers, at: (2, .first {}))
            script.afterwards = ["signin": "later"]
            #expect(await open(stage, script) == .success("match.done"))
            #expect(script.offered.contains("later") && stage.server.heard.count == 2)
            #expect(!isSignedIn(stage))
        }
    }

    @Test("a login asks nothing")
    func login() async throws {
        try await stage { stage, _ in
            let script = stage.script(Self.answers)
            script.drawsScreens = false
            #expect(await create(stage, script) == .success("create.done"))
            #expect(stage.server.heard.isEmpty && !isSignedIn(stage))
        }
    }

    @Test("an organisation that the machine leaves meanwhile is told nothing more, nor another one")
    func another() async throws {
        try await stage { stage, _ in
            let leaves = Script.Turn.first { try? await stage.leaveOrganisation() }
            let script = stage.script(Self.answers, at: (1, leaves))
            #expect(await create(stage, script) == .success("create.done"))
            #expect(stage.server.heard.isEmpty)
        }
        try await stage { stage, _ in
            stage.server.answers = [PlayedServer.says(200), PlayedServer.says(200)]
            stage.server.meanwhile = {
                stage.server.meanwhile = {}
                let other = PlayedOrganisation("other.example")
                try? await stage.leaveOrganisation()
                try? await stage.join(other)
                if let bundle = try? other.bundle(1, [.signin: Self.fields()]) {
                    try? await stage.take(bundle)
                }
            }
            let script = stage.script(Self.answers)
            #expect(await create(stage, script) == .success("create.done"))
            // Each of the two is signed in to by itself.
            #expect(stage.server.heard.count == 2 && isSignedIn(stage))
        }
    }

    @Test("a page shows one code, which is asked for as often as somebody says that they are done")
    func page() async throws {
        try await stage(Self.page) { stage, _ in
            stage.server.answers = [PlayedServer.says(202), PlayedServer.says(200)]
            let script = stage.script(Self.answers)
            #expect(await create(stage, script) == .success("create.done"))
            #expect(script.drawn == ["signin.web", "signin.web", "create.passcode"])
            #expect(script.shown.contains("signin.not-yet"))
            #expect(Set(stage.server.heard).count == 1)
            let heard = try #require(stage.server.heard.first)
            #expect(
                heard.contains(
                    /"code":"[B-DF-HJ-NP-TV-XZ]{4}-[B-DF-HJ-NP-TV-XZ]{4}"}/))
        }
    }
}
