import Fleet
import Posix
import Secrets
import StoreKeeping
import Testing
import Wire
import Words
import WorkerLinks

@testable import VaultService

@Suite("joining an organisation by an invitation")
struct JoinTests {
    private let organisation = PlayedOrganisation()
    private static let answers = ["notice.enter": "", "join.question": "y"]

    private func link() throws -> String {
        guard let host = JoinHost(Array("fleet.example.org".utf8)) else { throw Fault.noHost }
        return JoinLink(
            host: host, fingerprint: try Hash.sha256(organisation.join.span),
            token: "Zm9vYmFyYmF6cXV4-_"
        ).text
    }

    private enum Fault: Error { case noHost }

    private static func found(_ bytes: [UInt8]) -> Fetched {
        .answered(status: 200, tag: [], content: bytes)
    }

    @LoopActor
    private func join(
        _ stage: Stage, _ script: Script, _ invitation: String = ""
    ) async -> Result<String, Interruption> {
        do throws(Interruption) {
            let ask = JoinAsk(invitation: Array(invitation.utf8))
            return .success(try await stage.house.joining.join(ask, script).phrase.id.id)
        } catch {
            return .failure(error)
        }
    }

    @LoopActor
    private func hasJoined(_ stage: Stage) async -> Bool {
        (try? await stage.house.fleet.hasJoined()) ?? false
    }

    /// The person, whose daemon is another user's.
    @LoopActor
    private func person(_ stage: Stage, at turn: (Int, Script.Turn)? = nil) -> Script {
        let hello = Hello(frontEnd: .terminal, realUID: stage.alice.uid)
        let caller = stage.caller(hello, uid: stage.alice.uid, daemonUID: 990)
        let script = Script(caller, stage.reader, Self.answers, at: turn)
        script.drawsScreens = true
        return script
    }

    private func stage(
        _ body: @escaping @LoopActor @Sendable (Stage, Script) async throws -> Void
    ) async throws {
        try await Stage.run("") { stage in
            stage.polkit.answer = .yes
            stage.server.found = Self.found(self.organisation.join)
            try await body(stage, person(stage))
        }
    }

    @Test("whoever agrees to what they saw has joined, once polkit has let them")
    func agreed() async throws {
        let link = try link()
        try await stage { stage, script in
            stage.polkit.meanwhile = { #expect(await !hasJoined(stage)) }
            #expect(await join(stage, script, link) == .success("fleet.joined"))
            #expect(script.drawn == ["join.confirm"])
            #expect(stage.polkit.subjects.count == 1)
            #expect(await hasJoined(stage))
            #expect(await join(stage, script, link) == .failure(.refused(.alreadyExists)))
        }
    }

    @Test(
        "what is typed is asked for again until it is one, and then what joining means is said"
    )
    func typed() async throws {
        let link = try link()
        try await stage { stage, script in
            script.once["join.field"] = "nonsense"
            script.answers["join.field"] = link
            #expect(await join(stage, script) == .success("fleet.joined"))
            #expect(script.drawn == ["join", "join", "join.about", "join.confirm"])
        }
        try await stage { stage, script in
            script.answers["join.field"] = "nonsense"
            #expect(await join(stage, script) == .failure(.refused(.cancelled)))
            #expect(script.drawn.count == 10 && stage.server.urls.isEmpty)
        }
    }

    @Test("an e-mail address leads to the link of its domain")
    func email() async throws {
        let link = try link()
        try await stage { stage, script in
            stage.server.files["https://example.org/.well-known/appvault"] =
                Self.found(Array("# of example.org\n\(link)\n".utf8))
            #expect(await join(stage, script, "alice@example.org") == .success("fleet.joined"))
            #expect(stage.server.urls.count == 2)
            #expect(script.shown.filter { $0 == "join.asks" }.count == 2)
            #expect(script.shown.contains("join.found"))
        }
    }

    @Test(
        "no, silence and a front end that goes: nobody is asked for a password, and nothing is kept"
    )
    func left() async throws {
        let link = try link()
        for turn in [Script.Turn.cancels, .leaves] {
            try await Stage.run("") { stage in
                stage.polkit.answer = .yes
                stage.server.found = Self.found(organisation.join)
                let script = person(stage, at: (0, turn))
                #expect((try? await join(stage, script, link).get()) == nil)
                #expect(stage.polkit.subjects.isEmpty)
                #expect(await !hasJoined(stage))
            }
        }
    }

    @Test(
        "where polkit says no, or cannot be asked, that is said",
        arguments: [
            (PolkitAnswer.no, "join.not-allowed"), (.noAgent, "join.not-asked"),
            (.absent, "join.not-asked"),
        ])
    func notAllowed(answer: PolkitAnswer, said: String) async throws {
        let link = try link()
        try await stage { stage, script in
            stage.polkit.answer = answer
            let end = await join(stage, script, link)
            #expect(end == .failure(.refused(.notPermitted(.rootOnly))))
            #expect(script.shown.last == said)
            #expect(await !hasJoined(stage))
        }
    }

    @Test("another file than the link names is refused, and so is what is no join file")
    func other() async throws {
        let link = try link()
        try await stage { stage, script in
            stage.server.found = Self.found(PlayedOrganisation("example.org").join)
            let end = await join(stage, script, link)
            #expect(end == .failure(.refused(.bundle(.joinOther(host: "fleet.example.org")))))
            #expect(script.drawn.isEmpty)
        }
        try await stage { stage, script in
            stage.server.found = .answered(status: 302, tag: [], content: [])
            let end = await join(stage, script, link)
            #expect(end == .failure(.refused(.invitation(.elsewhere(host: "fleet.example.org")))))
        }
        try await stage { stage, script in
            stage.server.found = .lost(.ended)
            let end = await join(stage, script, link)
            #expect(end == .failure(.refused(.invitation(.workerEnded))))
        }
    }

    @Test("one search at a time; another person of the machine that joins meanwhile comes first")
    func together() async throws {
        let link = try link()
        try await stage { stage, script in
            stage.server.meanwhile = {
                stage.server.meanwhile = {}
                let second = person(stage)
                #expect(await join(stage, second, link) == .failure(.refused(.busy)))
                try? await stage.join(PlayedOrganisation("other.example"))
            }
            #expect(await join(stage, script, link) == .failure(.refused(.alreadyExists)))
            // They agreed to what they saw, and are asked for no password for it.
            #expect(stage.polkit.subjects.isEmpty)
        }
    }
}
