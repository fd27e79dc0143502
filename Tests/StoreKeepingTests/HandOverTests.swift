import KeySlots
import Policy
import Posix
import Secrets
import Testing

@testable import StoreKeeping

private let boot = BootID(Array(1...16))!
private let otherBoot = BootID(Array(2...17))!

private func key(_ byte: UInt8, _ count: Int) throws -> StoreKey {
    StoreKey(try SecretBytes(copying: [UInt8](repeating: byte, count: count).span))
}

private func id(_ byte: UInt8) throws -> StoreID {
    try #require(StoreID(bytes: [UInt8](repeating: byte, count: 16)))
}

private let away = HandOver.Times(
    absences: [Away(.sleep, since: 9000), Away(.screenLockByIdleness, since: 8000)],
    heldSince: 7, heldUntil: 8)
private let here = HandOver.Times(absences: [], heldSince: 0, heldUntil: nil)

private func sample() throws -> HandOver {
    var left = HandOver(slept: 12)
    left.stores = [
        HandOver.Store(
            id: try id(1), lastUse: 1000, shutAt: nil, times: away,
            ground: .passcode(salt: Array(1...16)), keys: try key(7, 80), keyGeneration: 1,
            ring: try key(5, 32)),
        HandOver.Store(
            id: try id(2), lastUse: 2000, shutAt: 62_000, times: here, ground: .device,
            keys: try key(8, 80), keyGeneration: 1, ring: nil),
        HandOver.Store(
            id: try id(4), lastUse: 3000, shutAt: nil, times: here,
            ground: .parent(proven: nil), keys: try key(6, 80), keyGeneration: 1, ring: nil),
        HandOver.Store(
            id: try id(5), lastUse: 3000, shutAt: nil, times: here,
            ground: .member(proven: nil), keys: try key(3, 80), keyGeneration: 7, ring: nil),
    ]
    left.residents = [
        HandOver.Resident(
            id: try id(1), made: ResidentTime(boot: 5, wall: 1_700_000_000), times: away,
            ground: .passcode(salt: Array(1...16)), key: try key(9, 32))
    ]
    left.sessions = [
        HandOver.LoginSession(id: Array("c1".utf8), uid: 1000, times: 2, isListed: true),
        HandOver.LoginSession(id: [], uid: 1001, times: 1, isListed: false),
    ]
    left.inFront = [1000]
    return left
}

private func encoded(_ left: HandOver) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: left.size)
    var span = bytes.mutableSpan
    left.encode(boot: boot, into: &span)
    return bytes
}

/// Nil if it is read without a fault.
private func fault(_ bytes: [UInt8], _ boot: BootID = boot) -> HandOver.Fault? {
    do throws(HandOver.Fault) {
        _ = try HandOver(decoding: bytes.span, boot: boot)
        return nil
    } catch {
        return error
    }
}

private func reveal(_ key: StoreKey) -> [UInt8] {
    key.bytes.withBytes { bytes in bytes.indices.map { bytes[$0] } }
}

@Suite("what a daemon leaves to the next one")
struct HandOverTests {
    @Test("all of it is read again as it was written")
    func whole() throws {
        let left = try sample()
        let read = try HandOver(decoding: encoded(left).span, boot: boot)
        #expect(read.slept == 12)
        #expect(read.sessions == left.sessions && read.inFront == left.inFront)
        #expect(read.stores.count == 4 && read.residents.count == 1)
        for (one, other) in zip(read.stores, left.stores) {
            #expect(one.id == other.id && one.lastUse == other.lastUse)
            #expect(one.shutAt == other.shutAt && one.ground == other.ground)
            #expect(one.times == other.times)
            #expect(reveal(one.keys) == reveal(other.keys))
            #expect(one.keyGeneration == other.keyGeneration)
            #expect(one.ring.map(reveal) == other.ring.map(reveal))
        }
        #expect(read.residents[0].made == left.residents[0].made)
        #expect(read.residents[0].times == away)
        #expect(reveal(read.residents[0].key) == reveal(left.residents[0].key))
    }

    @Test("what is behind it does not matter: an area has whole pages")
    func padded() throws {
        #expect(fault(encoded(try sample()) + [UInt8](repeating: 0, count: 4096)) == nil)
    }

    @Test("cut anywhere, it is refused")
    func cut() throws {
        let bytes = encoded(try sample())
        for count in 0..<bytes.count {
            let found = fault(Array(bytes[..<count]))
            #expect(found == .cut || (count < 26 && found == .unknown), "\(count)")
        }
    }

    @Test("of another boot, of another version, or of another program it is refused")
    func others() throws {
        let bytes = encoded(try sample())
        #expect(fault(bytes, otherBoot) == .otherBoot)
        var version = bytes
        version[26] = 1
        #expect(fault(version) == .otherVersion)
        var magic = bytes
        magic[0] ^= 1
        #expect(fault(magic) == .unknown)
        #expect(fault([UInt8](repeating: 0, count: bytes.count)) == .unknown)
    }

    @Test("a kind of record that this version does not have is another version's")
    func kinds() throws {
        var bytes = encoded(try sample())
        bytes[66] = 5
        #expect(fault(bytes) == .otherVersion)
    }

    @Test("no byte that is wrong ends the daemon, and none makes a length reach beyond the area")
    func anyByte() throws {
        let bytes = encoded(try sample())
        for index in bytes.indices {
            for value: UInt8 in [0, 1, 0x7f, 0x80, 0xff] {
                var wrong = bytes
                wrong[index] = value
                _ = fault(wrong)
            }
        }
    }
}

@Suite("secret memory", .enabled(if: SecretArea.isAvailable))
struct SecretAreaTests {
    private func file(_ area: borrowing SecretArea) -> FileDescriptor {
        FileDescriptor(owning: Descriptors.copy(area.descriptor))
    }

    @Test("what one holder leaves, the next one finds, and it is wiped after that")
    func left() throws {
        var first = try SecretArea(count: 5000)
        let second = file(first)
        let third = file(first)
        first.withMutableBytes { bytes in
            for index in bytes.indices { bytes[index] = UInt8(truncatingIfNeeded: index | 1) }
        }
        first.leave()
        _ = consume first
        do {
            let taken = try SecretArea(taking: second)
            #expect(taken.count == 5000)
            #expect(taken.withBytes { bytes in bytes[4999] } == UInt8(truncatingIfNeeded: 4999))
        }
        let last = try SecretArea(taking: third)
        #expect(last.withBytes { bytes in bytes.indices.allSatisfy { bytes[$0] == 0 } })
    }

    @Test("a holder that leaves it to nobody wipes it")
    func notLeft() throws {
        var first = try SecretArea(count: 10)
        let second = file(first)
        first.withMutableBytes { bytes in bytes[0] = 1 }
        _ = consume first
        let taken = try SecretArea(taking: second)
        #expect(taken.withBytes { bytes in bytes[0] } == 0)
    }

    @Test("another descriptor is refused")
    func foreign() throws {
        let number = Descriptors.open("/dev/null")
        do throws(SecretArea.Refusal) {
            _ = try SecretArea(taking: FileDescriptor(owning: number))
            Issue.record("it was taken")
        } catch {
            #expect(error == .foreign)
        }
    }
}
