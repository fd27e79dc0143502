import Testing
import Wire

@testable import AppVault

/// Draws screens: for each by its name what is typed or done, one after the other.
private final class Drawing: Prompter, @unchecked Sendable {
    enum Act {
        case fills([String])
        case takes(String)
        case picks(String, item: String)
        case leaves
    }

    private let acts = Locked<[String: [Act]]>([:])
    private let seen = Locked<[PromptScreen]>([])
    private let lines = Locked<[String]>([])
    private let asked = Locked<[Question.Purpose]>([])
    let judged: String?

    init(_ acts: [String: [Act]], judging judged: String? = nil) {
        self.judged = judged
        self.acts.withLock { $0 = acts }
    }

    var screens: [PromptScreen] { seen.withLock { $0 } }
    var shown: [String] { lines.withLock { $0 } }
    var questions: [Question.Purpose] { asked.withLock { $0 } }
    let drawsScreens = true
    let findings = Locked<[PasscodeRule]>([])

    func present(_ screen: PromptScreen) async -> ScreenAnswer {
        seen.withLock { $0.append(screen) }
        if let judged, screen.fields.contains(where: \.isJudged) {
            let found = (try? await screen.judge(SecretBytes(copying: judged))) ?? []
            findings.withLock { $0 = found }
        }
        let act = acts.withLock { acts -> Act? in
            guard acts[screen.id]?.isEmpty == false else { return nil }
            return acts[screen.id]?.removeFirst()
        }
        switch act {
        case .fills(let values):
            var choice = ScreenChoice(0)
            for value in values { choice.fill(SecretBytes(copying: value)) }
            return .chosen(choice)
        case .takes(let id):
            guard let place = screen.choices.firstIndex(where: { $0.id == id }) else {
                return .nobody
            }
            return .chosen(ScreenChoice(place))
        case .picks(let id, let item):
            guard let place = screen.choices.firstIndex(where: { $0.id == id }),
                let row = screen.items.firstIndex(where: { $0.title == item })
            else { return .nobody }
            return .chosen(ScreenChoice(place, item: row))
        case .leaves: return .cancel
        case nil: return .nobody
        }
    }

    func answer(_ question: Question) async -> AppVault.Answer {
        asked.withLock { $0.append(question.purpose) }
        return .text("correct horse")
    }

    func show(_ notice: Notice) async { lines.withLock { $0.append(notice.id) } }
}

@Suite(
    "a prompter that draws screens", .enabled(if: PrivateDaemon.isThere),
    .timeLimit(.minutes(20)))
struct ScreenTests {
    private let passcode = "correct horse"

    private func made(_ policy: String = "") async throws -> (PrivateDaemon, Store, Told) {
        let told = Told()
        let daemon = try PrivateDaemon(policy: policy)
        let vault = try await daemon.connect(hooks: PromptHooks { told.append($0) })
        let drawing = Drawing(["create.passcode": [.fills([passcode, passcode])]], judging: "abc")
        let store = try await vault.createStore(.default, .ownPasscode, with: drawing)
        #expect(drawing.screens.map(\.id) == ["create.passcode"])
        let screen = try #require(drawing.screens.first)
        #expect(screen.kind == .form)
        #expect(screen.fields.map(\.purpose) == [.newPasscode, .confirmPasscode])
        #expect(screen.checklist.map(\.id).contains("minLength"))
        #expect(screen.choices.map(\.role) == [.primary, .cancel])
        let found = drawing.findings.withLock { $0 }
        #expect(found.first { $0.id == "minLength" }?.finding == .unmet)
        #expect(drawing.questions.isEmpty)
        #expect(told.all.map(\.kind) == [.validate])
        return (daemon, store, told)
    }

