import KeySlots
import Posix
import Secrets
import StoreKeeping
import Testing
import Wire
import Words
import WorkerLinks

@testable import VaultService

/// Readers that keep prints on chips of their own.
@Suite("Fingers on a reader's chip")
struct ChipTests {
    @LoopActor
    static func list(_ stage: Stage) async throws -> FingerprintState {
        try await stage.house.flows.fingers.listFingers(Target(), stage.script([:]))
    }

    /// A reader with a chip, and a right index finger on it.
    @LoopActor
    static func settleOnChip(_ stage: Stage) async {
        stage.reader.readers[0].stores = true
        await FingerTests.settle(stage)
        #expect(await FingerTests.enroll(stage) == .success("fingerprint.enrolled"))
        // There is nothing yet that a first touch could be compared with.
        #expect(stage.reader.waits.isEmpty)
        let fingers = try? await stage.store?.enrolledFingers().fingers
        #expect(fingers?.map(\.isOnChip) == [true])
        #expect(fingers?.map(\.reader) == [PlayedReader.reader.id])
    }

    @Test("a finger that is enrolled under another name is named, and nothing changes")
    func known() async throws {
        try await Stage.run("", hasReader: true) { stage in
            await Self.settleOnChip(stage)
            let script = stage.script(["match.current": FingerTests.passcode])
            let end = await FingerTests.enroll(stage, script, .leftThumb, [.matched(0)])
            #expect(end == .failure(.refused(.fingerprintUnavailable(.duplicate))))
            #expect(script.shown.contains("fingerprint.known"))
            let fingers = try await stage.store?.enrolledFingers().fingers.map(\.finger)
            #expect(fingers == [Finger.rightIndex.rawValue])
            #expect(stage.reader.deleted == 0)
            // Another one is enrolled behind the touch that tells it.
            let other = await FingerTests.enroll(
                stage, nil, .leftThumb, [.noMatch, .enrolled(stage.print)])
            #expect(other == .success("fingerprint.enrolled"))
            #expect(stage.reader.deleted == 0)
        }
    }

