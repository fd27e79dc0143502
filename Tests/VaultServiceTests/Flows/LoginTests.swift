import Policy
import Posix
import StoreKeeping
import Testing
import Wire
import WorkerLinks

@testable import VaultService

private let old = "correct horse battery"
private let new = "otter über badger 7"
private let login = "login password 1"

/// A login, and what its person answers; how the store is before and behind it.
private struct Play: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var policy = ""
    var hasReader = false
    /// Before the login, with the same person.
    var prepare: @LoopActor @Sendable (Stage) async -> Void = made
    /// What the administrator writes between that and the login.
    var changed = ""
    let stack: Stack
    var password = login
    var answers: [String: String] = [:]
    var touches: [FingerEnd] = []
    /// What it asks, in this order.
    let asks: [String]
    /// What each of our lines says.
    let outcomes: [Outcome]
    /// Which passcode opens the store before it, and behind it; nil where none does.
    var before: String? = old
    var behind: String? = old
    var opens = true
    /// Where it is cut short, the login itself is not to be had either.
    var isNeeded = false
    /// From that question on, the flow it began has to be ended before the store opens.
    var staysDueFrom: Int?
}

private let made: @LoopActor @Sendable (Stage) async -> Void = { stage in
    await stage.run(
        .create(Create(target: Target(), way: .ownPasscode, openExisting: false)),
        stage.script(["create.choose": old, "create.confirm": old, "recovery.keep": ""]))
    await stage.store?.lock()
}

private let following: @LoopActor @Sendable (Stage) async -> Void = { stage in
    await stage.run(
        .create(Create(target: Target(), way: .followLogin, openExisting: false)),
        stage.script(["create.login-password": old, "recovery.keep": ""]))
    await stage.store?.lock()
}

private let without: @LoopActor @Sendable (Stage) async -> Void = { stage in
    await stage.run(
        .create(Create(target: Target(), way: .noPasscode, openExisting: false)),
        stage.script(["recovery.keep": ""]))
    await stage.store?.lock()
}

private let typedTwice = ["create.choose": new, "create.confirm": new]

private let plays: [Play] = [
    Play(
        testDescription: "a step of its own", stack: .step, answers: ["match.prompt": old],
        asks: ["match.prompt"], outcomes: [.success, .ignore], isNeeded: true),
    Play(
        testDescription: "in front of pam_unix, with the passcode", stack: .inFront,
        answers: ["match.prompt.or-password": old], asks: ["match.prompt.or-password"],
        outcomes: [.success, .ignore, .ignore]),
    Play(
        testDescription: "in front of pam_unix, with the login password", stack: .inFront,
        answers: ["match.prompt.or-password": login], asks: ["match.prompt.or-password"],
        outcomes: [.authError, .ignore, .ignore], opens: false),
    Play(
        testDescription: "behind pam_unix, where the store follows", prepare: following,
        stack: .behind, password: old, asks: [], outcomes: [.ignore, .ignore]),
    Play(
        testDescription: "behind pam_unix, after the login password changed", prepare: following,
        stack: .behind, password: new, answers: ["drift.former": old], asks: ["drift.former"],
        outcomes: [.ignore, .ignore], behind: new),
    Play(
        testDescription: "a first login", policy: "Onboard=login\n", prepare: { _ in },
        stack: .behind, password: new,
        answers: ["onboard.offer": "y", "onboard.follow": "y"],
        asks: ["onboard.offer", "onboard.follow"], outcomes: [.ignore, .ignore], before: nil,
        behind: new),
    Play(
        testDescription: "a first login, with a passcode of its own", policy: "Onboard=login\n",
        prepare: { _ in }, stack: .behind,
        answers: typedTwice.merging(["onboard.offer": "y", "onboard.follow": "n"]) { $1 },
        asks: ["onboard.offer", "onboard.follow", "create.choose", "create.confirm"],
        outcomes: [.ignore, .ignore], before: nil, behind: new),
    Play(
        testDescription: "where the policy demands a passcode of a store that has none",
        prepare: without, changed: "AllowNoPasscode=no\n", stack: .behind,
        answers: typedTwice.merging(["notice.enter": ""]) { $1 },
        asks: ["notice.enter", "create.choose", "create.confirm"], outcomes: [.ignore, .ignore],
        before: nil, behind: new),
    Play(
        testDescription: "where the rules grew", changed: "RequireDigit=yes\n",
        stack: .step,
        answers: typedTwice.merging(["match.prompt": old, "notice.enter": ""]) { $1 },
        asks: ["match.prompt", "notice.enter", "create.choose", "create.confirm"],
        outcomes: [.success, .ignore], behind: new, isNeeded: true, staysDueFrom: 0),
    Play(
        testDescription: "by a finger", hasReader: true, prepare: enrolled, stack: .step,
        touches: [.matched(0)], asks: [Script.finger], outcomes: [.success, .ignore],
        isNeeded: true),
    Play(
        testDescription: "by the passcode, after a finger that is none of theirs",
        policy: "FingerprintMaxFailures=1\n", hasReader: true, prepare: enrolled, stack: .step,
        answers: ["match.prompt": old], touches: [.noMatch],
        asks: [Script.finger, "match.prompt"], outcomes: [.success, .ignore], isNeeded: true),
]

