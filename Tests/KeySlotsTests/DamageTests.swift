import Policy
import Posix
import Secrets
import Testing

@testable import KeySlots

/// What a store opens with.
private enum Kind: String, CaseIterable, Sendable {
    case passcode
    case passcodeAndRecovery
    case device
    case deviceAndUnprovenRecovery

    var hasPasscode: Bool { self == .passcode || self == .passcodeAndRecovery }
}

/// What became of one page.
private enum Harm: CaseIterable, Sendable {
    case zeroed
    /// The second half of the block is another one's.
    case torn
    case noise
    /// The rest of the page alone.
    case behind

    func `do`(_ block: Int, _ bytes: inout [UInt8]) {
        let start = block * Page.size
        switch self {
        case .zeroed: bytes.replaceSubrange(start..<(start + Page.size), with: Page.empty)
        case .torn:
            for index in (start + 256)..<(start + 512) {
                bytes[index] = UInt8(truncatingIfNeeded: index)
            }
        case .noise:
            for index in start..<(start + Page.size) {
                bytes[index] ^= UInt8(truncatingIfNeeded: 0x5A &+ index)
            }
        case .behind: bytes[start + 700] ^= 0xFF
        }
    }

    /// Whether the block in it is lost; an empty one is empty where it is zeroed.
    var isLoss: Bool { self != .behind }
}

/// What is left of a store.
private struct Left: Equatable {
    /// With the passcode, or without one where there is none.
    var opens: Bool
    var triesAreLost = false
    var recovers: Bool
}

@Suite("a damaged slots file")
struct DamageTests {
    private let fixture: Fixture

    init() throws {
        fixture = try Fixture()
    }

    private func key() throws -> RecoveryKey { try RecoveryKey(try secret(Fixture.recovery)) }

    private func bytes(_ kind: Kind) throws -> [UInt8] {
        let disk = PowerDisk(try fixture.bytes(recovery: kind == .passcodeAndRecovery))
        let file = try fixture.open(disk)
        try file.write(Tally(own: Tries(wrong: 2, last: Self.moment)))
        var terms = Terms(recoveryWasOffered: true, seenAt: 77)
        terms.fingerprintIsOn = kind.hasPasscode
        try file.write(terms)
        if !kind.hasPasscode {
            try file.replacePasscodeWithDevice(storeKey: try secret(Fixture.storeKey))
        }
        if kind == .deviceAndUnprovenRecovery {
            _ = try file.addRecovery(
                try key(), setAt: 3, storeKey: try secret(Fixture.storeKey), isProven: false)
        }
        return disk.bytes
    }

    private static let moment = Moment(
        bootID: BootID([UInt8](repeating: 9, count: 16))!, milliseconds: 5)

    private func owner() throws -> OwnerFile {
        try OwnerFile(Fixture.identity, OwnerFile.LostTries())
    }

    private func open(_ disk: PowerDisk, _ owner: OwnerFile?) throws -> SlotFile {
        try UncheckedSlotFile(store: fixture.store, disk: disk, owner: owner)
            .checked(with: fixture.machine)
    }

    private func opens(_ file: SlotFile, _ kind: Kind) throws -> Bool {
        if kind.hasPasscode { return try fixture.opens(file, Fixture.first) }
        guard let key = try? file.openDevice() else { return false }
        return reveal(key) == Fixture.storeKey
    }

    private func left(_ bytes: [UInt8], _ kind: Kind, _ owner: OwnerFile?) throws -> Left {
        let disk = PowerDisk(bytes)
        let unchecked = try UncheckedSlotFile(store: fixture.store, disk: disk, owner: owner)
        do throws(KeyError) {
            let file = try unchecked.checked(with: fixture.machine)
            return Left(
                opens: (try? opens(file, kind)) == true, triesAreLost: file.triesAreLost,
                recovers: (try? file.openRecovery(try key())) != nil)
        } catch {
            return Left(opens: false, recovers: (try? unchecked.openRecovery(try key())) != nil)
        }
    }

    private func expected(_ kind: Kind, _ block: Int, _ harm: Harm, knowsOwner: Bool) -> Left {
        let hasRecovery = kind == .passcodeAndRecovery || kind == .deviceAndUnprovenRecovery
        var left = Left(opens: true, recovers: hasRecovery)
        guard harm.isLoss else { return left }
        let isEmpty = harm == .zeroed
        switch block {
        case 0, 1: left.opens = knowsOwner
        case 2: left.triesAreLost = true
        case 3, 4:
            // In these stores the passcode slot is in block 3.
            if kind.hasPasscode {
                left.opens = block == 4
            } else if !isEmpty {
                left = Left(opens: false, recovers: false)
            }
        case 5: if !kind.hasPasscode { left.opens = false }
        case 6: left.recovers = false
        default: break
        }
        return left
    }

