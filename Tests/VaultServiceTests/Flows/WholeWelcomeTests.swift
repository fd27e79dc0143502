import Fleet
import Policy
import Posix
import StoreKeeping
import Testing
import Wire
import Words

@testable import VaultService

@Suite("the first meeting at an organisation's machine, whole, and broken off at each question")
struct WholeWelcomeTests {
    private static let answers = BrokenWelcomeTests.answers.merging([
        "consent.question": "y", "user": "alice", "word": "hunter2",
    ]) { $1 }
    /// More than there are questions.
    private static let most = 20
    private static let screens = [
        "welcome", "licence", "consent", "consent", "signin", "welcome.way", "create.passcode",
    ]

    private static let terms = """
        [Licence]
        Version=1
        Title=Terms

        a
        ---
        b
        [Consent must]
        Version=1
        Required=yes
        Title=Must

        c
        [Consent may]
        Version=1
        Required=no
        Title=May

        d
        """
    private static let signIn = """
        [Sign-in]
        Version=1
        URL=https://id.example.org/appvault
        Title=Staff
        [Field user]
        Label=Name
        Kind=name
        [Field word]
        Label=Password
        Kind=secret
        """

    private func stage(
        _ body: @escaping @LoopActor @Sendable (Stage) async throws -> Bool
    ) async throws -> Bool {
        try await Stage.run("", hasReader: true) { stage in
            stage.drawsScreens = true
            let organisation = PlayedOrganisation()
            try await stage.join(organisation)
            let parts: [Manifest.Part: String] = [.terms: Self.terms, .signin: Self.signIn]
            try await stage.take(try organisation.bundle(1, parts))
            stage.server.answers = [PlayedServer.says(200)]
            return try await body(stage)
        }
    }

    @LoopActor
    private func welcome(_ stage: Stage, _ script: Script) async -> Result<String, Interruption> {
        await stage.run(
            .create(Create(target: Target(), way: .guidedOwnPasscode, openExisting: false)),
            script)
    }

    @LoopActor
    private func script(_ stage: Stage, at turn: (Int, Script.Turn)? = nil) -> Script {
        let script = stage.script(Self.answers, at: turn)
        script.touches = [.enrolled(stage.print)]
        return script
    }

    @LoopActor
    private func isSignedIn(_ stage: Stage) -> Bool {
        let orders = stage.house.desk.orders
        return orders.signIn.map { orders.agreements(of: stage.alice).signedIn($0) != nil } ?? false
    }

    /// How many papers have an answer.
    @LoopActor
    private func answered(_ stage: Stage) -> Int {
        let orders = stage.house.desk.orders
        let said = orders.agreements(of: stage.alice)
        return orders.consents.items.count { said.answer(to: $0) != nil }
    }

    @Test("each screen in its order, to a store that the passcode opens")
    func whole() async throws {
        _ = try await stage { stage in
            let script = script(stage)
            #expect(await welcome(stage, script) == .success("create.done"))
            #expect(Array(script.drawn.prefix(Self.screens.count)) == Self.screens)
            #expect(script.drawn.last == "welcome.ready")
            #expect(answered(stage) == 3 && isSignedIn(stage))
            #expect(stage.store?.hasRecovery == true && stage.store?.fingerprintIsOn == true)
            #expect(await stage.opens(with: BrokenWelcomeTests.passcode))
            return true
        }
    }

    @Test(
        "what was answered stays answered, nothing is half made, and the next time it goes on",
        arguments: [false, true])
    func broken(cancels: Bool) async throws {
        for question in 0..<Self.most {
            let isLast = try await stage { stage in
                let first = script(stage, at: (question, cancels ? .cancels : .leaves))
                _ = await welcome(stage, first)
                guard first.asked.count > question else { return true }
                // The last of them is the one that was not answered.
                let answeredNow = first.asked.dropLast()
                #expect(answered(stage) == answeredNow.count { $0 == "consent.question" })
                #expect(isSignedIn(stage) == answeredNow.contains("word"))
                #expect((stage.store != nil) == answeredNow.contains("create.confirm"))
                let handed = stage.server.heard.count
                let second = script(stage)
                #expect((try? await welcome(stage, second).get()) != nil, "\(first.asked)")
                // Nothing that was answered is asked again, and nothing is handed in twice.
                #expect(stage.server.heard.count == 1 && handed <= 1)
                #expect(
                    answeredNow.count { $0 == "consent.question" }
                        + second.asked.count { $0 == "consent.question" } == 3)
                #expect(await stage.opens(with: BrokenWelcomeTests.passcode))
                return false
            }
            if isLast { return }
        }
        Issue.record("it never ended")
    }
}
