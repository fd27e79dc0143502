import Policy
import Secrets
import Testing

@testable import KeySlots

/// The power fails at each write and at each sync, and any part of what was not synced may be on
/// the disk.
@Suite struct PowerCutTests {
    /// Runs the change with power for 0, 1, 2 ... steps until it succeeds. Hands over each state
    /// that may be left on the disk.
    private func cut(
        _ fixture: Fixture, _ bytes: [UInt8], _ change: (SlotFile) throws -> Void,
        _ check: (_ left: [UInt8], _ finished: Bool) throws -> Void
    ) throws {
        for budget in 0..<40 {
            let disk = PowerDisk(bytes)
            let file = try fixture.open(disk)
            disk.budget = budget
            var finished = true
            do {
                try change(file)
            } catch KeyError.storage {
                finished = false
            }
            for left in disk.afterPowerCut { try check(left, finished) }
            if finished {
                #expect(budget > 1, "the change wrote something")
                return
            }
        }
        Issue.record("the change never ends")
    }

    @Test("a changed passcode: the old or the new one opens, at every instant")
    func replacePasscode() throws {
        let fixture = try Fixture()
        try cut(fixture, try fixture.bytes()) { file in
            try file.replacePasscode(
                try Fixture.details(), derived: try secret(Fixture.second),
                storeKey: try secret(Fixture.storeKey), proven: try file.passcodeSlots[0])
        } _: { left, finished in
            let file = try fixture.open(left)
            let old = try fixture.opens(file, Fixture.first)
            let new = try fixture.opens(file, Fixture.second)
            #expect(finished ? new && !old : new || old)
        }
    }

    /// Passcodes 1, 2 and 3 were there; 3 is the present one.
    private func withHistory(_ keep: Int, recovery: Bool = false) throws -> HistoryLab {
        let lab = try HistoryLab(recovery: recovery)
        let file = try lab.fixture.open(lab.disk)
        try lab.change(file, from: 1, to: 2, keep: keep)
        try lab.change(file, from: 2, to: 3, keep: keep)
        return lab
    }

    @Test(
        "a changed passcode with its history: the replaced one is a former one at every instant",
        arguments: [2, 3, 24], [true, false])
    func history(keep: Int, isTyped: Bool) throws {
        let lab = try withHistory(keep)
        var terms = Terms(fingerprintWasAllowed: false, seenAt: 1)
        terms.begin(
            Terms.Pending(.change, .recovery),
            on: try lab.fixture.open(lab.disk.bytes).passcodeSlots[0])
        let marked = terms
        try lab.fixture.open(lab.disk).write(marked)
        try cut(lab.fixture, lab.disk.bytes) { file in
            try change(lab, file, to: 4, keep: keep, isTyped: isTyped)
        } _: { left, finished in
            let file = try lab.fixture.open(left)
            let (old, new) = (try opens(lab, left, 3), try opens(lab, left, 4))
            #expect(finished ? new && !old : new || old)
            // Whichever passcode is typed next, the others are in the history and it is not.
            if old { try check(lab, left, now: 3, former: [2, 1], keep, marked, isDue: true) }
            if new { try check(lab, left, now: 4, former: [3, 2, 1], keep, marked, isDue: false) }
            if finished {
                #expect(file.terms == Terms(fingerprintWasAllowed: true, seenAt: 2))
                #expect(try HistoryLab.former(file) == Array([3, 2, 1].prefix(keep)))
                #expect(try hasEntry(file))
            }
        }
    }

    private func change(
        _ lab: HistoryLab, _ file: SlotFile, to new: UInt8, keep: Int, isTyped: Bool
    ) throws {
        let present = try #require(try file.passcodeSlots.first)
        let details = try Fixture.details()
        try file.replacePasscode(
            details, derived: try secret([UInt8](repeating: new, count: 32)),
            storeKey: try secret(Fixture.storeKey), proven: isTyped ? present : nil,
            with: Along(
                history: HistoryChange(
                    former: isTyped ? try HistoryLab.hash(present.details, 3) : nil,
                    present: try HistoryLab.hash(details, new), keep: keep),
                terms: Terms(fingerprintWasAllowed: true, seenAt: 2), identity: file.identity))
    }

    private func opens(_ lab: HistoryLab, _ bytes: [UInt8], _ passcode: UInt8) throws -> Bool {
        try lab.fixture.opens(
            try lab.fixture.open(bytes), [UInt8](repeating: passcode, count: 32))
    }

    private func hasEntry(_ file: SlotFile) throws -> Bool {
        try file.history(storeKey: try secret(Fixture.storeKey)).has(try file.passcodeSlots[0])
    }

