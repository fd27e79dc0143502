import Posix
import Secrets
import StoreKeeping
import Testing
import Wire
import Words
import WorkerLinks

@testable import VaultService

/// A person and a reader, from the first line to the last.
@Suite("Fingers")
struct FingerTests {
    static let passcode = "correct horse"

    /// A store that its passcode has opened.
    @LoopActor
    static func settle(_ stage: Stage) async {
        await stage.run(
            .create(Create(target: Target(), way: .ownPasscode, openExisting: false)),
            stage.script([
                "create.choose": passcode, "create.confirm": passcode, "recovery.keep": "",
            ]))
        #expect(stage.store?.isOpen == true)
    }

    /// Another finger, by the passcode and these touches.
    @LoopActor
    static func enroll(
        _ stage: Stage, _ script: Script? = nil, _ finger: Finger = .rightIndex,
        _ touches: [FingerEnd]? = nil
    ) async -> Result<String, Interruption> {
        let script =
            script ?? stage.script(["match.current": passcode, "fingerprint.who": "n"])
        script.touches = touches ?? [.enrolled(stage.print)]
        return await stage.run(
            .fingerprintEnroll(FingerRequest(subject: Subject(), store: [], finger: finger)),
            script)
    }

    @Test("a reader that wants a swipe is swiped")
    func swipe() async throws {
        try await Stage.run("", hasReader: true) { stage in
            stage.reader.readers[0].scan = .swipe
            await Self.settle(stage)
            let script = stage.script(["match.current": Self.passcode])
            #expect(await Self.enroll(stage, script) == .success("fingerprint.enrolled"))
            #expect(script.shown.contains("fingerprint.swipe.enroll"))
            await stage.store?.lock()
            let again = stage.script([:])
            again.touches = [.matched(0)]
            _ = await stage.run(.openStore(Target()), again)
            #expect(again.shown.contains("fingerprint.swipe.enter"))
            #expect(stage.store?.isOpen == true)
        }
    }

    @Test("whoever is recognised at the last touch that is left is recognised the next time, too")
    func lastTouch() async throws {
        try await Stage.run("FingerprintMaxFailures=1\n", hasReader: true) { stage in
            await Self.settle(stage)
            #expect(await Self.enroll(stage) == .success("fingerprint.enrolled"))
            for _ in 0..<3 {
                await stage.store?.lock()
                let script = stage.script([:])
                script.touches = [.matched(0)]
                let end = await stage.run(.openStore(Target()), script)
                #expect(end == .success("fingerprint.verified"), "\(script.asked)")
            }
        }
    }

    @Test("a finger that a front end leaves before it is kept stays nowhere, nor on the chip")
    func leaves() async throws {
        try await Stage.run("", hasReader: true) { stage in
            stage.reader.readers[0].stores = true
            await Self.settle(stage)
            var hasLeft = false
            let caller = stage.caller(
                Hello(frontEnd: .terminal, realUID: stage.alice.uid), uid: stage.alice.uid,
                hangsUp: { hasLeft })
            let script = Script(
                caller, stage.reader, ["match.current": Self.passcode],
                at: (1, .first { hasLeft = true }))
            #expect(await Self.enroll(stage, script) == .failure(.refused(.cancelled)))
            #expect(stage.store?.fingerprintIsOn == false)
            #expect(await stage.comes { stage.reader.deleted == 1 })
        }
    }

    @Test("a cancel before the last touch has ended enrols nothing, also where the reader has it")
    func cancelled() async throws {
        try await Stage.run("", hasReader: true) { stage in
            stage.reader.readers[0].stores = true
            await Self.settle(stage)
            for end in [FingerEnd.failed(.cancelled), .enrolled(stage.print)] {
                stage.reader.whenStopped = end
                let script = stage.script(["match.current": Self.passcode], at: (1, .cancels))
                #expect(await Self.enroll(stage, script) == .failure(.refused(.cancelled)))
                #expect(stage.store?.fingerprintIsOn == false)
            }
            #expect(await stage.comes { stage.reader.deleted == 1 })
        }
    }

