import Policy
import Posix
import Secrets
import Testing

@testable import KeySlots

/// A shared store and two people, each with a key pair.
private final class Team {
    let store: StoreID
    let machine: MachineKey
    let key: SecretBytes
    let alice: SecretBytes
    let bob: SecretBytes
    let made: TemporaryFolder

    init() throws {
        store = try StoreID.random()
        machine = try MachineKey(try SecretBytes.random(32))
        key = try SecretBytes.random(32)
        alice = try SecretBytes.random(32)
        bob = try SecretBytes.random(32)
        made = try TemporaryFolder()
    }

    func member(
        _ uid: UInt32 = 1000, sealed: Bool = true, _ role: Member.Role = .writer
    ) throws -> Member {
        var member = Member(
            .person(uid: uid, name: Array("alice".utf8)), role, addedAt: 5, addedBy: 0)
        if sealed { try member.seal(key, to: try SealedBox.publicKey(of: alice)) }
        return member
    }

    func vouched(_ member: Member, generation: UInt32 = 1) throws -> VouchedMember {
        try VouchedMember(member, key, generation: generation, store: store)
    }

    var folder: MemberFolder {
        MemberFolder(in: made.folder, store: store, machine: machine)
    }
}

@Suite("members of a shared store")
struct MemberTests {
    @Test("their own private key opens the slot, and no other one")
    func opens() throws {
        let team = try Team()
        let slot = try team.vouched(try team.member())
        #expect(reveal(try slot.open(with: team.alice, store: team.store)) == reveal(team.key))
        #expect(throws: KeyError.wrongSecret) {
            _ = try slot.open(with: team.bob, store: team.store).count
        }
        #expect(throws: KeyError.wrongSecret) {
            _ = try slot.open(with: team.alice, store: try StoreID.random()).count
        }
        let waiting = try team.vouched(try team.member(sealed: false))
        #expect(throws: KeyError.noSuchSlot) {
            _ = try waiting.open(with: team.alice, store: team.store).count
        }
    }

    @Test("whatever is changed in it shows, though the machine vouches for the block")
    func changed() throws {
        let team = try Team()
        let payload = try team.vouched(try team.member()).payload()
        // Generation, role, by a group, added at, added by, uid, name, box.
        for place in [0, 5, 7, 8, 16, 20, 25, 320] {
            var wrong = payload
            wrong[place] ^= place == 5 ? 1 : place == 25 ? 2 : 1
            guard let found = try? VouchedMember(payload: wrong) else { continue }
            #expect(throws: KeyError.wrongSecret, "\(place)") {
                _ = try found.open(with: team.alice, store: team.store).count
            }
            let isGenuine = try found.isGenuine(team.key, store: team.store)
            #expect(!isGenuine, "\(place)")
        }
        // The public key of another person.
        var swapped = payload
        swapped.replaceSubrange(280..<312, with: try SealedBox.publicKey(of: team.bob))
        let found = try VouchedMember(payload: swapped)
        #expect(throws: KeyError.wrongSecret) {
            _ = try found.open(with: team.bob, store: team.store).count
        }
        #expect(throws: KeyError.wrongSecret) {
            _ = try found.open(with: team.alice, store: team.store).count
        }
    }

    @Test("a stranger's box under a key of their own is not a member's")
    func forged() throws {
        let team = try Team()
        let own = try SecretBytes.random(32)
        var member = try team.member(sealed: false)
        try member.seal(own, to: try SealedBox.publicKey(of: team.alice))
        let forged = try VouchedMember(member, own, generation: 1, store: team.store)
        // It opens to the stranger's key, which opens no record; and nobody with the store key has
        // written it.
        #expect(reveal(try forged.open(with: team.alice, store: team.store)) == reveal(own))
        let isGenuine = try forged.isGenuine(team.key, store: team.store)
        #expect(!isGenuine)
    }

    @Test("groups, everybody and those who wait are vouched for by the store key")
    func vouched() throws {
        let team = try Team()
        for who: Member.Who in [
            .group(gid: 50, name: Array("staff".utf8)), .everybody,
            .person(uid: 7, name: Array("x".utf8)),
        ] {
            let member = try team.vouched(Member(who, .reader, addedAt: 1, addedBy: 2))
            let read = try VouchedMember(payload: try member.payload())
            #expect(read == member)
            let byKey = try read.isGenuine(team.key, store: team.store)
            let byOther = try read.isGenuine(team.bob, store: team.store)
            #expect(byKey && !byOther)
        }
    }

    @Test("the file of a recovery key can be read on any machine, and is of this store key alone")
    func recoveryKey() throws {
        let team = try Team()
        var member = Member(.recoveryKey(block: 6), .owner, addedAt: 1, addedBy: 2)
        try member.seal(team.key, to: try SealedBox.publicKey(of: team.alice))
        let vouched = try team.vouched(member)
        try team.folder.write(vouched)
        try team.folder.write(try team.vouched(try team.member()))
        let elsewhere = MemberFolder(
            in: team.made.folder, store: team.store,
            machine: try MachineKey(try SecretBytes.random(32)))
        let found = try elsewhere.all()
        #expect(found.members == [vouched] && found.damaged == ["u1000.1"])
        #expect(reveal(try vouched.open(with: team.alice, store: team.store)) == reveal(team.key))
        let isGenuine = try found.members[0].isGenuine(team.key, store: team.store)
        #expect(isGenuine)
        // Not by a group, not of a block that holds no recovery slot, not without its slot.
        let payload = try vouched.payload()
        for (place, value): (Int, UInt8) in [(7, 1), (20, 3), (20, 8), (6, 0), (4, 1), (4, 2)] {
            var wrong = payload
            wrong[place] = value
            #expect(throws: KeyError.self, "\(place) \(value)") {
                _ = try VouchedMember(payload: wrong)
            }
        }
        try elsewhere.remove(member.who)
        #expect(try team.folder.all().members.map(\.member.who) != [member.who])
    }

    @Test("a payload that cannot be is refused")
    func layouts() throws {
        let team = try Team()
        let payload = try team.vouched(try team.member()).payload()
        let waiting = try team.vouched(try team.member(sealed: false)).payload()
        func refuses(_ payload: [UInt8], _ place: Int, _ value: UInt8) {
            var wrong = payload
            wrong[place] = value
            #expect(throws: KeyError.self, "\(place) \(value)") {
                _ = try VouchedMember(payload: wrong)
            }
        }
        for (place, value): (Int, UInt8) in [
            (4, 0), (4, 4), (4, 2), (4, 3), (5, 0), (5, 4), (6, 0), (6, 2), (7, 2), (24, 0),
        ] { refuses(payload, place, value) }
        refuses(waiting, 6, 1)
        #expect(throws: KeyError.self) { _ = try VouchedMember(payload: payload + [1]) }
    }

    @Test("files are written, replaced, and removed with all generations, and nobody else's")
    func files() throws {
        let team = try Team()
        #expect(try team.folder.all() == MemberFolder.Found())
        let one = try team.vouched(try team.member(1))
        let ten = try team.vouched(try team.member(10))
        let next = try team.vouched(try team.member(1), generation: 2)
        for member in [one, ten, next] { try team.folder.write(member) }
        let found = try team.folder.all()
        #expect(found.members.count == 3 && found.damaged.isEmpty)
        #expect(Set(found.latest.map(\.generation)) == [1, 2] && found.latest.count == 2)
        #expect(found.of(generation: 2) == [next])
        let reader = try team.vouched(try team.member(10, .reader))
        try team.folder.write(reader)
        #expect(try team.folder.all().members.contains(reader))
        try team.folder.remove(one.member.who)
        #expect(try team.folder.all().members == [reader])
        try team.folder.remove(one.member.who)
        try MemberFolder.removeAll(in: team.made.folder)
        #expect(!team.made.folder.exists("members"))
    }

    @Test("what is no member of this store is named, and what was half written is swept")
    func strange() throws {
        let team = try Team()
        try team.folder.write(try team.vouched(try team.member()))
        let path = "\(team.made.path)/members"
        let bytes = try TextFile.read(at: "\(path)/u1000.1", limit: 1000)
        let members = try Folder(path: path)
        func put(_ name: String, _ bytes: [UInt8]) throws {
            try members.file(name, .createNew(mode: 0o600)).write(bytes.span, at: 0)
        }
        var changed = bytes
        for place in 100..<110 { changed[place] ^= 0xff }
        try put("u1000.2", bytes)
        try put("u1001.1", bytes)
        try put("u7.1", Array(bytes.dropLast()))
        try put("u8.1", bytes + [0])
        try put("u9.1", changed)
        try put("all.1", [])
        try put("u1000.1.new", bytes)
        let found = try team.folder.all()
        #expect(found.members.count == 1)
        #expect(found.damaged == ["all.1", "u1000.2", "u1001.1", "u7.1", "u8.1", "u9.1"])
        let other = MemberFolder(
            in: team.made.folder, store: try StoreID.random(), machine: team.machine)
        #expect(try other.all().members.isEmpty)
        try team.folder.sweep()
        #expect(!members.exists("u1000.1.new") && members.exists("u1000.1"))
        try MemberFolder.removeAll(in: team.made.folder)
    }

    @Test("one wrong bit anywhere is put right, or is no member")
    func bits() throws {
        let team = try Team()
        let member = try team.vouched(try team.member())
        try team.folder.write(member)
        let path = "\(team.made.path)/members"
        let bytes = try TextFile.read(at: "\(path)/u1000.1", limit: 1000)
        for bit in stride(from: 0, to: bytes.count * 8, by: 37) {
            var wrong = bytes
            wrong[bit / 8] ^= 1 << UInt8(bit % 8)
            try TextFile.replace(at: "\(path)/u1000.1", with: wrong)
            let found = try team.folder.all().members
            #expect(found.isEmpty || found == [member], "bit \(bit)")
        }
        try MemberFolder.removeAll(in: team.made.folder)
    }

    @Test("what is removed was overwritten first")
    func overwritten() throws {
        let team = try Team()
        let member = try team.vouched(try team.member())
        try team.folder.write(member)
        let held = try Folder(path: "\(team.made.path)/members").file("u1000.1", .read)
        try team.folder.remove(member)
        var bytes = [UInt8](repeating: 1, count: Block.size)
        var span = bytes.mutableSpan
        #expect(try held.read(into: &span, at: 0) == Block.size)
        #expect(bytes.allSatisfy { $0 == 0 })
        try MemberFolder.removeAll(in: team.made.folder)
    }
}

