import Posix
import Secrets
import Testing

@testable import KeySlots

/// A store whose passcode is changed again and again. Nothing is derived: 32 equal bytes stand for
/// the result.
struct HistoryLab {
    let fixture: Fixture
    let disk: PowerDisk

    init(machine: UInt8 = 7, recovery: Bool = false) throws {
        fixture = try Fixture(machine: machine)
        disk = PowerDisk(try fixture.bytes(recovery: recovery))
    }

    static func hash(_ details: PasscodeDetails, _ passcode: UInt8) throws -> HistoryHash {
        HistoryHash(
            of: details,
            hash: SecretBox(try secret([UInt8](repeating: passcode ^ 0x80, count: 32))))
    }

    func change(
        _ file: SlotFile, from: UInt8?, to new: UInt8, keep: Int, isRemembered: Bool = true
    ) throws {
        let present = try #require(try file.passcodeSlots.first)
        let details = try Fixture.details()
        let history = HistoryChange(
            former: try from.map { try Self.hash(present.details, $0) },
            present: isRemembered ? try Self.hash(details, new) : nil, keep: keep)
        try file.replacePasscode(
            details, derived: try secret([UInt8](repeating: new, count: 32)),
            storeKey: try secret(Fixture.storeKey), proven: from == nil ? nil : present,
            with: Along(history: history))
    }

    /// Which of the passcodes 1 to 60 are former ones, the latest first.
    static func former(_ file: SlotFile) throws -> [UInt8] {
        let history = try file.history(storeKey: try secret(Fixture.storeKey))
        return try history.former.map { entry in
            let found = try (UInt8(1)...60).filter {
                history.matches(entry, try secret([UInt8](repeating: $0 ^ 0x80, count: 32)))
            }
            return try #require(found.first)
        }
    }
}

@Suite struct HistoryTests {
    @Test(
        "the latest former passcodes are remembered, never the present one",
        arguments: [1, 2, 7, 24])
    func latest(keep: Int) throws {
        let lab = try HistoryLab()
        let file = try lab.fixture.open(lab.disk)
        for new in UInt8(2)...40 {
            try lab.change(file, from: new - 1, to: new, keep: keep)
            let expected = (1..<new).reversed().prefix(keep)
            #expect(try HistoryLab.former(file) == Array(expected))
            #expect(try HistoryLab.former(try lab.fixture.open(lab.disk.bytes)) == Array(expected))
        }
    }

    @Test("more than the limit are not kept, whatever is asked for")
    func limit() throws {
        let lab = try HistoryLab()
        let file = try lab.fixture.open(lab.disk)
        for new in UInt8(2)...40 { try lab.change(file, from: new - 1, to: new, keep: 1000) }
        #expect(try HistoryLab.former(file) == (16...39).reversed())
    }

    @Test("a passcode that nobody could type when it went is remembered since it was set")
    func recovered() throws {
        let lab = try HistoryLab()
        let file = try lab.fixture.open(lab.disk)
        try lab.change(file, from: 1, to: 2, keep: 3)
        try lab.change(file, from: nil, to: 3, keep: 3)
        #expect(try HistoryLab.former(file) == [2, 1])
    }

    @Test("a passcode that has no entry gets one at an unlock, and a second unlock writes nothing")
    func atUnlock() throws {
        let lab = try HistoryLab()
        let file = try lab.fixture.open(lab.disk)
        let slot = try file.passcodeSlots[0]
        let key = try secret(Fixture.storeKey)
        func unlocked(_ keep: Int) throws {
            let hash = try HistoryLab.hash(slot.details, 1)
            try file.write(HistoryChange(former: nil, present: hash, keep: keep), storeKey: key)
        }
        #expect(try !file.history(storeKey: key).has(slot))
        try unlocked(2)
        #expect(try file.history(storeKey: key).has(slot))
        #expect(try HistoryLab.former(file).isEmpty)
        let bytes = lab.disk.bytes
        try unlocked(2)
        #expect(lab.disk.bytes == bytes)
        try lab.change(file, from: nil, to: 2, keep: 2)
        #expect(try HistoryLab.former(file) == [1])
    }

