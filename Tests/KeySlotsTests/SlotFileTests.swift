import Policy
import Posix
import Secrets
import Testing

@testable import KeySlots

@Suite struct SlotFileTests {
    @Test("a store that was made is opened again from its file")
    func create() throws {
        let folder = try TemporaryFolder()
        let fixture = try Fixture()
        let made = try SlotFile.create(
            in: folder.folder, store: fixture.store, identity: Fixture.identity,
            machine: fixture.machine)
        #expect(throws: KeyError.damaged(.noSlot)) {
            try SlotFile.open(in: folder.folder, store: fixture.store).checked(
                with: fixture.machine)
        }
        try made.replacePasscode(
            try Fixture.details(), derived: try secret(Fixture.first),
            storeKey: try secret(Fixture.storeKey), proven: nil)
        let unchecked = try SlotFile.open(in: folder.folder, store: fixture.store)
        #expect(unchecked.likely == Fixture.identity)
        let file = try unchecked.checked(with: fixture.machine)
        #expect(file.identity == Fixture.identity)
        #expect(file.tally == Tally())
        #expect(try fixture.opens(file, Fixture.first))
        #expect(try !fixture.opens(file, Fixture.second))
        #expect(throws: KeyError.alreadyExists) {
            try SlotFile.create(
                in: folder.folder, store: fixture.store, identity: Fixture.identity,
                machine: fixture.machine)
        }
        let empty = try TemporaryFolder()
        #expect(throws: KeyError.missing) {
            try SlotFile.open(in: empty.folder, store: fixture.store)
        }
    }

    @Test("identity and tries are written and read back, field by field")
    func fields() throws {
        let fixture = try Fixture()
        let disk = PowerDisk(try fixture.bytes())
        let file = try fixture.open(disk)
        var identity = Identity(
            uid: .max - 2, account: [UInt8](repeating: 0xff, count: 255), createdAt: .max,
            way: .own, withoutPasscode: .byPolicyDefault,
            storeName: [UInt8](repeating: 0xc3, count: 255),
            policyKey: [UInt8](repeating: 0x61, count: 128))
        try file.write(identity)
        let boot = try #require(BootID(Array(1...16)))
        let tally = Tally(
            own: Tries(wrong: 1, unresolved: 2, last: Moment(bootID: boot, milliseconds: 3)),
            apart: Tries(
                wrong: .max, unresolved: 5, last: Moment(bootID: boot, milliseconds: .max)),
            stranger: Tries(
                wrong: 9, unresolved: .max, last: Moment(bootID: boot, milliseconds: 4)),
            recovery: Tries(wrong: 7, unresolved: 8), lockedForRecovery: true)
        try file.write(tally)
        let again = try fixture.open(disk.bytes)
        #expect(again.identity == identity)
        #expect(again.tally == tally)
        #expect(try fixture.opens(again, Fixture.first))
        identity.account.append(1)
        #expect(throws: KeyError.tooLong) { try file.write(identity) }
    }

    @Test("a tally that could not be synced is reported and not believed")
    func unsynced() throws {
        let fixture = try Fixture()
        let disk = PowerDisk(try fixture.bytes())
        let file = try fixture.open(disk)
        for budget in 0..<2 {
            disk.budget = disk.steps + budget
            #expect(throws: KeyError.storage(PosixError(call: "power", number: 5))) {
                try file.write(Tally(own: Tries(unresolved: 1)))
            }
            #expect(file.tally == Tally())
        }
        disk.budget = nil
        try file.write(Tally(own: Tries(unresolved: 1)))
        #expect(try fixture.open(disk.bytes).tally.own.unresolved == 1)
    }

    @Test("a block at another place is none")
    func moved() throws {
        let fixture = try Fixture()
        var bytes = try fixture.bytes(recovery: true)
        bytes.replaceSubrange(content(4), with: bytes[content(3)])
        #expect(try fixture.open(bytes).lost == [4])
        bytes.replaceSubrange(content(7), with: bytes[content(6)])
        #expect(try fixture.open(bytes).lost == [4, 7])
        bytes.replaceSubrange(content(3), with: Block.empty)
        #expect(throws: KeyError.damaged(.block(4))) { try fixture.open(bytes) }
    }

    @Test("a block of another store is none", arguments: [0, 1, 2, 3, 6])
    func otherStore(block: Int) throws {
        let fixture = try Fixture()
        let other = try Fixture()
        var bytes = try fixture.bytes(recovery: true)
        bytes.replaceSubrange(content(block), with: try other.bytes(recovery: true)[content(block)])
        guard [2, 6].contains(block) else {
            #expect(throws: KeyError.damaged(.block(block))) { try fixture.open(bytes) }
            return
        }
        #expect(try fixture.open(bytes).lost == [block])
    }

    @Test("identity and label cannot be wiped away, and tries are lost then")
    func wiped() throws {
        let fixture = try Fixture()
        for block in [0, 1] {
            var bytes = try fixture.bytes()
            bytes.replaceSubrange(content(block), with: Block.empty)
            #expect(throws: KeyError.damaged(.block(block))) { try fixture.open(bytes) }
        }
        var bytes = try fixture.bytes()
        bytes.replaceSubrange(content(2), with: Block.empty)
        #expect(try fixture.open(bytes).triesAreLost)
    }

    @Test("a foreign machine key is damage before anything is tried")
    func foreign() throws {
        let fixture = try Fixture(machine: 7)
        let bytes = try fixture.bytes()
        let elsewhere = try Fixture(store: fixture.store, machine: 8)
        #expect(throws: KeyError.damaged(.foreignMachineKey)) { try elsewhere.open(bytes) }
    }

    @Test("a cost beyond the caps is damage, even under a valid MAC", arguments: [8, 9])
    func cost(place: Int) throws {
        let fixture = try Fixture()
        var bytes = try fixture.bytes()
        let block = try #require(
            try Block.checked(
                Array(bytes[content(3)]), number: 3, store: fixture.store,
                .machine(fixture.machine)))
        var payload = block.payload
        // Memory is at offset 4 and passes at 8: this makes 2^24 KiB and more, or 3 + 256 passes.
        payload[place == 8 ? 7 : 9] = 1
        bytes.replaceSubrange(
            content(3),
            with: try Block(number: 3, sequence: 9, payload: payload).encoded(
                fixture.store, .machine(fixture.machine)))
        #expect(throws: KeyError.damaged(.block(3))) { try fixture.open(bytes) }
    }

    @Test("between a new login password and its first unlock both open; then the proven one alone")
    func twoSteps() throws {
        let fixture = try Fixture()
        let disk = PowerDisk(try fixture.bytes())
        let file = try fixture.open(disk)
        let old = try file.passcodeSlots[0]
        let added = try file.addPasscode(
            try Fixture.details(setAt: 2), derived: try secret(Fixture.second),
            storeKey: try secret(Fixture.storeKey), proven: old)
        let again = try fixture.open(disk.bytes)
        #expect(try again.passcodeSlots.map(\.details.setAt) == [2, 1])
        #expect(try fixture.opens(again, Fixture.first))
        #expect(try fixture.opens(again, Fixture.second))

        // Another change before any unlock: the proven slot stays, and the abandoned one is
        // overwritten.
        try file.addPasscode(
            try Fixture.details(setAt: 3), derived: try secret(Fixture.third),
            storeKey: try secret(Fixture.storeKey), proven: added)
        #expect(try !fixture.opens(file, Fixture.first))
        #expect(try fixture.opens(file, Fixture.second))
        #expect(try fixture.opens(file, Fixture.third))
        #expect(throws: KeyError.noSuchSlot) { try file.settle(on: old) }

        let steps = disk.steps
        try file.settle(on: added)
        #expect(disk.steps == steps + 2)
        try file.settle(on: added)
        #expect(disk.steps == steps + 2)
        let settled = try fixture.open(disk.bytes)
        #expect(try fixture.opens(settled, Fixture.second))
        #expect(try !fixture.opens(settled, Fixture.third))
    }

    @Test("turning the passcode off and on leaves one way in each time")
    func device() throws {
        let fixture = try Fixture()
        let disk = PowerDisk(try fixture.bytes())
        let file = try fixture.open(disk)
        #expect(throws: KeyError.noSuchSlot) { _ = try file.openDevice() }
        try file.replacePasscodeWithDevice(storeKey: try secret(Fixture.storeKey))
        let off = try fixture.open(disk.bytes)
        #expect(try off.passcodeSlots.isEmpty)
        #expect(reveal(try off.openDevice()) == Fixture.storeKey)
        // Off already: the same again changes nothing.
        let steps = disk.steps
        try file.replacePasscodeWithDevice(storeKey: try secret(Fixture.storeKey))
        #expect(disk.steps == steps)
        try off.replacePasscode(
            try Fixture.details(), derived: try secret(Fixture.second),
            storeKey: try secret(Fixture.storeKey), proven: nil)
        #expect(!off.hasDeviceSlot)
        #expect(try fixture.opens(off, Fixture.second))
    }

    @Test("an unlock with the passcode ends what a crash left beside it: the device slot goes")
    func settleDevice() throws {
        let fixture = try Fixture()
        let disk = PowerDisk(try fixture.bytes())
        let before = disk.bytes
        let file = try fixture.open(disk)
        try file.replacePasscodeWithDevice(storeKey: try secret(Fixture.storeKey))
        let slots = content(3).lowerBound..<content(5).lowerBound
        let both = disk.bytes[..<slots.lowerBound] + before[slots] + disk.bytes[slots.upperBound...]
        let left = try fixture.open(Array(both))
        #expect(left.hasDeviceSlot)
        try left.settle(on: try left.passcodeSlots[0])
        #expect(!left.hasDeviceSlot)
        #expect(try fixture.opens(left, Fixture.first))
    }

    @Test("a new recovery key revokes the former, and the last way in stays")
    func recovery() throws {
        let fixture = try Fixture()
        let disk = PowerDisk(try fixture.bytes(recovery: true))
        let file = try fixture.open(disk)
        #expect(try fixture.opensWithRecovery(disk.bytes))
        let key = try RecoveryKey.random()
        #expect(throws: KeyError.wrongSecret) { _ = try file.openRecovery(key) }
        try file.replaceRecovery(key, setAt: 9, storeKey: try secret(Fixture.storeKey))
        #expect(reveal(try file.openRecovery(key)) == Fixture.storeKey)
        #expect(try file.recoverySlots.map(\.details.setAt) == [9])
        #expect(throws: KeyError.wrongSecret) { _ = try fixture.opensWithRecovery(disk.bytes) }
        try file.removeRecovery()
        #expect(try fixture.open(disk.bytes).recoverySlots.isEmpty)
    }

    @Test("a policy digest is written without making the slot anew")
    func digest() throws {
        let fixture = try Fixture()
        let disk = PowerDisk(try fixture.bytes())
        let file = try fixture.open(disk)
        let digest = [UInt8](repeating: 5, count: 32)
        try file.write(policyDigest: digest, on: try file.passcodeSlots[0])
        let again = try fixture.open(disk.bytes)
        #expect(try again.passcodeSlots[0].details.policyDigest == digest)
        #expect(try fixture.opens(again, Fixture.first))
    }

    @Test("after erasing nothing opens, nothing is counted, and the tombstone stays")
    func erase() throws {
        let fixture = try Fixture()
        let disk = PowerDisk(try fixture.bytes(recovery: true))
        let file = try fixture.open(disk)
        let slot = try file.passcodeSlots[0]
        try file.eraseKeys()
        #expect(Array(disk.bytes[content(2).lowerBound...]).allSatisfy { $0 == 0 })
        #expect(throws: KeyError.erased) {
            _ = try file.openPasscode(slot, derived: try secret(Fixture.first))
        }
        #expect(throws: KeyError.erased) { try file.write(Tally()) }
        #expect(throws: KeyError.erased) { _ = try fixture.opensWithRecovery(disk.bytes) }
        let unfinished = try fixture.open(disk.bytes)
        #expect(unfinished.identity.condition == .erasing)
        try file.finishErasing()
        let tombstone = try fixture.open(disk.bytes)
        #expect(tombstone.identity.condition == .erased)
        #expect(tombstone.identity.account == Fixture.identity.account)
    }

    @Test(
        "with two recovery keys after a crash the next one goes over the newer, never settled one")
    func unsettledRecovery() throws {
        let fixture = try Fixture()
        let disk = PowerDisk(try fixture.bytes(recovery: true))
        let storeKey = try secret(Fixture.storeKey)
        let held = try fixture.open(disk).recoverySlots[0]
        for round in 0..<3 {
            let file = try fixture.open(disk.bytes)
            let unsettled = try RecoveryKey.random()
            let slot = try file.addRecovery(
                unsettled, setAt: UInt64(10 + round), storeKey: storeKey)
            #expect(slot.block != held.block)
            #expect(try file.recoverySlots == [slot, held])
            let again = try RecoveryKey.random()
            let next = try file.addRecovery(again, setAt: UInt64(20 + round), storeKey: storeKey)
            #expect(try file.recoverySlots == [next, held])
            #expect(throws: KeyError.wrongSecret) { _ = try file.openRecovery(unsettled) }
            #expect(try fixture.opensWithRecovery(disk.bytes))
            try file.settleRecovery(on: next)
            #expect(reveal(try file.openRecovery(again)) == Fixture.storeKey)
            #expect(throws: KeyError.wrongSecret) {
                _ = try file.openRecovery(try RecoveryKey(try secret(Fixture.recovery)))
            }
        }
    }

    @Test("a forged sequence leaves room for the next one: it is damage")
    func sequence() throws {
        let fixture = try Fixture()
        var bytes = try fixture.bytes(recovery: true)
        let payload = try #require(
            try Block.checked(
                Array(bytes[content(6)]), number: 6, store: fixture.store, .anybody)
        ).payload
        for sequence in [1 << 63, .max] as [UInt64] {
            let forged = Block(number: 6, sequence: sequence, payload: payload)
            bytes.replaceSubrange(
                content(6), with: try forged.encoded(fixture.store, .anybody))
            #expect(throws: KeyError.damaged(.block(6))) { try fixture.open(bytes) }
        }
    }

    @Test(
        "whatever else is damaged, in a block or behind it, the recovery key brings the store back",
        arguments: [0, 1, 2, 3, 4, 5, 7, 8, 15], [40, 300, 500, 512, 4095])
    func damagedElsewhere(block: Int, offset: Int) throws {
        let fixture = try Fixture()
        var bytes = try fixture.bytes(recovery: true)
        bytes[block * 4096 + offset] ^= 3
        let disk = PowerDisk(bytes)
        let unchecked = try UncheckedSlotFile(store: fixture.store, disk: disk)
        #expect(unchecked.hasReadableRecovery)
        let identity = try #require(unchecked.likely)
        #expect(identity.uid == Fixture.identity.uid)
        #expect(identity.account == Fixture.identity.account)
        #expect(identity.policyKey == Fixture.identity.policyKey)
        let storeKey = try unchecked.openRecovery(try RecoveryKey(try secret(Fixture.recovery)))
        _ = try unchecked.adopted(
            by: fixture.machine, identity: identity, try Fixture.details(),
            derived: try secret(Fixture.second), storeKey: storeKey)
        let file = try fixture.open(disk.bytes)
        #expect(file.isWhole)
        #expect(try fixture.opens(file, Fixture.second))
        #expect(try !fixture.opens(file, Fixture.first))
        #expect(try fixture.opensWithRecovery(disk.bytes))
    }

    @Test("without a readable recovery slot there is nothing to bring a store back with")
    func noReadableRecovery() throws {
        let fixture = try Fixture()
        func unchecked(_ bytes: [UInt8]) throws -> UncheckedSlotFile {
            try UncheckedSlotFile(store: fixture.store, disk: PowerDisk(bytes))
        }
        #expect(try !unchecked(try fixture.bytes()).hasReadableRecovery)
        #expect(throws: KeyError.noSuchSlot) {
            _ = try fixture.opensWithRecovery(try fixture.bytes())
        }
        for offset in [48, 52, 200] {
            var bytes = try fixture.bytes(recovery: true)
            bytes[6 * 4096 + offset] ^= 7
            #expect(try !unchecked(bytes).hasReadableRecovery)
            #expect(throws: KeyError.damaged(.block(6))) {
                _ = try fixture.opensWithRecovery(bytes)
            }
        }
        let disk = PowerDisk(try fixture.bytes(recovery: true))
        let file = try fixture.open(disk)
        try file.eraseKeys()
        #expect(try !unchecked(disk.bytes).hasReadableRecovery)
    }

    @Test("an adoption whose new slot does not reach the disk takes nothing away")
    func adoptedInVain() throws {
        let fixture = try Fixture()
        var bytes = try fixture.bytes(recovery: true)
        bytes[9 * 4096] = 1
        let disk = PowerDisk(bytes)
        disk.losing = 4
        let unchecked = try UncheckedSlotFile(store: fixture.store, disk: disk)
        #expect(throws: KeyError.damaged(.readBack(4))) {
            _ = try unchecked.adopted(
                by: fixture.machine, identity: try #require(unchecked.likely),
                try Fixture.details(),
                derived: try secret(Fixture.second), storeKey: try secret(Fixture.storeKey))
        }
        #expect(try disk.readBack() == bytes)
    }

    @Test("a restored backup is brought under this machine's key by its recovery key")
    func adopted() throws {
        let fixture = try Fixture(machine: 7)
        let disk = PowerDisk(try fixture.bytes(recovery: true))
        let here = try Fixture(store: fixture.store, machine: 8)
        let unchecked = try UncheckedSlotFile(store: fixture.store, disk: disk)
        let storeKey = try unchecked.openRecovery(try RecoveryKey(try secret(Fixture.recovery)))
        let file = try unchecked.adopted(
            by: here.machine, identity: try #require(unchecked.likely),
            try Fixture.details(setAt: 5),
            derived: try secret(Fixture.second), storeKey: storeKey)
        #expect(try here.opens(file, Fixture.second))
        let again = try here.open(disk.bytes)
        #expect(try here.opens(again, Fixture.second))
        #expect(again.identity == Fixture.identity)
        #expect(try here.opensWithRecovery(disk.bytes))
        #expect(throws: KeyError.damaged(.foreignMachineKey)) { try fixture.open(disk.bytes) }
    }
}
