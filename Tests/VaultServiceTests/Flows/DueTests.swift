import KeySlots
import Policy
import Posix
import StoreKeeping
import Testing
import Wire
import WorkerLinks

@testable import VaultService

private let old = "correct horse battery"
private let new = "otter über badger 7"
private let long = "a passcode that is longer than thirty"

private let noPasscode = "Enabled=no\nUseDefaultPolicy=no\n"
private let noFinger = "AllowFingerprint=no\n"
private let stricter = "RequireDigit=yes\n"

private let typed = [
    "match.prompt": old, "notice.enter": "", "create.choose": new, "create.confirm": new,
]
private let typedTwice = ["create.choose", "create.confirm"]

/// What a change of the policy demands of a store at the next login.
private struct Due: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var hasFinger = false
    let policy: String
    let flow: Flow
    /// After the passcode.
    let asks: [String]
    /// Which passcode it has behind it; nil for none.
    let passcode: String?
    var keepsFinger = false

    static let all = [
        Due(
            testDescription: "a new passcode", policy: stricter, flow: .change,
            asks: ["notice.enter"] + typedTwice, passcode: new),
        Due(
            testDescription: "a new passcode, beside a finger", hasFinger: true, policy: stricter,
            flow: .change, asks: ["notice.enter"] + typedTwice, passcode: new, keepsFinger: true),
        Due(
            testDescription: "no passcode", policy: noPasscode, flow: .dropPasscode,
            asks: ["notice.enter"], passcode: nil),
        Due(
            testDescription: "no finger", hasFinger: true, policy: noFinger,
            flow: .dropFingerprint, asks: ["notice.enter"], passcode: old),
        Due(
            testDescription: "neither", hasFinger: true, policy: noPasscode, flow: .dropBoth,
            asks: ["notice.enter"], passcode: nil),
    ]
}

/// The policy changes once more, while the person is asked.
private struct Again: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var hasFinger = false
    let first: String
    /// At this question; the passcode's own is 0.
    let at: Int
    let then: String
    let asks: [String]
    let passcode: String?
    var keepsFinger = false

    static let stricter = (1...3).map { at in
        Again(
            testDescription: "rules that are stricter still, at question \(at)",
            first: VaultServiceTests.stricter, at: at, then: "MinLength=30\n",
            asks: ["notice.enter"] + (at == 1 ? [] : typedTwice) + typedTwice,
            passcode: long)
    }
    static let noneAtAll = (1...3).map { at in
        Again(
            testDescription: "no passcode at all, at question \(at)",
            first: VaultServiceTests.stricter, at: at, then: noPasscode,
            asks: ["notice.enter"] + (at == 1 ? [] : typedTwice) + ["notice.enter"],
            passcode: nil)
    }
    static let all =
        stricter + noneAtAll + [
            Again(
                testDescription: "no passcode, and back again", first: noPasscode, at: 1,
                then: "ShowCancel=no\n", asks: ["notice.enter"], passcode: old),
            Again(
                testDescription: "no finger, and back again", hasFinger: true, first: noFinger,
                at: 1, then: "ShowCancel=no\n", asks: ["notice.enter"], passcode: old,
                keepsFinger: true),
            Again(
                testDescription: "neither, and back again", hasFinger: true, first: noPasscode,
                at: 1, then: "ShowCancel=no\n", asks: ["notice.enter"], passcode: old,
                keepsFinger: true),
            Again(
                testDescription: "neither, and then no finger alone", hasFinger: true,
                first: noPasscode, at: 1, then: noFinger, asks: ["notice.enter", "notice.enter"],
                passcode: old),
            Again(
                testDescription: "neither, and then other rules", hasFinger: true,
                first: noPasscode, at: 1, then: VaultServiceTests.stricter,
                asks: ["notice.enter", "notice.enter"] + typedTwice, passcode: new,
                keepsFinger: true),
            Again(
                testDescription: "neither, and then other rules and no finger", hasFinger: true,
                first: noPasscode, at: 1, then: VaultServiceTests.stricter + noFinger,
                asks: ["notice.enter", "notice.enter", "notice.enter"] + typedTwice,
                passcode: new),
        ]
}

