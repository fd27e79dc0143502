import Policy
import Posix
import Secrets
import Testing

@testable import KeySlots

/// The login password that a store keeps for logins by finger.
@Suite struct KeyringTests {
    private static let password = Array("login-otter-7".utf8)

    /// A store with a passcode that fingers open.
    private func lab() throws -> (Fixture, PowerDisk) {
        let fixture = try Fixture()
        let disk = PowerDisk(try fixture.bytes(recovery: true))
        try fixture.open(disk).write(Terms(fingerprintIsOn: true))
        return (fixture, disk)
    }

    @discardableResult
    private func keep(_ file: SlotFile, _ password: [UInt8] = Self.password) throws -> Bool {
        try file.write(
            keyringPassword: try secret(password), storeKey: try secret(Fixture.storeKey))
    }

    private func kept(_ file: SlotFile) throws -> [UInt8]? {
        guard let found = try file.keyringPassword(storeKey: try secret(Fixture.storeKey)) else {
            return nil
        }
        return reveal(found)
    }

    @Test(
        "what is kept is read again, from the file too, whatever its length",
        arguments: [1, 13, 386])
    func roundTrip(count: Int) throws {
        let (fixture, disk) = try lab()
        let file = try fixture.open(disk)
        let password = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 1) }
        #expect(try kept(file) == nil)
        #expect(try keep(file, password))
        #expect(try kept(file) == password)
        let again = try fixture.open(disk.bytes)
        #expect(again.hasKeyringPassword)
        #expect(try kept(again) == password)
    }

    @Test("too long, or nothing at all, is not kept", arguments: [0, 387, 1024])
    func limits(count: Int) throws {
        let (fixture, disk) = try lab()
        let file = try fixture.open(disk)
        #expect(throws: KeyError.tooLong) {
            try keep(file, [UInt8](repeating: 1, count: count))
        }
        #expect(!file.hasKeyringPassword)
    }

    @Test("the same again writes nothing, another one takes its place")
    func again() throws {
        let (fixture, disk) = try lab()
        let file = try fixture.open(disk)
        try keep(file)
        let before = disk.bytes
        #expect(try !keep(file))
        #expect(disk.bytes == before)
        #expect(try keep(file, Array("another".utf8)))
        #expect(try kept(file) == Array("another".utf8))
    }

    @Test("neither the password nor its length is on the disk, and another key does not open it")
    func sealed() throws {
        let (fixture, disk) = try lab()
        let file = try fixture.open(disk)
        try keep(file)
        let block = Array(disk.bytes[content(13)])
        #expect(!block.indices.contains { block[$0...].starts(with: Self.password) })
        #expect(block[60..<480].count { $0 == 0 } < 20, "filled up before it is sealed")
        #expect(throws: KeyError.damaged(.block(13))) {
            _ = try file.keyringPassword(storeKey: try secret([UInt8](repeating: 9, count: 32)))
        }
    }

    @Test("nothing is kept where no finger opens the store, or everybody does")
    func onlyBesideAFinger() throws {
        let (fixture, disk) = try lab()
        let file = try fixture.open(disk)
        try file.write(Terms())
        #expect(throws: KeyError.noSuchSlot) { try keep(file) }
        try file.write(Terms(fingerprintIsOn: true))
        try file.replacePasscodeWithDevice(storeKey: try secret(Fixture.storeKey))
        #expect(throws: KeyError.noSuchSlot) { try keep(file) }
        #expect(!(try fixture.open(disk.bytes).hasKeyringPassword))
    }

    /// What removes the password.
    enum End: CaseIterable {
        case forget, fingerOff, passcodeOff, erase

        func happen(_ file: SlotFile) throws {
            switch self {
            case .forget: try file.forgetKeyringPassword()
            case .fingerOff: try file.write(Terms())
            case .passcodeOff:
                try file.replacePasscodeWithDevice(storeKey: try secret(Fixture.storeKey))
            case .erase: try file.eraseKeys()
            }
        }
    }

    @Test(
        "wherever the power goes there is no password beside a device slot or without a finger",
        arguments: End.allCases)
    func ends(end: End) throws {
        let (fixture, disk) = try lab()
        try keep(try fixture.open(disk))
        let before = disk.bytes
        for budget in 0..<40 {
            let disk = PowerDisk(before)
            let file = try fixture.open(disk)
            disk.budget = budget
            var finished = true
            do { try end.happen(file) } catch KeyError.storage { finished = false }
            for left in disk.afterPowerCut {
                let file = try fixture.open(left)
                if file.hasKeyringPassword {
                    #expect(!finished)
                    if file.identity.condition == .live {
                        #expect(!file.hasDeviceSlot && file.terms.fingerprintIsOn)
                        #expect(try kept(file) == Self.password)
                    }
                }
            }
            if finished {
                #expect(!file.hasKeyringPassword)
                #expect(disk.bytes[content(13)].allSatisfy { $0 == 0 })
                return
            }
        }
        Issue.record("it never ends")
    }

    @Test("wherever the power goes the old or the new one is there")
    func changed() throws {
        let (fixture, disk) = try lab()
        try keep(try fixture.open(disk))
        let before = disk.bytes
        let new = Array("login-badger-8".utf8)
        for budget in 0..<40 {
            let disk = PowerDisk(before)
            let file = try fixture.open(disk)
            disk.budget = budget
            var finished = true
            do { try keep(file, new) } catch KeyError.storage { finished = false }
            for left in disk.afterPowerCut {
                let found = try kept(try fixture.open(left))
                #expect(finished ? found == new : found == Self.password || found == new)
            }
            if finished { return }
        }
        Issue.record("it never ends")
    }

    @Test("a new passcode leaves it, because the store key stays")
    func newPasscode() throws {
        let (fixture, disk) = try lab()
        let file = try fixture.open(disk)
        try keep(file)
        try file.replacePasscode(
            try Fixture.details(), derived: try secret(Fixture.second),
            storeKey: try secret(Fixture.storeKey), proven: try file.passcodeSlots[0],
            with: Along(terms: file.terms, identity: file.identity))
        #expect(try kept(try fixture.open(disk.bytes)) == Self.password)
    }

    @Test("another machine takes the store without it")
    func adopted() throws {
        let (fixture, disk) = try lab()
        try keep(try fixture.open(disk))
        let here = try Fixture(store: fixture.store, machine: 8)
        let adopted = try UncheckedSlotFile(store: fixture.store, disk: disk).adopted(
            by: here.machine, identity: Fixture.identity, try Fixture.details(),
            derived: try secret(Fixture.third), storeKey: try secret(Fixture.storeKey))
        #expect(!adopted.hasKeyringPassword)
        #expect(disk.bytes[content(13)].allSatisfy { $0 == 0 })
    }

    @Test("a block that was changed is lost, and so is the password")
    func damage() throws {
        let (fixture, disk) = try lab()
        try keep(try fixture.open(disk))
        var bytes = disk.bytes
        bytes[content(13).lowerBound + 100] ^= 7
        let file = try fixture.open(bytes)
        #expect(file.lost == [13])
        #expect(try kept(file) == nil)
    }
}