private let enrolled: @LoopActor @Sendable (Stage) async -> Void = { stage in
    await made(stage)
    let script = stage.script(["match.prompt": old, "match.current": old])
    script.touches = [.enrolled(stage.print)]
    await stage.run(
        .fingerprintEnroll(
            FingerRequest(subject: Subject(), store: [], finger: .rightIndex)), script)
    await stage.store?.lock()
}

@Suite("logins, against a person who is played")
struct LoginTests {
    private func onStage<R: Sendable>(
        _ play: Play, _ body: @escaping @LoopActor @Sendable (Stage) async throws -> R
    ) async throws -> R {
        try await Stage.run(play.policy, hasReader: play.hasReader) { stage in
            await play.prepare(stage)
            if !play.changed.isEmpty { await stage.change(play.policy + play.changed) }
            return try await body(stage)
        }
    }

    @LoopActor
    private func script(
        _ play: Play, _ stage: Stage, at turn: (Int, Script.Turn)? = nil
    ) -> Script {
        let script = stage.login(play.answers, at: turn)
        script.touches = play.touches
        return script
    }

    @Test("each asks what it says and ends as it says", arguments: plays)
    private func whole(_ play: Play) async throws {
        try await onStage(play) { stage in
            let script = script(play, stage)
            let entered = await stage.enter(play.stack, script, password: play.password)
            #expect(entered == Entered(isIn: true, outcomes: play.outcomes))
            #expect(script.asked == play.asks)
            #expect(stage.store?.isOpen == play.opens)
            // No try of a login that succeeded stays on anybody's count.
            if let tally = stage.store?.snapshot.tally {
                #expect(tally.own.wrong == 0 && tally.own.unresolved == 0)
            }
            await stage.leave()
            #expect(stage.store?.isOpen == false)
            if let passcode = play.behind {
                #expect(await stage.opens(with: passcode))
                if play.before == old, passcode != old {
                    #expect(await !stage.opens(with: old))
                }
            }
        }
    }

    @Test(
        "no is heard at each question: the login goes on, and nothing is changed", arguments: plays)
    private func cancelled(_ play: Play) async throws {
        try await interrupted(play, by: .cancels)
    }

    @Test("a front end that falls silent at any question changes nothing", arguments: plays)
    private func left(_ play: Play) async throws {
        try await interrupted(play, by: .leaves)
    }

