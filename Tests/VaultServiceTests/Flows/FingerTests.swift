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
        let script = script ?? stage.script(["match.current": passcode])
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

    @Test("a cancel before the last touch has ended enrols nothing")
    func cancelled() async throws {
        try await Stage.run("", hasReader: true) { stage in
            stage.reader.readers[0].stores = true
            await Self.settle(stage)
            let script = stage.script(["match.current": Self.passcode], at: (1, .cancels))
            #expect(await Self.enroll(stage, script) == .failure(.refused(.cancelled)))
            #expect(stage.store?.fingerprintIsOn == false)
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
                await stage.store?.lock()
                let login = stage.login([:], service: service, tty: tty)
                login.touches = [.matched(0)]
                var request = Authenticate(
                    subject: Subject(name: stage.alice.name, uid: stage.alice.uid))
                request.finger = .first
                let token = try SecretBox(SecretBytes(copying: [UInt8]().span))
                let verdict = try await stage.house.pam.run(
                    .authenticate(request, token: token), login)
                #expect(verdict.outcome == .success)
                #expect(login.shown.contains(line))
            }
        }
    }

    // MARK: prints on a chip

    @LoopActor
    static func list(_ stage: Stage) async throws -> FingerprintState {
        try await stage.house.flows.fingers.listFingers(Target(), stage.script([:]))
    }

    /// A reader with a chip, and a right index finger on it.
    @LoopActor
    static func settleOnChip(_ stage: Stage) async {
        stage.reader.readers[0].stores = true
        await settle(stage)
        #expect(await enroll(stage) == .success("fingerprint.enrolled"))
        #expect(stage.reader.waits.isEmpty)
    }

    @Test("a finger that is enrolled under another name is named, and nothing changes")
    func known() async throws {
        try await Stage.run("", hasReader: true) { stage in
            await Self.settleOnChip(stage)
            let script = stage.script(["match.current": Self.passcode])
            let end = await Self.enroll(stage, script, .leftThumb, [.matched(0)])
            #expect(end == .failure(.refused(.fingerprintUnavailable(.duplicate))))
            #expect(script.shown.contains("fingerprint.known"))
            let fingers = try await stage.store?.enrolledFingers().fingers.map(\.finger)
            #expect(fingers == [Finger.rightIndex.rawValue])
            #expect(stage.reader.deleted == 0)
            // Another one is enrolled behind the touch that tells it.
            let other = await Self.enroll(
                stage, nil, .leftThumb, [.noMatch, .enrolled(stage.print)])
            #expect(other == .success("fingerprint.enrolled"))
            #expect(stage.reader.deleted == 0)
        }
    }

    @Test("a finger of the same name is deleted from the chip before it is enrolled again")
    func again() async throws {
        try await Stage.run("", hasReader: true) { stage in
            await Self.settleOnChip(stage)
            let script = stage.script(["match.current": Self.passcode])
            let touches: [FingerEnd] = [.matched(0), .enrolled(stage.print)]
            #expect(
                await Self.enroll(stage, script, .rightIndex, touches)
                    == .success("fingerprint.enrolled"))
            #expect(stage.reader.deleted == 1)
            #expect(script.shown.filter { $0 == "fingerprint.place.enroll" }.count == 1)
            // Where that comes to nothing, the person is told that the former print is gone.
            let next = stage.script(["match.current": Self.passcode])
            let end = await Self.enroll(
                stage, next, .rightIndex, [.matched(0), .failed(.storageFull)])
            #expect(end == .failure(.refused(.fingerprintUnavailable(.full))))
            #expect(next.shown.contains("fingerprint.former-gone"))
            let left = try await stage.store?.enrolledFingers().fingers
            #expect(left?.isEmpty == true)
            let state = try await Self.list(stage)
            #expect(!state.ready)
        }
    }

    @Test("a chip that calls a finger known which the first touch did not tell")
    func duplicate() async throws {
        try await Stage.run("", hasReader: true) { stage in
            await Self.settleOnChip(stage)
            let touches: [FingerEnd] = [
                .noMatch, .failed(.duplicate), .enrolled(stage.print),
            ]
            #expect(
                await Self.enroll(stage, nil, .rightIndex, touches)
                    == .success("fingerprint.enrolled"))
            #expect(stage.reader.deleted == 1)
            let end = await Self.enroll(stage, nil, .leftThumb, [.noMatch, .failed(.duplicate)])
            #expect(end == .failure(.refused(.fingerprintUnavailable(.duplicate))))
            #expect(stage.reader.deleted == 1)
        }
    }

    @Test("a print that a chip has lost is shown as gone, and one of another's is only counted")
    func gone() async throws {
        try await Stage.run("", hasReader: true) { stage in
            await Self.settleOnChip(stage)
            stage.reader.held = [1, 0]
            var state = try await Self.list(stage)
            #expect(state.fingers.map(\.standing) == [.usable])
            #expect((state.ready, state.foreign, state.unavailable) == (true, 1, []))
            stage.reader.held = [0, 0]
            state = try await Self.list(stage)
            #expect(state.fingers.map(\.standing) == [.gone])
            #expect((state.ready, state.foreign) == (false, 2))
            #expect(!state.unavailable.isEmpty && !state.advice.isEmpty)
        }
    }

    @Test("a deletion that failed is tried again, where the reader is by then")
    func retried() async throws {
        try await Stage.run("FingerprintReaders=any\n", hasReader: true) { stage in
            await Self.settleOnChip(stage)
            stage.reader.failures = [.fault(.busy)]
            stage.reader.held = [1]
            let off = stage.script(["match.current": Self.passcode])
            _ = await stage.run(
                .fingerprintSwitch(FingerSwitch(subject: Subject(), store: [], on: false)), off)
            #expect(await stage.comes { stage.reader.failures.isEmpty })
            #expect(stage.reader.deleted == 0)
            stage.reader.readers[0].port = Array("9-9".utf8)
            _ = try await Self.list(stage)
            #expect(await stage.comes { stage.reader.deleted == 1 })
            #expect(stage.reader.places.map(\.port) == [Array("9-9".utf8)])
        }
    }

    @Test("a reader at another port is named so, and where the policy allows any it is the same")
    func moved() async throws {
        try await Stage.run("", hasReader: true) { stage in
            await Self.settle(stage)
            #expect(await Self.enroll(stage) == .success("fingerprint.enrolled"))
            stage.reader.readers[0].port = Array("9-9".utf8)
            var state = try await Self.list(stage)
            #expect(state.fingers.map(\.standing) == [.moved])
            #expect(!state.ready && !state.advice.isEmpty)
            await stage.change("FingerprintReaders=any\n")
            state = try await Self.list(stage)
            #expect(state.fingers.map(\.standing) == [.usable])
            stage.reader.readers = []
            state = try await Self.list(stage)
            #expect(state.fingers.map(\.standing) == [.away])
        }
    }

    @LoopActor
    static func clear(
        _ stage: Stage, _ script: Script, _ reader: String = "Played", agreed: Bool = false
    ) async -> Result<String, Interruption> {
        await stage.run(
            .fingerprintClear(FingerprintClear(reader: Array(reader.utf8), agreed: agreed)), script)
    }

    @Test("root empties a chip: shown first, asked for, and our fingers on it are forgotten")
    func cleared() async throws {
        try await Stage.run("", hasReader: true) { stage in
            await Self.settleOnChip(stage)
            stage.reader.held = [1, 0, 0]
            let no = stage.script(["fingerprint.clear.ask": "n"])
            #expect(await Self.clear(stage, no) == .failure(.refused(.cancelled)))
            #expect(
                no.shown == [
                    "fingerprint.clear", "fingerprint.clear.ours", "fingerprint.clear.foreign",
                ])
            #expect(stage.reader.cleared == 0 && stage.store?.fingerprintIsOn == true)
            for name in ["played", "1-1"] {
                let other = await Self.clear(stage, stage.script([:]), name + "x", agreed: true)
                #expect(other == .failure(.refused(.doesNotExist(.reader))))
            }
            stage.reader.failures = [.fault(.busy)]
            let busy = await Self.clear(stage, stage.script([:]), agreed: true)
            #expect(busy == .failure(.refused(.fingerprintUnavailable(.busy))))
            #expect(stage.store?.fingerprintIsOn == true)
            let yes = stage.script(["fingerprint.clear.ask": "y"])
            #expect(await Self.clear(stage, yes, "1-1") == .success("fingerprint.cleared"))
            #expect(stage.reader.cleared == 1 && stage.store?.fingerprintIsOn == false)
        }
    }

    @Test("nobody but root empties a chip, and a reader without one is not emptied")
    func clearedByOthers() async throws {
        try await Stage.run("", hasReader: true) { stage in
            await Self.settle(stage)
            let hello = Hello(frontEnd: .terminal, realUID: stage.alice.uid)
            let stranger = Script(
                stage.caller(hello, uid: stage.alice.uid, daemonUID: 990), stage.reader, [:])
            #expect(
                await Self.clear(stage, stranger, agreed: true)
                    == .failure(.refused(.notPermitted(.rootOnly))))
            let plain = await Self.clear(stage, stage.script([:]), agreed: true)
            #expect(plain == .failure(.refused(.fingerprintUnavailable(.notSupported))))
            #expect(stage.reader.cleared == 0)
        }
    }
}
