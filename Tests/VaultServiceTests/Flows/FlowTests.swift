import Policy
import Posix
import StoreKeeping
import Testing
import Wire
import Words

@testable import VaultService

private let old = "correct horse battery"
private let new = "otter über badger 7"

/// A flow, and what the person answers; what opens the store before and after it.
private struct Play: Sendable, CustomTestStringConvertible {
    let title: String
    var isDrawn = false
    var testDescription: String { isDrawn ? title + ", drawn" : title }
    var policy = ""
    /// Before the flow, with the same person: the passcode is `old`, if there is a store.
    var prepare: @LoopActor @Sendable (Stage) async -> [String: String] = { _ in [:] }
    let request: FlowRequest
    var answers: [String: String] = [:]
    let ends: String
    /// Which passcode opens the store before the flow, and after it; nil where there is nothing to
    /// open.
    let before: String?
    let behind: String?
    /// Everything is done already when so many last questions come.
    var afterIt = 0
    /// If the flow is interrupted at that question or later, it stays due. The former passcode is
    /// then enough to finish the flow, but opens nothing.
    var staysDueFrom: Int?
}

private let made: @LoopActor @Sendable (Stage) async -> [String: String] = { stage in
    await stage.run(
        .create(Create(target: Target(), way: .ownPasscode, openExisting: false)),
        stage.script(["create.choose": old, "create.confirm": old, "recovery.keep": ""]))
    await stage.store?.lock()
    return [:]
}

/// The recovery key that was shown, as the answer to its question.
private let recoverable: @LoopActor @Sendable (Stage) async -> [String: String] = { stage in
    let script = stage.script(["create.choose": old, "create.confirm": old, "recovery.keep": ""])
    await stage.run(
        .create(Create(target: Target(), way: .ownPasscode, openExisting: false)), script)
    await stage.store?.lock()
    return ["recovery.prompt": script.revealed]
}

private let following: @LoopActor @Sendable (Stage) async -> [String: String] = { stage in
    await stage.run(
        .create(Create(target: Target(), way: .followLogin, openExisting: false)),
        stage.script(["create.login-password": old, "recovery.keep": ""]))
    await stage.store?.lock()
    return [:]
}

private let typedTwice = ["create.choose": new, "create.confirm": new]

/// Each as lines and questions, and at a front end that draws screens.
private let plays =
    lines
    + lines.map { play in
        var play = play
        play.isDrawn = true
        return play
    }

private let lines: [Play] = [
    Play(
        title: "create",
        request: .create(Create(target: Target(), way: .ownPasscode, openExisting: false)),
        answers: typedTwice.merging(["recovery.keep": ""]) { $1 }, ends: "create.done",
        before: nil, behind: new, afterIt: 1),
    Play(
        title: "create that follows the login",
        request: .create(Create(target: Target(), way: .followLogin, openExisting: false)),
        answers: ["create.login-password": new, "recovery.keep": ""], ends: "create.done",
        before: nil, behind: new, afterIt: 1),
    Play(
        title: "welcome, and a passcode of its own",
        request: .create(Create(target: Target(), way: .guidedOwnPasscode, openExisting: false)),
        answers: typedTwice.merging([
            "notice.enter": "", "welcome.own.offer": "y", "recovery.keep": "",
        ]) { $1 }, ends: "create.done", before: nil, behind: new, afterIt: 2),
    Play(
        title: "welcome, and the login password",
        request: .create(Create(target: Target(), way: .guidedFollowLogin, openExisting: false)),
        answers: [
            "notice.enter": "", "onboard.follow": "y", "create.login-password": new,
            "recovery.keep": "",
        ], ends: "create.done", before: nil, behind: new, afterIt: 2),
    Play(
        title: "unlock", prepare: made, request: .openStore(Target()),
        answers: ["match.prompt": old], ends: "match.done", before: old, behind: old),
    Play(
        title: "change the passcode", prepare: made,
        request: .passcode(Passcode(target: Target(), change: .change)),
        answers: typedTwice.merging(["match.current": old]) { $1 }, ends: "change.done",
        before: old, behind: new),
    Play(
        title: "from a passcode of its own to the login password", prepare: made,
        request: .passcode(Passcode(target: Target(), change: .followLogin)),
        answers: ["match.current": old, "create.login-password": new], ends: "follow.done",
        before: old, behind: new),
    Play(
        title: "from the login password to a passcode of its own", prepare: following,
        request: .passcode(Passcode(target: Target(), change: .ownPasscode)),
        answers: typedTwice.merging(["match.current": old]) { $1 }, ends: "change.done",
        before: old, behind: new),
    Play(
        title: "a new recovery key", prepare: made, request: .recoveryNew(Target()),
        answers: ["match.current": old, "recovery.keep": ""], ends: "recovery.made", before: old,
        behind: old),
    Play(
        title: "recover", prepare: recoverable, request: .recover(Target()),
        answers: typedTwice, ends: "recovery.done", before: old, behind: new, staysDueFrom: 1),
    Play(
        title: "resync", prepare: following, request: .resync(Target()),
        answers: ["create.login-password": new, "drift.former": old], ends: "drift.done",
        before: old, behind: new),
    Play(
        title: "reset", prepare: made, request: .reset(Target()),
        answers: ["match.current": old], ends: "reset.done", before: old, behind: nil),
    Play(
        title: "unlock where the rules grew",
        prepare: { stage in
            let answers = await made(stage)
            await stage.change("MinLength=12\nRequireDigit=yes\n")
            return answers
        }, request: .openStore(Target()),
        answers: typedTwice.merging(["match.prompt": old, "notice.enter": ""]) { $1 },
        ends: "match.done", before: old, behind: new, staysDueFrom: 0),
]