    @Test("a shorter history forgets at the next change, and none keeps nothing")
    func shorter() throws {
        let lab = try HistoryLab()
        let file = try lab.fixture.open(lab.disk)
        for new in UInt8(2)...20 { try lab.change(file, from: new - 1, to: new, keep: 24) }
        try lab.change(file, from: 20, to: 21, keep: 3)
        #expect(try HistoryLab.former(file) == [20, 19, 18])
        try lab.change(file, from: 21, to: 22, keep: 0)
        #expect(try HistoryLab.former(file).isEmpty)
        for block in 9...12 { #expect(lab.disk.bytes[content(block)].allSatisfy { $0 == 0 }) }
    }

    @Test("a passcode that was turned off is a former one when the next is made")
    func turnedOff() throws {
        let lab = try HistoryLab()
        let file = try lab.fixture.open(lab.disk)
        let slot = try file.passcodeSlots[0]
        var identity = file.identity
        identity.withoutPasscode = .byChoice
        let key = try secret(Fixture.storeKey)
        try file.replacePasscodeWithDevice(
            storeKey: key,
            with: Along(
                history: HistoryChange(
                    former: try HistoryLab.hash(slot.details, 1), present: nil, keep: 2),
                terms: Terms(seenAt: 9), identity: identity))
        let again = try lab.fixture.open(lab.disk.bytes)
        #expect(try HistoryLab.former(again) == [1])
        #expect(again.terms.seenAt == 9)
        #expect(again.identity.withoutPasscode == .byChoice)
    }

    @Test("a candidate is held against the latest former passcodes, each with its own salt")
    func reused() async throws {
        let lab = try HistoryLab()
        let file = try lab.fixture.open(lab.disk)
        for new in UInt8(2)...6 { try lab.change(file, from: new - 1, to: new, keep: 24) }
        let history = try file.history(storeKey: try secret(Fixture.storeKey))
        func isReused(_ candidate: UInt8, _ latest: Int) async throws -> (Bool, Set<[UInt8]>) {
            var salts: Set<[UInt8]> = []
            let found = try await history.isReused(latest: latest) { salt in
                salts.insert(salt)
                return SecretBox(try secret([UInt8](repeating: candidate ^ 0x80, count: 32)))
            }
            return (found, salts)
        }
        #expect(try await isReused(5, 1).0)
        #expect(try await !isReused(4, 1).0)
        #expect(try await isReused(1, 5).0)
        #expect(try await !isReused(1, 4).0)
        #expect(try await !isReused(6, 24).0, "the present one is not a former one")
        let none = try await isReused(50, 24)
        #expect(!none.0 && none.1.count == 5)
    }

    @Test("the history opens with its store's key at its block, and else is damage")
    func bound() throws {
        let lab = try HistoryLab()
        let file = try lab.fixture.open(lab.disk)
        for new in UInt8(2)...12 { try lab.change(file, from: new - 1, to: new, keep: 24) }
        #expect(throws: KeyError.damaged(.block(9))) {
            _ = try file.history(storeKey: try secret([UInt8](repeating: 0, count: 32)))
        }
        // Authentic blocks, each with the other's content.
        let (first, second) = (try payload(lab, 9), try payload(lab, 10))
        var bytes = lab.disk.bytes
        for (number, payload) in [(9, second), (10, first)] {
            let block = Block(number: number, sequence: 500 + UInt64(number), payload: payload)
            bytes.replaceSubrange(
                content(number),
                with: try block.encoded(lab.fixture.store, .machine(lab.fixture.machine)))
        }
        let swapped = try lab.fixture.open(bytes)
        #expect(throws: KeyError.damaged(.block(9))) {
            _ = try swapped.history(storeKey: try secret(Fixture.storeKey))
        }
        #expect(throws: KeyError.damaged(.block(9))) {
            try lab.change(swapped, from: 12, to: 13, keep: 24)
        }
        let twelfth = [UInt8](repeating: 12, count: 32)
        #expect(try lab.fixture.opens(swapped, twelfth), "nothing had begun")
    }

    private func payload(_ lab: HistoryLab, _ number: Int) throws -> [UInt8] {
        let block = try Block.checked(
            Array(lab.disk.bytes[content(number)]), number: number, store: lab.fixture.store,
            .machine(lab.fixture.machine))
        return try #require(block).payload
    }

    @Test("a block of the history that was changed is lost, and the others stay")
    func changedByte() throws {
        let lab = try HistoryLab()
        try lab.change(try lab.fixture.open(lab.disk), from: 1, to: 2, keep: 5)
        for place in content(9) {
            var bytes = lab.disk.bytes
            bytes[place] ^= 7
            let file = try lab.fixture.open(bytes)
            #expect(file.lost == [9])
            if place.isMultiple(of: 64) { #expect(try HistoryLab.former(file) == []) }
        }
        var bytes = lab.disk.bytes
        bytes[content(13).lowerBound] = 3
        #expect(try lab.fixture.open(bytes).lost == [13])
    }

    @Test("no hash and no salt of the history lies open on the disk")
    func sealed() throws {
        let lab = try HistoryLab()
        let file = try lab.fixture.open(lab.disk)
        try lab.change(file, from: 1, to: 2, keep: 5)
        try lab.change(file, from: 2, to: 3, keep: 5)
        let history = try file.history(storeKey: try secret(Fixture.storeKey))
        let bytes = lab.disk.bytes
        for entry in history.former {
            #expect(!contains(bytes, entry.salt))
        }
        #expect(!contains(bytes, [UInt8](repeating: 1 ^ 0x80, count: 32)))
    }

    private func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
        (0...(bytes.count - part.count)).contains { start in
            bytes[start] == part[0]
                && Array(bytes[start..<(start + part.count)]) == part
        }
    }

    @Test("an erase takes terms and history along")
    func erased() throws {
        let lab = try HistoryLab()
        let file = try lab.fixture.open(lab.disk)
        for new in UInt8(2)...20 { try lab.change(file, from: new - 1, to: new, keep: 24) }
        try file.write(Terms(seenAt: 5))
        try file.eraseKeys()
        #expect(Array(lab.disk.bytes[content(2).lowerBound...]).allSatisfy { $0 == 0 })
        #expect(throws: KeyError.erased) {
            _ = try file.history(storeKey: try secret(Fixture.storeKey))
        }
        #expect(throws: KeyError.erased) { try file.write(Terms()) }
    }

    @Test("what cannot be checked is overwritten with terms and history")
    func overwritten() throws {
        let lab = try HistoryLab()
        let file = try lab.fixture.open(lab.disk)
        for new in UInt8(2)...20 { try lab.change(file, from: new - 1, to: new, keep: 24) }
        try file.write(Terms(seenAt: 5))
        try UncheckedSlotFile(store: lab.fixture.store, disk: lab.disk).overwriteKeys()
        #expect(Array(lab.disk.bytes[content(2).lowerBound...]).allSatisfy { $0 == 0 })
    }

    @Test(
        "a recovery on another machine brings the history along, and no terms",
        arguments: [7, 8] as [UInt8])
    func adopted(machine: UInt8) throws {
        let lab = try HistoryLab(recovery: true)
        let file = try lab.fixture.open(lab.disk)
        for new in UInt8(2)...12 { try lab.change(file, from: new - 1, to: new, keep: 24) }
        try file.write(Terms(fingerprintIsOn: true, seenAt: 5))
        var bytes = lab.disk.bytes
        // Damage after one block, and inside another.
        bytes[9 * 4096 + 700] = 1
        bytes[8 * 4096 + 60] ^= 1
        let here = try Fixture(store: lab.fixture.store, machine: machine)
        let disk = PowerDisk(bytes)
        let unchecked = try UncheckedSlotFile(store: here.store, disk: disk)
        let adopted = try unchecked.adopted(
            by: here.machine, identity: try #require(unchecked.likely), try Fixture.details(),
            derived: try secret(Fixture.second), storeKey: try secret(Fixture.storeKey))
        #expect(adopted.terms == Terms())
        // The passcode that was the present one when it was forgotten is a former one now.
        #expect(try HistoryLab.former(adopted) == (1...12).reversed())
        #expect(try HistoryLab.former(try here.open(disk.bytes)) == (1...12).reversed())
    }
}