    /// Checks the state after an unlock with the passcode `now`, and after one more change.
    private func check(
        _ lab: HistoryLab, _ left: [UInt8], now: UInt8, former: [UInt8], _ keep: Int,
        _ marked: Terms, isDue: Bool
    ) throws {
        let disk = PowerDisk(left)
        let file = try lab.fixture.open(disk)
        let derived = try secret([UInt8](repeating: now, count: 32))
        let slot = try #require(
            try file.passcodeSlots.first {
                (try? file.openPasscode($0, derived: derived)) != nil
            })
        try file.settle(on: slot)
        #expect(try HistoryLab.former(file).prefix(keep) == former.prefix(keep))
        let pending = file.terms.pending(on: slot)
        #expect(isDue ? pending != nil || file.terms != marked : pending == nil)
        // The change is made, or made again, and nothing is remembered twice or lost.
        try lab.change(file, from: now, to: 9, keep: keep)
        #expect(try HistoryLab.former(file) == Array(([now] + former).prefix(keep)))
        #expect(try file.passcodeSlots.count == 1)
        #expect(file.terms.pending(on: try file.passcodeSlots[0]) == nil)
    }

    @Test("a change cut short twenty times takes nothing from the history")
    func historyManyCuts() throws {
        let lab = try withHistory(5)
        var bytes = lab.disk.bytes
        for round in 0..<20 {
            let disk = PowerDisk(bytes)
            let file = try lab.fixture.open(disk)
            // The first round writes the history. In the later rounds the power fails before the
            // new slot is written.
            disk.budget = round == 0 ? 3 : round % 2
            do {
                try change(lab, file, to: 4, keep: 5, isTyped: true)
                Issue.record("the change was not cut short")
            } catch KeyError.storage {
            }
            bytes = disk.afterPowerCut[0]
            #expect(try opens(lab, bytes, 3))
            #expect(try HistoryLab.former(try lab.fixture.open(bytes)) == [2, 1])
        }
    }

    @Test(
        "a passcode turned off with what goes along: why there is none is known at once"
    )
    func turnOffAlong() throws {
        let lab = try withHistory(3)
        try lab.fixture.open(lab.disk).write(Terms(fingerprintIsOn: true))
        try cut(lab.fixture, lab.disk.bytes) { file in
            var identity = file.identity
            identity.withoutPasscode = .byChoice
            try file.replacePasscodeWithDevice(
                storeKey: try secret(Fixture.storeKey),
                with: Along(
                    history: HistoryChange(
                        former: try HistoryLab.hash(try file.passcodeSlots[0].details, 3),
                        present: nil, keep: 3), terms: Terms(), identity: identity))
        } _: { left, finished in
            let file = try lab.fixture.open(left)
            let passcode = try opens(lab, left, 3)
            #expect(passcode || file.hasDeviceSlot)
            #expect(!finished || !passcode)
            let state = PasscodeState(
                hasPasscode: try !file.passcodeSlots.isEmpty, file.terms, file.identity)
            #expect(state == (passcode ? state : .none(.byChoice)))
            #expect(state != .fingerprintOnly)
            let former = try HistoryLab.former(file)
            #expect(former == (passcode ? [2, 1] : [3, 2, 1]))
        }
    }

    @Test("an adoption brings the history along, at whichever instant it was cut short before")
    func adoptionHistory() throws {
        let lab = try withHistory(5, recovery: true)
        let here = try Fixture(store: lab.fixture.store, machine: 8)
        for budget in 0..<40 {
            let disk = PowerDisk(lab.disk.bytes)
            disk.budget = budget
            let isFinished = try adopt(disk, here, Fixture.second)
            for left in disk.afterPowerCut {
                let again = PowerDisk(left)
                #expect(try adopt(again, here, Fixture.second))
                #expect(try HistoryLab.former(try here.open(again.bytes)) == [3, 2, 1])
            }
            if isFinished { return }
        }
        Issue.record("the adoption never ends")
    }

    @Test("what a failed change left on the disk goes with the next change that succeeds")
    func leftover() throws {
        let fixture = try Fixture()
        func failed() throws -> (PowerDisk, SlotFile) {
            let disk = PowerDisk(try fixture.bytes())
            let file = try fixture.open(disk)
            // The new slot is written, and its sync fails.
            disk.budget = 1
            #expect(throws: KeyError.self) {
                try file.addPasscode(
                    try Fixture.details(), derived: try secret(Fixture.second),
                    storeKey: try secret(Fixture.storeKey), proven: try file.passcodeSlots[0])
            }
            #expect(try fixture.opens(try fixture.open(disk.bytes), Fixture.second))
            disk.budget = nil
            return (disk, file)
        }
        let (settled, first) = try failed()
        try first.settle(on: try first.passcodeSlots[0])
        #expect(try !fixture.opens(try fixture.open(settled.bytes), Fixture.second))
        #expect(try fixture.opens(try fixture.open(settled.bytes), Fixture.first))

        let (off, second) = try failed()
        try second.replacePasscodeWithDevice(storeKey: try secret(Fixture.storeKey))
        #expect(try fixture.open(off.bytes).passcodeSlots.isEmpty)
    }

    @Test("a recovered passcode, with two on the disk before: one of them, or the recovery key")
    func recoverPasscode() throws {
        let fixture = try Fixture()
        let disk = PowerDisk(try fixture.bytes(recovery: true))
        let file = try fixture.open(disk)
        try file.addPasscode(
            try Fixture.details(), derived: try secret(Fixture.second),
            storeKey: try secret(Fixture.storeKey), proven: try file.passcodeSlots[0])
        try cut(fixture, disk.bytes) { file in
            try file.replacePasscode(
                try Fixture.details(), derived: try secret(Fixture.third),
                storeKey: try secret(Fixture.storeKey), proven: nil)
        } _: { left, finished in
            let file = try fixture.open(left)
            // The newer of the two slots, which is the one in use, survives the change.
            let old = try fixture.opens(file, Fixture.second)
            let new = try fixture.opens(file, Fixture.third)
            #expect(finished ? new && !old : new || old)
            #expect(try fixture.opensWithRecovery(left))
        }
    }

    @Test("a passcode turned off: it opens, or the device slot does")
    func turnOff() throws {
        let fixture = try Fixture()
        try cut(fixture, try fixture.bytes()) { file in
            try file.replacePasscodeWithDevice(storeKey: try secret(Fixture.storeKey))
        } _: { left, finished in
            let file = try fixture.open(left)
            let passcode = try fixture.opens(file, Fixture.first)
            #expect(passcode || file.hasDeviceSlot)
            #expect(!finished || !passcode)
            if file.hasDeviceSlot { #expect(reveal(try file.openDevice()) == Fixture.storeKey) }
        }
    }

    @Test("a passcode turned on: the device slot opens, or the passcode does")
    func turnOn() throws {
        let fixture = try Fixture()
        let disk = PowerDisk(try fixture.bytes())
        try fixture.open(disk).replacePasscodeWithDevice(storeKey: try secret(Fixture.storeKey))
        try cut(fixture, disk.bytes) { file in
            try file.replacePasscode(
                try Fixture.details(), derived: try secret(Fixture.second),
                storeKey: try secret(Fixture.storeKey), proven: nil)
        } _: { left, finished in
            let file = try fixture.open(left)
            let passcode = try fixture.opens(file, Fixture.second)
            #expect(passcode || file.hasDeviceSlot)
            #expect(!finished || !file.hasDeviceSlot)
        }
    }

    @Test(
        "a passcode turned on takes along a recovery key made without one, or the next unlock does",
        arguments: [false, true])
    func turnOnRevoking(isProven: Bool) throws {
        let fixture = try Fixture()
        let disk = PowerDisk(try fixture.bytes())
        let none = try fixture.open(disk)
        try none.replacePasscodeWithDevice(storeKey: try secret(Fixture.storeKey))
        _ = try none.addRecovery(
            try RecoveryKey(try secret(Fixture.recovery)), setAt: 4,
            storeKey: try secret(Fixture.storeKey), isProven: isProven)
        try none.write(Terms(recoveryWasOffered: true))
        try cut(fixture, disk.bytes) { file in
            try file.replacePasscode(
                try Fixture.details(), derived: try secret(Fixture.second),
                storeKey: try secret(Fixture.storeKey), proven: nil,
                with: Along(terms: file.terms))
        } _: { left, finished in
            let file = try fixture.open(left)
            guard try fixture.opens(file, Fixture.second) else {
                #expect(!finished && file.hasDeviceSlot)
                return
            }
            if !finished { try file.settle(on: try file.passcodeSlots[0]) }
            #expect(!file.hasDeviceSlot)
            #expect(try file.recoverySlots.map(\.details.isProven) == (isProven ? [true] : []))
            #expect(file.terms.recoveryWasOffered == isProven)
        }
    }

    @Test("until a new recovery key was shown the old one opens, and where it was not, it stays")
    func recoveryInTwoSteps() throws {
        let fixture = try Fixture()
        let disk = PowerDisk(try fixture.bytes(recovery: true))
        let file = try fixture.open(disk)
        let key = try RecoveryKey.random()
        let slot = try file.addRecovery(key, setAt: 4, storeKey: try secret(Fixture.storeKey))
        #expect(try fixture.opensWithRecovery(disk.bytes))
        #expect(reveal(try file.openRecovery(key)) == Fixture.storeKey)
        try file.withdrawRecovery(slot)
        #expect(try fixture.opensWithRecovery(disk.bytes))
        #expect(throws: KeyError.wrongSecret) { _ = try file.openRecovery(key) }
        #expect(throws: KeyError.noSuchSlot) { try file.settleRecovery(on: slot) }
    }

    @Test("a new recovery key: the old or the new one opens, and the passcode always")
    func recovery() throws {
        let fixture = try Fixture()
        let new: [UInt8] = Array(200..<216)
        try cut(fixture, try fixture.bytes(recovery: true)) { file in
            try file.replaceRecovery(
                try RecoveryKey(try secret(new)), setAt: 4, storeKey: try secret(Fixture.storeKey))
        } _: { left, finished in
            let file = try fixture.open(left)
            var opened = 0
            for bytes in [Fixture.recovery, new] {
                do {
                    let key = try file.openRecovery(try RecoveryKey(try secret(bytes)))
                    #expect(reveal(key) == Fixture.storeKey)
                    opened += 1
                } catch KeyError.wrongSecret {
                }
            }
            #expect(finished ? opened == 1 : opened >= 1)
            #expect(try fixture.opens(file, Fixture.first))
        }
    }

    @Test("an erase: all opens and nothing was begun, or it can be ended")
    func erase() throws {
        let fixture = try Fixture()
        let nothing = [UInt8](repeating: 0, count: 65_536 - content(2).lowerBound)[...]
        try cut(fixture, try fixture.bytes(recovery: true)) { file in
            try file.eraseKeys()
            try file.finishErasing()
        } _: { left, finished in
            let file = try fixture.open(left)
            switch file.identity.condition {
            case .live:
                #expect(try fixture.opens(file, Fixture.first))
                #expect(!finished)
            case .erasing, .erased:
                let disk = PowerDisk(left)
                let again = try fixture.open(disk)
                try again.eraseKeys()
                try again.finishErasing()
                #expect(disk.bytes.dropFirst(content(2).lowerBound) == nothing)
            }
        }
    }

    @Test(
        "an adoption: the recovery key opens all along, and old slots go once the new is proven",
        arguments: [7, 8] as [UInt8], [false, true])
    func adoption(seed: UInt8, isFull: Bool) throws {
        let fixture = try Fixture(machine: 7)
        let here = try Fixture(store: fixture.store, machine: seed)
        var bytes = try fixture.bytes(recovery: true)
        if isFull {
            let disk = PowerDisk(bytes)
            let file = try fixture.open(disk)
            try file.addPasscode(
                try Fixture.details(), derived: try secret(Fixture.third),
                storeKey: try secret(Fixture.storeKey), proven: try file.passcodeSlots[0])
            bytes = disk.bytes
        }
        // Under the machine's own key, only a damaged file needs a recovery.
        for block in [5, 9] { bytes[block * 4096 + 700] = 1 }
        let (new, old) = isFull ? (3, 4) : (4, 3)
        let former = try Block.checked(
            Array(bytes[content(new)]), number: new, store: fixture.store,
            .machine(fixture.machine))
        for budget in 0..<40 {
            let cut = PowerDisk(bytes)
            cut.budget = budget
            let isFinished = try adopt(cut, here, Fixture.second)
            for left in cut.afterPowerCut {
                #expect(try fixture.opensWithRecovery(left))
                let isOldThere = left[content(old)] == bytes[content(old)]
                let slot = try? Block.checked(
                    Array(left[content(new)]), number: new, store: here.store,
                    .machine(here.machine))
                let isNewThere = try slot.flatMap(\.self).map { block in
                    guard block != former else { return false }
                    let derived = try secret(Fixture.second)
                    let key = try PasscodeSlot(block).open(store: here.store) {
                        (place) throws(KeyError) in
                        try PasscodeSlot.key(derived: derived, at: place, machine: here.machine)
                    }
                    return reveal(key) == Fixture.storeKey
                }
                #expect(isOldThere || isNewThere == true)
                let again = PowerDisk(left)
                #expect(try adopt(again, here, Fixture.third))
                #expect(try here.opens(try here.open(again.bytes), Fixture.third))
            }
            if isFinished {
                #expect(try here.opens(try here.open(cut.bytes), Fixture.second))
                return
            }
        }
        Issue.record("the adoption never ends")
    }

    /// Whether the change succeeded before the power failed.
    private func adopt(_ disk: PowerDisk, _ here: Fixture, _ derived: [UInt8]) throws -> Bool {
        let unchecked = try UncheckedSlotFile(store: here.store, disk: disk)
        do {
            _ = try unchecked.adopted(
                by: here.machine, identity: try #require(unchecked.likely), try Fixture.details(),
                derived: try secret(derived), storeKey: try secret(Fixture.storeKey))
            return true
        } catch KeyError.storage {
            return false
        }
    }
}