    @Test("a finger that was read for a front end that is gone then stays nowhere")
    func leavesBehind() async throws {
        try await Stage.run("", hasReader: true) { stage in
            stage.reader.readers[0].stores = true
            await Self.settle(stage)
            let script = stage.script(["match.current": Self.passcode], at: (1, .leavesBehind))
            #expect(await Self.enroll(stage, script) == .failure(.gone(.closed)))
            #expect(stage.store?.fingerprintIsOn == false)
            #expect(await stage.comes { stage.reader.deleted == 1 })
        }
    }

    @Test("at a display the conversation goes on in time, whatever the worker does")
    func hangs() async throws {
        try await Stage.run("", hasReader: true) { stage in
            await Self.settle(stage)
            #expect(await Self.enroll(stage) == .success("fingerprint.enrolled"))
            await stage.store?.lock()
            stage.reader.whenStopped = nil
            let login = stage.login(
                ["match.prompt": Self.passcode], at: (0, .waits), service: "lightdm", tty: ":0")
            var request = Authenticate(
                subject: Subject(name: stage.alice.name, uid: stage.alice.uid))
            request.finger = .first
            request.fingerSeconds = 2
            let token = try SecretBox(SecretBytes(copying: [UInt8]().span))
            // The worker is given up at last, long after the time that the line names.
            let slow = EventLoop.shared.at(Clock.bootMilliseconds() + 300_000) {
                EventLoop.shared.task { stage.reader.touch(.lost(.tooSlow)) }
            }
            let verdict = try await stage.house.pam.run(.authenticate(request, token: token), login)
            EventLoop.shared.cancel(slow)
            #expect(verdict.outcome == .success)
            // On a busy machine the time may be over before the reader is asked.
            #expect(login.asked.last == "match.prompt")
            #expect(!login.shown.contains("fingerprint.unavailable"))
            stage.reader.touch(.failed(.cancelled))
        }
    }

    @Test("at a display a reader waits 8 seconds at most, elsewhere as long as it is told")
    @LoopActor
    func waits() {
        let asked: [UInt8] = [0, 5, 8, 30, 255]
        #expect(asked.map { FingerScans.wait($0, atDisplay: true) } == [8, 5, 8, 8, 8])
        #expect(asked.map { FingerScans.wait($0, atDisplay: false) } == [30, 5, 8, 30, 120])
    }

    @Test("who can press a key is told so, and who cannot is told how long to wait")
    func lines() async throws {
        try await Stage.run("", hasReader: true) { stage in
            await Self.settle(stage)
            #expect(await Self.enroll(stage) == .success("fingerprint.enrolled"))
            for (service, tty, line) in [
                ("lightdm", ":0", "fingerprint.place.wait"),
                ("gdm-password", ":1", "fingerprint.place.wait"),
                ("login", "tty1", "fingerprint.place.service"),
            ] {
                var login: Script
                var verdict: Verdict
                var tries = 0
                repeat {
                    await stage.store?.lock()
                    login = stage.login(
                        ["match.prompt": Self.passcode], service: service, tty: tty)
                    login.touches = [.matched(0)]
                    var request = Authenticate(
                        subject: Subject(name: stage.alice.name, uid: stage.alice.uid))
                    request.finger = .first
                    let token = try SecretBox(SecretBytes(copying: [UInt8]().span))
                    verdict = try await stage.house.pam.run(
                        .authenticate(request, token: token), login)
                    tries += 1
                    // On a busy machine the time may be over before the reader is asked.
                } while login.asked.contains("match.prompt") && tries < 20
                #expect(verdict.outcome == .success)
                #expect(!login.asked.contains("match.prompt"))
                #expect(login.shown.contains(line))
            }
        }
    }
}
