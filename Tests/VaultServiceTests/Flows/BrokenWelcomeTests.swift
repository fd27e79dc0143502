import Policy
import Posix
import StoreKeeping
import Testing
import Wire
import Words
import WorkerLinks

@testable import VaultService

/// Whatever question stands: somebody leaves, cancels, or the policy becomes another one.
@Suite("the first meeting, broken off at each of its screens")
struct BrokenWelcomeTests {
    static let passcode = "otter über badger 7"
    static let answers = [
        "notice.enter": "", "welcome.own.offer": "y", "create.choose": passcode,
        "create.confirm": passcode, "recovery.keep": "", "fingerprint.offer": "y",
        "recovery.offer": "y", "match.current": passcode,
    ]
    /// More than there are questions.
    static let most = 12

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

    /// A finger counts once it is enrolled, a key once it was shown, and none of them before the
    /// passcode was typed twice.
    @LoopActor
    private func isWhole(_ stage: Stage, _ asked: [String]) async throws {
        guard let store = stage.store else {
            #expect(!asked.contains("recovery.keep"))
            return
        }
        #expect(store.hasPasscode)
        #expect(asked.contains("create.confirm"))
        let last = asked.last
        #expect(store.hasRecovery == (last != "recovery.keep"))
        #expect(store.fingerprintIsOn == false || last == "notice.enter")
        let state = try await stage.house.statuses.status(
            Target(), for: stage.script([:]).caller)
        #expect([state.ownTriesLeft, state.apartTriesLeft] == [9, 9])
    }

    @Test(
        "what was finished stays, nothing is half made, no try is counted, and it goes on",
        arguments: [false, true], [false, true])
    func left(isDrawn: Bool, cancels: Bool) async throws {
        for question in 0..<Self.most {
            let isLast = try await Stage.run("", hasReader: true) { stage in
                stage.drawsScreens = isDrawn
                let first = script(stage, at: (question, cancels ? .cancels : .leaves))
                let end = await welcome(stage, first)
                if first.asked.count <= question {
                    #expect(end == .success("create.done"))
                    return true
                }
                try await isWhole(stage, first.asked)
                let made = stage.store?.id
                let second = script(stage)
                let rest = await welcome(stage, second)
                #expect(
                    rest == .success(made == nil ? "create.done" : "welcome.nothing"),
                    "\(question) \(first.asked)")
                // Nothing that there is already is asked again.
                #expect(made == nil || !second.asked.contains("create.choose"))
                #expect(made == nil || stage.store?.id == made)
                #expect(stage.store?.hasRecovery == true)
                #expect(stage.store?.fingerprintIsOn == true)
                #expect(await stage.opens(with: Self.passcode))
                return false
            }
            if isLast { return }
        }
        Issue.record("it never ended")
    }

    @Test(
        "a policy that comes at a question is the one that holds from there on",
        arguments: [false, true])
    func policy(isDrawn: Bool) async throws {
        for question in 0..<Self.most {
            let isLast = try await Stage.run("", hasReader: true) { stage in
                stage.drawsScreens = isDrawn
                let first = script(
                    stage,
                    at: (
                        question,
                        .first {
                            await stage.change(
                                "MinLength=40\nAllowFingerprint=no\n")
                        }
                    ))
                let end = await welcome(stage, first)
                guard first.asked.count > question else { return true }
                let at = first.asked[question]
                if ["recovery.keep", "fingerprint.offer", Script.finger].contains(at)
                    || question > 0 && first.asked[..<question].contains("recovery.keep")
                {
                    #expect(end == .success("create.done"), "\(question) \(first.asked)")
                    // Forbidden is forbidden: also for the finger that was just read.
                    let hasCome = question > (first.asked.firstIndex(of: Script.finger) ?? 99)
                    #expect(stage.store?.fingerprintIsOn == false || hasCome)
                } else {
                    // It is judged by the new one: what was typed is too short.
                    #expect(end != .success("create.done"), "\(question) \(first.asked)")
                    #expect(stage.store == nil)
                }
                return false
            }
            if isLast { return }
        }
        Issue.record("it never ended")
    }
}