@Suite("flows, against a person who is played")
struct FlowTests {
    private func onStage<R: Sendable>(
        _ play: Play,
        _ body: @escaping @LoopActor @Sendable (Stage, [String: String]) async throws -> R
    ) async throws -> R {
        try await Stage.run(play.policy) { stage in
            stage.drawsScreens = play.isDrawn
            let more = await play.prepare(stage)
            return try await body(stage, play.answers.merging(more) { $1 })
        }
    }

    /// How many questions the flow asks.
    private func questions(_ play: Play) async throws -> Int {
        try await onStage(play) { stage, answers in
            let script = stage.script(answers)
            _ = await stage.run(play.request, script)
            return script.asked.count
        }
    }

    @Test("each ends as it says, and the store opens with what was set", arguments: plays)
    private func whole(_ play: Play) async throws {
        try await onStage(play) { stage, answers in
            let script = stage.script(answers)
            let end = await stage.run(play.request, script)
            #expect(end == .success(play.ends), "asked: \(script.asked)")
            if let passcode = play.behind {
                #expect(await stage.opens(with: passcode))
            } else {
                #expect(stage.store == nil)
            }
            if play.behind != old, play.before == old {
                #expect(await !stage.opens(with: old))
            }
        }
    }

    @Test("no is heard at each question, and changes nothing", arguments: plays)
    private func cancelled(_ play: Play) async throws {
        try await interrupted(play, by: .cancels)
    }

    @Test("a front end that falls silent at any question changes nothing", arguments: plays)
    private func left(_ play: Play) async throws {
        try await interrupted(play, by: .leaves)
    }

    private func interrupted(_ play: Play, by turn: Script.Turn) async throws {
        let all = try await questions(play)
        #expect(all > 0)
        for number in 0..<all {
            try await onStage(play) { stage, answers in
                let script = stage.script(answers, at: (number, turn))
                let end = await stage.run(play.request, script)
                switch end {
                case .success:
                    #expect(number >= all - play.afterIt, "question \(number): \(script.asked)")
                case .failure: break
                }
                guard let passcode = play.before else { return }
                if let from = play.staysDueFrom, number >= from {
                    #expect(await !stage.opens(with: passcode), "\(script.asked)")
                    #expect(await stage.opens(with: passcode, ending: typedTwice))
                    #expect(await stage.opens(with: new))
                } else {
                    #expect(await stage.opens(with: passcode), "\(script.asked)")
                }
            }
        }
    }

    @Test(
        "rules that come at any question are those that hold",
        arguments: plays.filter { $0.answers["create.choose"] != nil })
    private func policy(_ play: Play) async throws {
        let all = try await questions(play)
        for number in 0..<all {
            try await onStage(play) { stage, answers in
                let script = stage.script(
                    answers,
                    at: (number, .first { await stage.change("MinLength=30\n") }))
                await stage.run(play.request, script)
                // What was typed is too short for the new rules: nothing opens with it from now on.
                let isSet = await stage.opens(with: new)
                #expect(!isSet || number >= all - play.afterIt, "\(script.asked)")
            }
        }
    }
}