    @Test("a finger of the same name is deleted from the chip before it is enrolled again")
    func again() async throws {
        try await Stage.run("", hasReader: true) { stage in
            await Self.settleOnChip(stage)
            let script = stage.script(["match.current": FingerTests.passcode])
            let touches: [FingerEnd] = [.matched(0), .enrolled(stage.print)]
            #expect(
                await FingerTests.enroll(stage, script, .rightIndex, touches)
                    == .success("fingerprint.enrolled"))
            #expect(stage.reader.deleted == 1)
            #expect(script.shown.filter { $0 == "fingerprint.place.enroll" }.count == 1)
            // Where that comes to nothing, the person is told that the former print is gone.
            let next = stage.script(["match.current": FingerTests.passcode])
            let end = await FingerTests.enroll(
                stage, next, .rightIndex, [.matched(0), .failed(.storageFull)])
            #expect(end == .failure(.refused(.fingerprintUnavailable(.full))))
            #expect(next.shown.contains("fingerprint.former-gone"))
            let left = try await stage.store?.enrolledFingers().fingers
            #expect(left?.isEmpty == true)
            #expect(await stage.comes { stage.store?.fingerprintIsOn == false })
            let state = try await Self.list(stage)
            #expect(!state.ready && !state.on)
        }
    }

    @Test("a chip's own word deletes no finger that the touch before has shown to be another one")
    func duplicate() async throws {
        try await Stage.run("", hasReader: true) { stage in
            await Self.settleOnChip(stage)
            for finger in [Finger.rightIndex, .leftThumb] {
                let end = await FingerTests.enroll(
                    stage, nil, finger, [.noMatch, .failed(.duplicate)])
                #expect(end == .failure(.refused(.fingerprintUnavailable(.duplicate))))
            }
            #expect(stage.reader.deleted == 0)
            #expect(await Self.fingers(stage) == [.rightIndex])
        }
    }

    @Test("a chip's own word means the former print where nothing can be compared")
    func duplicateUncompared() async throws {
        try await Stage.run("", hasReader: true) { stage in
            await Self.settleOnChip(stage)
            let uncompared = await FingerTests.enroll(
                stage, nil, .rightIndex,
                [.failed(.notSupported), .failed(.duplicate), .enrolled(stage.print)])
            #expect(uncompared == .success("fingerprint.enrolled"))
            #expect(stage.reader.deleted == 1)
            stage.reader.readers[0].identifies = false
            let again = await FingerTests.enroll(
                stage, nil, .rightIndex, [.failed(.duplicate), .enrolled(stage.print)])
            #expect(again == .success("fingerprint.enrolled"))
            #expect(stage.reader.deleted == 2)
        }
    }

    @LoopActor
    static func fingers(_ stage: Stage) async -> [Finger?]? {
        let found = try? await stage.store?.enrolledFingers().fingers
        return found?.map { Finger(rawValue: $0.finger) }
    }

    @Test("who stops while the former print is being deleted is told that it is gone")
    func stoppedDeleting() async throws {
        try await Stage.run("", hasReader: true) { stage in
            await Self.settleOnChip(stage)
            let script = stage.script(["match.current": FingerTests.passcode])
            var shownBefore: [String] = []
            stage.reader.whenDeleting = {
                stage.house.upkeep.readers.fingerSeat.withdraw()
                // Long enough for an answer that would not wait.
                await EventLoop.sleep(until: Clock.bootMilliseconds() + 200)
                shownBefore = script.shown
            }
            let end = await FingerTests.enroll(stage, script, .rightIndex, [.matched(0)])
            #expect(end == .failure(.refused(.fingerprintUnavailable(.stopped))))
            #expect(script.shown.last == "fingerprint.former-gone")
            #expect(!shownBefore.contains("fingerprint.former-gone"))
            #expect(stage.reader.deleted == 1)
            #expect(await stage.comes { stage.store?.fingerprintIsOn == false })
        }
    }

    @Test("without the only finger fingers are off; another one stays")
    func formerGone() async throws {
        try await Stage.run("", hasReader: true) { stage in
            await Self.settleOnChip(stage)
            let other = await FingerTests.enroll(
                stage, nil, .leftThumb, [.noMatch, .enrolled(stage.print)])
            #expect(other == .success("fingerprint.enrolled"))
            let full: [FingerEnd] = [.matched(1), .failed(.storageFull)]
            let one = await FingerTests.enroll(stage, nil, .rightIndex, full)
            #expect(one == .failure(.refused(.fingerprintUnavailable(.full))))
            #expect(await Self.fingers(stage) == [.leftThumb])
            #expect(stage.store?.fingerprintIsOn == true)
            // Read, but never kept: the front end has left.
            let script = stage.script(
                ["match.current": FingerTests.passcode], at: (2, .leavesBehind))
            let left = await FingerTests.enroll(
                stage, script, .leftThumb, [.matched(0), .enrolled(stage.print)])
            #expect(left == .failure(.gone(.closed)))
            #expect(await stage.comes { stage.store?.fingerprintIsOn == false })
            #expect(await stage.comes { stage.reader.deleted == 3 })
        }
    }

    // MARK: other accounts' prints

    /// Another store, with a finger on the same chip.
    @LoopActor
    static func settleAnother(_ stage: Stage) async {
        let name = Array("second".utf8)
        await stage.run(
            .create(Create(target: Target(store: name), way: .ownPasscode, openExisting: false)),
            stage.script([
                "create.choose": FingerTests.passcode, "create.confirm": FingerTests.passcode,
                "recovery.keep": "",
            ]))
        let script = stage.script([
            "match.current": FingerTests.passcode, "fingerprint.who": "n",
        ])
        script.touches = [.noMatch, .enrolled(stage.print)]
        let done = await stage.run(
            .fingerprintEnroll(
                FingerRequest(subject: Subject(), store: name, finger: .leftThumb)), script)
        #expect(done == .success("fingerprint.enrolled"))
    }

    @Test("a print of another store that ends the worker keeps nobody from enrolling or listing")
    func poison() async throws {
        try await Stage.run("", hasReader: true) { stage in
            await Self.settleOnChip(stage)
            await Self.settleAnother(stage)
            #expect(stage.reader.compared == [1])
            let done = await FingerTests.enroll(
                stage, nil, .rightThumb, [.lost(.ended), .noMatch, .enrolled(stage.print)])
            #expect(done == .success("fingerprint.enrolled"))
            // With those of the other store, and then without.
            #expect(stage.reader.compared == [1, 2, 1])
            // Where its own end the worker, too, none is compared.
            let none = await FingerTests.enroll(
                stage, nil, .rightMiddle, [.lost(.ended), .lost(.nonsense), .enrolled(stage.print)])
            #expect(none == .success("fingerprint.enrolled"))
            stage.reader.mostStored = 3
            stage.reader.held = [1, 3]
            let state = try await Self.list(stage)
            #expect(state.fingers.map(\.standing) == [.usable, .gone, .usable])
            #expect(state.foreign == 0)
        }
    }

    @Test("more prints than one request takes are asked for in several")
    func chunks() async throws {
        try await Stage.run("", hasReader: true) { stage in
            await Self.settleOnChip(stage)
            for finger in Finger.allCases where finger != .unnamed && finger != .rightIndex {
                let done = await FingerTests.enroll(
                    stage, nil, finger, [.noMatch, .enrolled(stage.print)])
                #expect(done == .success("fingerprint.enrolled"))
            }
            await Self.settleAnother(stage)
            // No more than ten were ever compared.
            #expect(stage.reader.compared.max() == FingerprintLink.templatesMost)
            var asked: [Int] = []
            // Twelve prints: eleven of ours, one of which is the eleventh that is asked for, and
            // one that is not.
            stage.reader.holds = { _, count in
                asked.append(count)
                let none = [UInt8](repeating: 0, count: 11)
                return count == 10 ? Array(1...10) + none.prefix(2) : none + [1]
            }
            let state = try await Self.list(stage)
            #expect(asked == [10, 1])
            #expect(state.fingers.count == 10)
            #expect(state.fingers.allSatisfy { $0.standing == .usable })
            #expect(state.foreign == 1)
            // A worker that holds all of the first ten, and then nothing at all.
            stage.reader.holds = { _, count in count == 10 ? Array(1...10) : [] }
            let lied = try await Self.list(stage)
            #expect(lied.foreign == 0)
            #expect(Readers.Chip(count: 0, known: [0, 1]).foreign == 0)
        }
    }

    // MARK: two readers of one id

    /// The right index finger on the chip of one, the left thumb on that of the other.
    @LoopActor
    static func settleOnTwo(_ stage: Stage) async {
        await settleOnChip(stage)
        let first = stage.reader.readers[0]
        var second = first
        second.port = Array("9-9".utf8)
        stage.reader.readers = [second]
        let done = await FingerTests.enroll(
            stage, nil, .leftThumb, [.noMatch, .enrolled(stage.print)])
        #expect(done == .success("fingerprint.enrolled"))
        stage.reader.readers = [first, second]
    }

    @Test("of two readers of one id each finger is on the chip of one, and gone from none")
    func twoListed() async throws {
        try await Stage.run("FingerprintReaders=any\n", hasReader: true) { stage in
            await Self.settleOnTwo(stage)
            stage.reader.holds = { reader, _ in reader.port == Array("9-9".utf8) ? [1] : [2] }
            var state = try await Self.list(stage)
            #expect(state.fingers.map(\.standing) == [.usable, .usable])
            #expect(state.foreign == 0)
            stage.reader.holds = { reader, _ in reader.port == Array("9-9".utf8) ? [1] : [] }
            state = try await Self.list(stage)
            #expect(state.fingers.map(\.standing) == [.usable, .gone])
        }
    }

    @Test("the one of two readers of one id that is emptied takes its own fingers only with it")
    func twoCleared() async throws {
        try await Stage.run("FingerprintReaders=any\n", hasReader: true) { stage in
            await Self.settleOnTwo(stage)
            stage.reader.held = [1]
            let script = stage.script([:])
            #expect(
                await Self.clear(stage, script, "9-9", agreed: true)
                    == .success("fingerprint.cleared"))
            #expect(script.shown.filter { $0 == "fingerprint.clear.ours" }.count == 1)
            #expect(await Self.fingers(stage) == [.rightIndex])
            #expect(stage.store?.fingerprintIsOn == true)
        }
    }

    // MARK: what is left on chips

    @Test("what is left on a chip holds up no enrolment that is over, and no reader that is away")
    func leftovers() async throws {
        try await Stage.run("FingerprintReaders=any\n", hasReader: true) { stage in
            // As long as it takes on a slow machine.
            stage.house.upkeep.readers.pause = 3_600_000
            await Self.settleOnChip(stage)
            for finger in [Finger.leftThumb, .leftIndex] {
                let done = await FingerTests.enroll(
                    stage, nil, finger, [.noMatch, .enrolled(stage.print)])
                #expect(done == .success("fingerprint.enrolled"))
            }
            stage.reader.failsAlways = .fault(.busy)
            let off = stage.script(["match.current": FingerTests.passcode])
            _ = await stage.run(
                .fingerprintSwitch(FingerSwitch(subject: Subject(), store: [], on: false)), off)
            // One failure is enough: a reader that hangs would take its time with each.
            let readers = stage.house.upkeep.readers
            #expect(await stage.comes { stage.reader.deletions == 1 })
            #expect(await stage.comes { !readers.isRetryingLeaving })
            // The same reader has a pause, and one that is not there is not asked.
            let there = stage.reader.readers
            for present in [there, []] {
                stage.reader.readers = present
                _ = try await Self.list(stage)
                #expect(await stage.comes { !readers.isRetryingLeaving })
                #expect(stage.reader.deletions == 1)
            }
            stage.reader.readers = there
            stage.reader.failsAlways = nil
            // A reader in its pause holds up no enrolment either.
            let early = await FingerTests.enroll(stage, nil, .leftMiddle)
            #expect(early == .success("fingerprint.enrolled"))
            #expect(stage.reader.deleted == 0)
            readers.pause = 0
            stage.reader.whenDeleting = { stage.house.upkeep.readers.fingerSeat.withdraw() }
            let end = await FingerTests.enroll(stage, nil, .rightIndex, [])
            #expect(end == .failure(.refused(.fingerprintUnavailable(.stopped))))
            #expect(await stage.comes { !stage.house.upkeep.readers.fingerSeat.isTaken })
            #expect(stage.reader.deleted == 1)
            stage.reader.whenDeleting = nil
            // The next one deletes the rest first.
            let done = await FingerTests.enroll(
                stage, nil, .rightIndex, [.noMatch, .enrolled(stage.print)])
            #expect(done == .success("fingerprint.enrolled"))
            #expect(stage.reader.deleted == 3)
        }
    }

    @Test("each store has a share of what is left on chips, and all together have a limit")
    func limits() async throws {
        try await Stage.run("FingerprintReaders=any\n", hasReader: true) { stage in
            stage.reader.readers[0].stores = true
            let readers = stage.house.upkeep.readers
            let finger = Enrolment.enrolled(.rightIndex, stage.reader.readers[0], stage.print)
            stage.reader.failsAlways = .fault(.busy)
            @LoopActor func leave(_ count: Int, _ stores: Int) async throws -> Int {
                for _ in 0..<stores {
                    let store = try StoreID.random()
                    for _ in 0..<count { readers.forgetOnChips([finger], of: store) }
                }
                #expect(await stage.comes { !readers.isRetryingLeaving })
                stage.reader.failsAlways = nil
                let before = stage.reader.deleted
                stage.reader.readers[0].port += Array("9".utf8)
                readers.retryLeaving()
                #expect(await stage.comes { !readers.hasLeaving })
                stage.reader.failsAlways = .fault(.busy)
                return stage.reader.deleted - before
            }
            let ofOne = try await leave(50, 1)
            #expect(ofOne == 10)
            let ofAll = try await leave(9, 5)
            #expect(ofAll == 32)
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
            let off = stage.script(["match.current": FingerTests.passcode])
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
            await FingerTests.settle(stage)
            #expect(await FingerTests.enroll(stage) == .success("fingerprint.enrolled"))
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
            for name in ["Played", "played", "played/1"] {
                let named = await Self.clear(stage, stage.script([:]), name, agreed: true)
                #expect(named == .success("fingerprint.cleared"))
            }
        }
    }

    @Test("where clearing fails, the fingers whose prints are gone all the same are forgotten")
    func clearedInPart() async throws {
        try await Stage.run("", hasReader: true) { stage in
            await Self.settleOnChip(stage)
            let other = await FingerTests.enroll(
                stage, nil, .leftThumb, [.noMatch, .enrolled(stage.print)])
            #expect(other == .success("fingerprint.enrolled"))
            for (before, after, left) in [
                ([1, 2, 0], [1, 2, 0], [Finger.leftThumb, .rightIndex]),
                ([1, 2, 0], [2], [.rightIndex]), ([1, 0], [0], []),
            ] as [([UInt8], [UInt8], [Finger])] {
                stage.reader.held = before
                stage.reader.heldAfterFailure = after
                stage.reader.failures = [.lost(.tooSlow)]
                let end = await Self.clear(stage, stage.script([:]), agreed: true)
                #expect(end == .failure(.refused(.fingerprintUnavailable(.worker))))
                #expect(await Self.fingers(stage) == left)
                #expect(stage.store?.fingerprintIsOn == !left.isEmpty)
            }
        }
    }

    @Test("a chip on which somebody enrols while root is asked is not emptied")
    func clearedMeanwhile() async throws {
        try await Stage.run("", hasReader: true) { stage in
            await Self.settleOnChip(stage)
            stage.reader.held = [1]
            let there = stage.reader.readers
            let changes: [@LoopActor () async -> Void] = [
                {
                    let other = await FingerTests.enroll(
                        stage, nil, .leftThumb, [.noMatch, .enrolled(stage.print)])
                    #expect(other == .success("fingerprint.enrolled"))
                },
                // The same finger, at another reader: it is none that was shown.
                {
                    stage.reader.readers[0].id = Array("played/2".utf8)
                    let again = await FingerTests.enroll(stage)
                    #expect(again == .success("fingerprint.enrolled"))
                    stage.reader.readers = there
                },
                // By another system on the same machine.
                { stage.reader.held = [1, 0] },
                { stage.reader.readers = [] },
            ]
            for change in changes {
                let script = stage.script(["fingerprint.clear.ask": "y"], at: (0, .first(change)))
                #expect(await Self.clear(stage, script) == .failure(.refused(.cancelled)))
                #expect(script.shown.last == "fingerprint.clear.changed")
                stage.reader.readers = there
            }
            #expect(stage.reader.cleared == 0)
            #expect(stage.store?.fingerprintIsOn == true)
            #expect(await Self.fingers(stage) == [.leftThumb, .rightIndex])
        }
    }

    @Test("fingers that cannot be read are not none: the chip is not emptied")
    func clearedUnread() async throws {
        try await Stage.run("", hasReader: true) { stage in
            await Self.settleOnChip(stage)
            stage.reader.held = [1]
            let folder = try Folder(path: stage.stateFolder)
            try folder.rename("fingers", to: "aside")
            _ = try folder.file("fingers", .createNew(mode: 0o600))
            let end = await Self.clear(stage, stage.script([:]), agreed: true)
            guard case .failure(.refused(.storageFailed)) = end else {
                Issue.record("\(end)")
                return
            }
            #expect(stage.reader.cleared == 0)
            try folder.remove("fingers")
            try folder.rename("aside", to: "fingers")
            #expect(stage.store?.fingerprintIsOn == true)
            #expect(await Self.fingers(stage) == [.rightIndex])
        }
    }

    @Test("nobody but root empties a chip, and a reader without one is not emptied")
    func clearedByOthers() async throws {
        try await Stage.run("", hasReader: true) { stage in
            await FingerTests.settle(stage)
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