    @Test("what belongs together comes at once, and what was typed on it opens the store")
    func screens() async throws {
        let (daemon, store, told) = try await made()
        defer { withExtendedLifetime(daemon) {} }
        try await store.lock()
        let drawing = Drawing(["match": [.fills(["wrong"]), .fills([passcode])]])
        try await store.unlock(with: drawing)
        #expect(drawing.screens.map(\.id) == ["match", "match"])
        // What was shown before a screen belongs to it.
        #expect(drawing.shown.contains("match.retry"))
        // Whoever has forgotten it may say so, but only after a wrong one.
        #expect(
            drawing.screens.map { $0.choices.map(\.id).contains("forgotten") } == [false, true])
        let opening = told.all.dropFirst()
        #expect(opening.map(\.kind) == [.tried, .tried])
        #expect(opening.map(\.code) == [.invalidPasscode, nil])
    }

    @Test("whoever leaves, or says that it is forgotten, has tried nothing and changed nothing")
    func leaving() async throws {
        let (daemon, store, _) = try await made()
        defer { withExtendedLifetime(daemon) {} }
        try await store.lock()
        let acts: [([Drawing.Act], VaultError.Code)] = [
            ([.leaves], .cancelled), ([.takes("cancel")], .cancelled), ([.fills([])], .cancelled),
            ([.fills(["wrong"]), .takes("forgotten")], .resetRequested), ([], .passcodeRequired),
            ([.fills([String(repeating: "x", count: 2000)])], .tooLarge),
        ]
        for (acts, code) in acts {
            let error = await #expect(throws: VaultError.self) {
                try await store.unlock(with: Drawing(["match": acts]))
            }
            #expect(error?.code == code)
            #expect(try await store.state().lock == .locked)
        }
        try await store.unlock(with: Drawing(["match": [.fills([passcode])]]))
    }

    @Test("whoever is somebody else says so: the program hears whose store, and nothing opens")
    func somebodyElse() async throws {
        let (daemon, store, _) = try await made()
        defer { withExtendedLifetime(daemon) {} }
        let vault = try await daemon.connect()
        let other = Drawing(["create.passcode": [.fills(["another horse", "another horse"])]])
        let work = try await vault.createStore("work", .ownPasscode, with: other)
        try await store.lock()
        try await work.lock()
        for (act, code, name) in [
            (Drawing.Act.picks("open", item: "work"), VaultError.Code.switchUser, "work"),
            (.takes("add"), .addUser, nil), (.takes("cancel"), .cancelled, nil),
        ] {
            let drawing = Drawing(["match": [.takes("somebody-else")], "people": [act]])
            let error = await #expect(throws: VaultError.self) {
                try await store.unlock(with: drawing)
            }
            #expect(error?.code == code)
            #expect(error?.parameters["to"] == name)
            #expect(drawing.screens.map(\.id) == ["match", "people"])
            #expect(drawing.screens.last?.choices.map(\.id) == ["open", "add", "cancel"])
            #expect(try await store.state().lock == .locked)
            #expect(try await work.state().lock == .locked)
        }
        try await store.unlock(with: Drawing(["match": [.fills([passcode])]]))
    }

    @Test("a passcode is changed on two screens, and the second says what was wrong")
    func changing() async throws {
        let (daemon, store, _) = try await made("MinLength=6")
        defer { withExtendedLifetime(daemon) {} }
        let drawing = Drawing([
            "match.current": [.fills([passcode])],
            "create.passcode": [
                .fills(["new horse", "other"]), .fills(["new horse", "new horse"]),
            ],
        ])
        try await store.perform(.changePasscode, with: drawing)
        #expect(
            drawing.screens.map(\.id) == ["match.current", "create.passcode", "create.passcode"])
        #expect(drawing.screens.last?.lines.contains { $0.role == .error } == true)
        try await store.lock()
        try await store.unlock(with: Drawing(["match": [.fills(["new horse"])]]))
    }

    @Test("at a daemon of a former release the same prompter is asked questions")
    func former() async throws {
        let daemon = try ScriptedDaemon(
            { peer in
                guard let hello = peer.read() else { return }
                peer.refuse(.protocolError, tag: hello.tag)
                peer.close()
            },
            { peer in
                peer.greet()
                guard let open = peer.read() else { return }
                peer.send(
                    .ask, Ask(question: 3, purpose: .passcode, echo: false, line: Line()),
                    tag: open.tag)
                peer.read()
                peer.send(.done, Done(), tag: open.tag)
                peer.waitForEnd()
            })
        let store = try daemon.vault(silence: 3_600_000).store()
        let drawing = Drawing([:])
        try await store.unlock(with: drawing)
        #expect(drawing.questions == [.passcode])
        #expect(drawing.screens.isEmpty)
    }
}