@Suite("a person's member key")
struct MemberKeyTests {
    private static func made(
        _ machine: MachineKey, _ folder: TemporaryFolder, _ key: borrowing SecretBytes
    ) throws -> SlotFile {
        let file = try SlotFile.create(
            in: folder.folder, store: try StoreID.random(), identity: Fixture.identity,
            machine: machine)
        try file.replacePasscodeWithDevice(storeKey: key)
        try file.makeMemberKey(storeKey: key)
        return file
    }

    @Test("is made once, is there after it was read again, and opens with the store key alone")
    func once() throws {
        let folder = try TemporaryFolder()
        let machine = try MachineKey(try SecretBytes.random(32))
        let key = try SecretBytes.random(32)
        let file = try Self.made(machine, folder, key)
        let first = try #require(file.memberKey)
        try file.makeMemberKey(storeKey: key)
        #expect(file.memberKey == first)
        let again = try SlotFile.open(in: folder.folder, store: file.store).checked(with: machine)
        let privateKey = try #require(again.memberKey).open(store: file.store, storeKey: key)
        #expect(try SealedBox.publicKey(of: privateKey) == first.publicKey)
        #expect(throws: KeyError.damaged(.block(15))) {
            _ = try first.open(store: file.store, storeKey: try SecretBytes.random(32)).count
        }
        #expect(throws: KeyError.damaged(.block(15))) {
            _ = try first.open(store: try StoreID.random(), storeKey: key).count
        }
        try again.eraseKeys()
        #expect(again.memberKey == nil)
    }

    @Test("with another person's public key in it, it is damage")
    func swapped() throws {
        let store = try StoreID.random()
        let key = try SecretBytes.random(32)
        var payload = try MemberKey.payload(
            try SecretBytes.random(32), store: store, storeKey: key)
        let other = try SealedBox.publicKey(of: try SecretBytes.random(32))
        payload.replaceSubrange(4..<36, with: other)
        let swapped = try MemberKey(payload)
        #expect(throws: KeyError.damaged(.block(15))) {
            _ = try swapped.open(store: store, storeKey: key).count
        }
    }

    @Test("the whole block of another person is not taken")
    func anothers() throws {
        let folders = (try TemporaryFolder(), try TemporaryFolder())
        let machine = try MachineKey(try SecretBytes.random(32))
        let key = try SecretBytes.random(32)
        let mine = try Self.made(machine, folders.0, key)
        _ = try Self.made(machine, folders.1, key)
        let theirs = try TextFile.read(at: "\(folders.1.path)/slots", limit: 100_000)
        let file = try folders.0.folder.file("slots", .readWrite)
        let block = Array(theirs[content(15)])
        try file.write(block.span, at: 15 * 4096)
        let read = try SlotFile.open(in: folders.0.folder, store: mine.store).checked(with: machine)
        #expect(read.memberKey == nil && read.lost == [15])
        // Nobody can tell what it was: it is made anew once the store is open.
        _ = try read.mend()
        try read.makeMemberKey(storeKey: key)
        #expect(read.memberKey != nil)
    }

    @Test("that a new key is due is kept")
    func due() throws {
        let terms = Terms(newKeyIsDue: true)
        #expect(try Terms(payload: terms.payload()) == terms)
        #expect(try !Terms(payload: Terms().payload()).newKeyIsDue)
    }
}