    @Test("what does not need a block opens without it", arguments: Kind.allCases, Harm.allCases)
    private func table(kind: Kind, harm: Harm) throws {
        let whole = try bytes(kind)
        for block in 0..<16 {
            for owner in [try owner(), nil] {
                var bytes = whole
                harm.do(block, &bytes)
                #expect(
                    try left(bytes, kind, owner)
                        == expected(kind, block, harm, knowsOwner: owner != nil),
                    "block \(block), \(owner == nil ? "no owner file" : "with one")")
            }
        }
    }

    @Test(
        "one wrong bit is put right, wherever it is, and nothing is lost", arguments: Kind.allCases)
    private func bits(kind: Kind) throws {
        let whole = try bytes(kind)
        // One in each field of a block, in its payload, in its MAC, and behind it.
        let places = [
            0, 5, 7, 8, 15, 20, 31, 40, 48, 56, 61, 90, 130, 400, 479, 480, 511, 512, 4095,
        ]
        for block in 0..<16 where block != CommitNote.block {
            for place in places {
                var bytes = whole
                bytes[block * Page.size + place] ^= 1 << UInt8(place % 8)
                let disk = PowerDisk(bytes)
                let file = try open(disk, nil)
                #expect(!file.isWhole)
                #expect(file.lost == [])
                #expect(try opens(file, kind), "block \(block), byte \(place)")
                #expect(file.tally.own.wrong == 2)
                #expect(disk.bytes == bytes)
                _ = try file.mend()
                #expect(file.isWhole)
                #expect(disk.bytes == whole, "block \(block), byte \(place)")
            }
        }
    }

    @Test(
        "an opened store is made whole, cut short at any instant or not", arguments: Harm.allCases)
    private func mends(harm: Harm) throws {
        for block in [0, 1, 4, 5, 6, 7, 8, 9, 13, 15] {
            var bytes = try self.bytes(.passcodeAndRecovery)
            harm.do(block, &bytes)
            for budget in 0..<20 {
                let disk = PowerDisk(bytes)
                let file = try open(disk, try owner())
                disk.budget = budget
                let mended = try? file.mend()
                for after in disk.afterPowerCut {
                    let again = try open(PowerDisk(after), try owner())
                    #expect(try opens(again, .passcode), "block \(block), after \(budget) steps")
                    #expect(again.tally.own.wrong == 2)
                }
                guard let mended else { continue }
                let again = try open(PowerDisk(disk.bytes), nil)
                #expect(again.isWhole)
                #expect(again.identity == Fixture.identity)
                #expect(mended.recoveryKeyIsGone == (block == 6 && harm.isLoss && harm != .zeroed))
                #expect(again.terms.recoveryWasOffered != mended.recoveryKeyIsGone || block == 8)
                break
            }
        }
    }

    @Test(
        "a file that is cut, or too long, opens where what the proof needs is whole",
        arguments: [0, 1, 4096, 8192, 16_384, 28_672, 36_864, 65_535, 65_536, 65_537, 70_000])
    private func length(count: Int) throws {
        let whole = try bytes(.passcodeAndRecovery)
        let cut = Array((whole + [UInt8](repeating: 7, count: 10_000)).prefix(count))
        let disk = PowerDisk(cut)
        guard count >= 16_384 else {
            #expect(throws: KeyError.self) { _ = try open(disk, try owner()) }
            return
        }
        let file = try open(disk, try owner())
        #expect(try opens(file, .passcode))
        #expect(file.isWhole == (count == Page.fileSize))
        if !file.isWhole { _ = try file.mend() }
        #expect(disk.bytes.count == Page.fileSize)
        #expect(try open(PowerDisk(disk.bytes), nil).isWhole)
        let hasRecovery = count >= 28_672
        #expect(((try? file.openRecovery(try key())) != nil) == hasRecovery)
    }

    @Test("where the owner's block is lost, whatever an erase leaves refuses")
    private func erasing() throws {
        func spoilt(_ tries: Harm?) throws -> [UInt8] {
            var bytes = try self.bytes(.passcodeAndRecovery)
            Harm.noise.do(0, &bytes)
            tries?.do(2, &bytes)
            return bytes
        }
        for owner in [try owner(), nil] {
            for tries in Harm.allCases where tries.isLoss {
                let unchecked = try UncheckedSlotFile(
                    store: fixture.store, disk: PowerDisk(try spoilt(tries)), owner: owner)
                #expect(throws: KeyError.damaged(.block(0))) {
                    try unchecked.checked(with: fixture.machine)
                }
                #expect(unchecked.hasReadableRecovery == (tries != .zeroed))
                #expect(((try? unchecked.openRecovery(try key())) != nil) == (tries != .zeroed))
                #expect(unchecked.triesWithoutOwner == nil)
            }
            let unchecked = try UncheckedSlotFile(
                store: fixture.store, disk: PowerDisk(try spoilt(nil)), owner: owner)
            #expect(((try? unchecked.checked(with: fixture.machine)) != nil) == (owner != nil))
            #expect(unchecked.triesWithoutOwner?.own.wrong == 2)
            #expect(unchecked.hasReadableRecovery)
        }
        // What is left of the block says that an erase was under way.
        let disk = PowerDisk(try self.bytes(.passcodeAndRecovery))
        let file = try fixture.open(disk)
        var identity = file.identity
        identity.condition = .erasing
        try file.write(identity)
        var bytes = disk.bytes
        bytes[500] ^= 7
        let unchecked = try UncheckedSlotFile(
            store: fixture.store, disk: PowerDisk(bytes), owner: try owner())
        #expect(throws: KeyError.damaged(.block(0))) {
            try unchecked.checked(with: fixture.machine)
        }
        #expect(!unchecked.hasReadableRecovery)
    }

    @Test("a recovery key opens by what is in its slot, whatever is around it")
    private func recoveryAlone() throws {
        let whole = try bytes(.passcodeAndRecovery)
        var bytes = [UInt8](repeating: 0xEE, count: Page.fileSize)
        let payload = (6 * Page.size + 48)..<(6 * Page.size + 480)
        bytes.replaceSubrange(payload, with: whole[payload])
        let unchecked = try UncheckedSlotFile(store: fixture.store, disk: PowerDisk(bytes))
        #expect(unchecked.hasReadableRecovery)
        #expect(reveal(try unchecked.openRecovery(try key())) == Fixture.storeKey)
        #expect(unchecked.likely == nil)
        bytes[6 * Page.size + 48 + 20] ^= 3
        #expect(throws: KeyError.wrongSecret) {
            _ = try UncheckedSlotFile(store: fixture.store, disk: PowerDisk(bytes))
                .openRecovery(try key())
        }
    }

    @Test("what another release wrote is not made anew")
    private func unknown() throws {
        for (block, version) in [(3, 2), (15, 1)] as [(Int, UInt8)] {
            var bytes = try bytes(.passcode)
            let written = Block(
                number: block, sequence: 99, payload: [UInt8](repeating: 1, count: 432))
            var encoded = try written.encoded(fixture.store, .machine(fixture.machine))
            encoded[4] = version
            let mac = try Hash.blake2b(
                Array(encoded[..<480]).span, key: fixture.machine.blockKey, purpose: .blockMAC)
            encoded.replaceSubrange(480..<512, with: mac)
            bytes.replaceSubrange(content(block), with: encoded)
            #expect(throws: KeyError.damaged(.block(block))) {
                try open(PowerDisk(bytes), try owner())
            }
        }
    }

    @Test("noise has no owner, and a readable name one that is likely")
    private func likely() throws {
        let whole = try bytes(.passcode)
        func owner(_ change: (inout [UInt8]) -> Void) throws -> UInt32? {
            var bytes = whole
            change(&bytes)
            return try UncheckedSlotFile(store: fixture.store, disk: PowerDisk(bytes)).likely?.uid
        }
        #expect(try owner { _ in } == 1000)
        #expect(try owner { $0[0] ^= 3 } == 1000)
        #expect(try owner { $0[400] ^= 3 } == 1000)
        #expect(try owner { $0 = $0.map { $0 ^ 0x5A } } == nil)
        #expect(try owner { Harm.zeroed.do(0, &$0) } == nil)
        #expect(try owner { $0 = [] } == nil)
    }

    @Test("the owner file is read as it was written, with a wrong bit too, and else says less")
    private func ownerFile() throws {
        let folder = try TemporaryFolder()
        let tries = OwnerFile.LostTries(areSpent: true, since: Self.moment)
        let written = try OwnerFile(Fixture.identity, tries)
        try written.write(of: fixture.store, in: folder.folder, fixture.machine)
        let path = "\(folder.path)/owners/\(fixture.store)"
        let whole = try TextFile.read(at: path, limit: 10_000)
        #expect(whole.count == 1536)
        let store = fixture.store
        #expect(OwnerFile.read(of: store, in: folder.folder, fixture.machine) == written)
        for place in stride(from: 3, to: whole.count, by: 61) {
            var bytes = whole
            bytes[place] ^= 4
            #expect(OwnerFile(bytes, store, fixture.machine) == written)
            bytes[place] ^= 3
            let read = OwnerFile(bytes, store, fixture.machine)
            switch place / 512 {
            case 0, 1: #expect(read?.identity == nil)
            default:
                #expect(read?.identity == Fixture.identity)
                #expect(read?.tries == OwnerFile.LostTries(areSpent: true))
            }
        }
        let elsewhere = OwnerFile(whole, store, try Fixture(machine: 9).machine)
        #expect(elsewhere?.identity == nil)
        #expect(elsewhere?.likelyOwner == Fixture.identity)
        #expect(elsewhere?.tries.areSpent == true)
        // None of its blocks is one of a slots file.
        var bytes = try self.bytes(.passcode)
        bytes.replaceSubrange(content(0), with: whole[0..<512])
        #expect(throws: KeyError.damaged(.block(0))) { try open(PowerDisk(bytes), nil) }
        try OwnerFile.sweep(in: folder.folder, keeping: [store])
        #expect(OwnerFile.read(of: store, in: folder.folder, fixture.machine) == written)
        try OwnerFile.sweep(in: folder.folder, keeping: [])
        #expect(OwnerFile.read(of: store, in: folder.folder, fixture.machine) == nil)
    }
}