    private func interrupted(_ play: Play, by turn: Script.Turn) async throws {
        for number in play.asks.indices {
            try await onStage(play) { stage in
                let script = script(play, stage, at: (number, turn))
                let entered = await stage.enter(play.stack, script, password: play.password)
                // Once the passcode is proven, or where it is not asked for, the login goes on.
                #expect(entered.isIn || play.isNeeded, "\(script.asked): \(entered)")
                await stage.leave()
                guard let passcode = play.before else {
                    #expect(await !stage.opens(with: new), "\(script.asked)")
                    return
                }
                if let from = play.staysDueFrom, number >= from {
                    #expect(await !stage.opens(with: passcode), "\(script.asked)")
                    #expect(
                        await stage.opens(
                            with: passcode, ending: typedTwice.merging(["notice.enter": ""]) { $1 })
                    )
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
        for number in play.asks.indices {
            try await onStage(play) { stage in
                let script = script(
                    play, stage,
                    at: (
                        number,
                        .first {
                            await stage.change(play.policy + play.changed + "MinLength=30\n")
                        }
                    ))
                _ = await stage.enter(play.stack, script, password: play.password)
                await stage.leave()
                #expect(await !stage.opens(with: new), "\(script.asked)")
            }
        }
    }

    @Test(
        "who is not known to be there when the answer comes is a stranger",
        arguments: plays.filter { !$0.asks.isEmpty })
    private func moved(_ play: Play) async throws {
        for number in play.asks.indices {
            try await onStage(play) { stage in
                let before = stage.store?.snapshot.tally.own
                let script = script(
                    play, stage, at: (number, .first { stage.move(.elsewhere) }))
                _ = await stage.enter(play.stack, script, password: play.password)
                #expect(stage.store?.snapshot.tally.own.wrong ?? 0 == before?.wrong ?? 0)
                // A finger that touches then lets no one in.
                if play.asks[number] == Script.finger, play.touches.count == 1,
                    case .matched = play.touches[0]
                {
                    #expect(stage.store?.isOpen == false, "\(script.asked)")
                }
            }
        }
    }

    @Test("a passwd behind pam_unix: the store follows, and opens with either until one is proven")
    func passwd() async throws {
        try await Stage.run("") { stage in
            await following(stage)
            #expect(await stage.changePassword(from: old, to: new) == .ignore)
            #expect(stage.store?.snapshot.passcodes.count == 2)
            let entered = await stage.enter(.behind, stage.login([:]), password: new)
            #expect(entered.isIn && stage.store?.isOpen == true)
            #expect(stage.store?.snapshot.passcodes.count == 1)
            await stage.leave()
            #expect(await !stage.opens(with: old))
        }
    }

    @Test("a passwd with a wrong former password changes nothing, and is one apart try")
    func wrongFormer() async throws {
        try await Stage.run("") { stage in
            await following(stage)
            _ = await stage.changePassword(from: "something else 9", to: new)
            #expect(stage.store?.snapshot.passcodes.count == 1)
            #expect(stage.store?.snapshot.tally.apart.wrong == 1)
            #expect(stage.store?.snapshot.tally.own.wrong == 0)
            #expect(await stage.opens(with: old))
        }
    }

    @Test("a token that a module in front brought stands for the answer, right or wrong")
    func brought() async throws {
        try await Stage.run("") { stage in
            await made(stage)
            let right = stage.login([:])
            let entered = await stage.enter(.inFront, right, password: login, brought: old)
            #expect(entered == Entered(isIn: true, outcomes: [.success, .ignore, .ignore]))
            #expect(right.asked == [] && stage.store?.isOpen == true)
            await stage.leave()
            let wrong = stage.login([:])
            let other = await stage.enter(.inFront, wrong, password: login, brought: login)
            #expect(other.outcomes == [.authError, .ignore, .ignore])
            #expect(wrong.asked == [] && wrong.shown == [])
            #expect(stage.store?.snapshot.tally.own.wrong == 0)
        }
    }

    @Test("the login password that is kept is given after the passcode, too; none is learned of it")
    func keyring() async throws {
        try await Stage.run("", hasReader: true) { stage in
            await enrolled(stage)
            // The passcode came from a module in front: it is no login password.
            _ = await stage.enter(
                .inFront, stage.login([:]), password: login, brought: old, setsToken: true)
            #expect(stage.store?.keepsKeyringPassword == false)
            await stage.leave()
            let first = stage.login(["match.prompt.or-password": login])
            _ = await stage.enter(
                .inFront, first, password: login, setsToken: true, finger: .off)
            #expect(stage.store?.keepsKeyringPassword == true && first.given == nil)
            await stage.leave()
            let second = stage.login(["match.prompt.or-password": old])
            _ = await stage.enter(
                .inFront, second, password: login, setsToken: true, finger: .off)
            #expect(second.given == login)
            await stage.leave()
            let without = stage.login(["match.prompt.or-password": old])
            _ = await stage.enter(.inFront, without, password: login, finger: .off)
            #expect(without.given == nil)
        }
    }

    @Test("sudo, which shows no lines, hears how long to wait")
    func throttledAtSudo() async throws {
        // The last try waits for the longest throttle, and so however busy the machine is.
        let policy = "ThrottleAfter=1\nThrottleMax=1h\nRetryLimit=2\nOnRetryLimit=erase\n"
        try await Stage.run("[Passcode user:alice]\n" + policy) { stage in
            await made(stage)
            let wrong = stage.login(["match.prompt": "not it 1"], service: "sudo", silent: true)
            _ = await stage.enter(.step, wrong, password: login)
            for stack in [Stack.step, .inFront] {
                let next = stage.login(["match.prompt": old], service: "sudo", silent: true)
                _ = await stage.enter(stack, next, password: login)
                #expect(next.asked == [] && next.insisted == ["match.throttled"])
            }
        }
    }

    @Test("a greeter keeps the last line on the screen: none is left there that is not true")
    func greeter() async throws {
        try await Stage.run("") { stage in
            await made(stage)
            for (service, tty, isTold) in [("login", "tty1", true), ("lightdm", ":0", false)] {
                let script = stage.login(
                    ["match.prompt.or-password": "not it 2"], service: service, tty: tty)
                _ = await stage.enter(.inFront, script, password: login)
                #expect(script.shown == (isTold ? ["match.or-password.left"] : []))
                let step = stage.login(["match.prompt": "not it 3"], service: service, tty: tty)
                _ = await stage.enter(.step, step, password: login)
                #expect(
                    step.shown == ["match.retry.left"] + (isTold ? ["match.recover"] : []))
            }
        }
    }

    @Test("a screen locker's setcred is nothing that only root may do")
    func locker() async throws {
        try await Stage.run("") { stage in
            await made(stage)
            #expect(
                await stage.unlockScreen(stage.locker(["match.prompt": old]))
                    == [.success, .ignore, .permissionDenied])
        }
    }
}