@Suite("what a policy demands, at a login")
struct DueTests {
    private func onStage(
        hasFinger: Bool, _ policy: String,
        _ body: @escaping @LoopActor @Sendable (Stage) async throws -> Void
    ) async throws {
        try await Stage.run("", hasReader: hasFinger) { stage in
            await stage.run(
                .create(Create(target: Target(), way: .ownPasscode, openExisting: false)),
                stage.script(["create.choose": old, "create.confirm": old, "recovery.keep": ""]))
            if hasFinger {
                let script = stage.script(["match.current": old])
                script.touches = [.enrolled(stage.print)]
                await stage.run(
                    .fingerprintEnroll(
                        FingerRequest(subject: Subject(), store: [], finger: .rightIndex)), script)
                #expect(stage.store?.fingerprintIsOn == true)
            }
            await stage.store?.lock()
            await stage.change(policy)
            try await body(stage)
        }
    }

    /// The store is open, and has what the policy lets it have.
    @LoopActor
    private func expectDone(_ stage: Stage, _ passcode: String?, keepsFinger: Bool) async {
        #expect(stage.store?.isOpen == true)
        #expect(stage.store?.pending == nil)
        #expect(stage.store?.hasPasscode == (passcode != nil))
        #expect(stage.store?.snapshot.hasDevice == (passcode == nil))
        #expect(stage.store?.fingerprintIsOn == keepsFinger)
        guard let passcode else { return }
        #expect(await stage.opens(with: passcode))
        if passcode != old { #expect(await !stage.opens(with: old)) }
    }

    @Test("it is gone through, and the store is open", arguments: Due.all)
    fileprivate func whole(_ due: Due) async throws {
        try await onStage(hasFinger: due.hasFinger, due.policy) { stage in
            let script = stage.login(typed)
            let entered = await stage.enter(.step, script, password: "")
            #expect(entered == Entered(isIn: true, outcomes: [.success, .ignore]))
            #expect(script.asked == ["match.prompt"] + due.asks)
            await expectDone(stage, due.passcode, keepsFinger: due.keepsFinger)
        }
    }

    @Test(
        "no or silence at any question: a login, and a store that stays locked and as it was",
        arguments: Due.all, [false, true])
    fileprivate func cut(_ due: Due, enforce: Bool) async throws {
        for turn in [Script.Turn.cancels, .leaves] {
            try await onStage(hasFinger: due.hasFinger, due.policy) { stage in
                let slots = stage.store?.snapshot.passcodes
                for at in due.asks.indices {
                    let script = stage.login(typed, at: (at + 1, turn))
                    let entered = await stage.enter(.step, script, password: "", enforce: enforce)
                    switch turn {
                    // Its connection is gone, and the verdict with it.
                    case .leaves, .leavesBehind, .waits: break
                    case .cancels, .first:
                        #expect(entered.outcomes.first == (enforce ? .authError : .success))
                        #expect(enforce || script.shown.contains("cancel.change.title"))
                    }
                    #expect(stage.store?.isOpen == false)
                    #expect(stage.store?.pending?.flow == due.flow)
                    #expect(stage.store?.pending?.reason == .policy)
                    #expect(stage.store?.snapshot.passcodes == slots)
                    #expect(stage.store?.snapshot.hasDevice == false)
                    #expect(stage.store?.fingerprintIsOn == due.hasFinger)
                }
                // The next login goes through all of it.
                let script = stage.login(typed)
                _ = await stage.enter(.step, script, password: "")
                #expect(script.asked == ["match.prompt"] + due.asks)
                await expectDone(stage, due.passcode, keepsFinger: due.keepsFinger)
            }
        }
    }

    @Test("what holds when it is done is the last policy", arguments: Again.all)
    fileprivate func changedAgain(_ again: Again) async throws {
        try await onStage(hasFinger: again.hasFinger, again.first) { stage in
            let script = stage.login(
                typed, at: (again.at, .first { await stage.change(again.then) }))
            if again.passcode == long {
                script.afterwards = ["create.choose": long, "create.confirm": long]
                // What was begun is ended first.
                if again.at == 2 { script.once["create.confirm"] = new }
            }
            let entered = await stage.enter(.step, script, password: "")
            #expect(entered.outcomes.first == .success)
            #expect(script.asked == ["match.prompt"] + again.asks)
            // Told why what was typed is not taken, or that none is wanted any more.
            if again.passcode == long, again.at > 1 {
                #expect(script.shown.contains("unmet.minLength"), "\(script.shown)")
            }
            if again.passcode == nil {
                #expect(script.shown.contains("passcode.off.headline"), "\(script.shown)")
            }
            await expectDone(stage, again.passcode, keepsFinger: again.keepsFinger)
        }
    }
}
