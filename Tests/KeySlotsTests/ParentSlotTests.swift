import Secrets
import Testing

@testable import KeySlots

/// A store that opens with another one.
struct ParentSlotTests {
    @Test("the store that it follows opens it, also after it was read again")
    func opens() throws {
        let family = try Family()
        let key = reveal(family.childKey)
        #expect(reveal(try family.child.openFollowing(family.ring)) == key)
        #expect(reveal(try family.again().openFollowing(family.ring)) == key)
        #expect(try family.again().identity.kind == .follows(family.parent))
    }

    @Test("another store of the same person does not open it, nor does its own key")
    func others() throws {
        let family = try Family()
        let other = try FollowingKey(of: try StoreID.random(), storeKey: family.parentKey)
        #expect(throws: KeyError.noSuchSlot) {
            _ = try family.child.openFollowing(other).count
        }
        let key = try SecretBytes.random(32)
        let same = try FollowingKey(of: family.parent, storeKey: key)
        #expect(throws: KeyError.damaged(.block(5))) {
            _ = try family.child.openFollowing(same).count
        }
        // What opens followers is not the store key, and does not stand in for it.
        #expect(reveal(try family.ring.copy()) != reveal(family.parentKey))
    }

    @Test("it has no device slot: the machine alone does not open it")
    func notByDevice() throws {
        let family = try Family()
        #expect(!family.child.hasDeviceSlot)
        #expect(throws: KeyError.damaged(.block(5))) { _ = try family.child.openDevice().count }
    }

    @Test("with a passcode of its own it follows no more, from the slot on")
    func ends() throws {
        let family = try Family()
        let details = try PasscodeDetails(
            cost: .init(memoryKiB: 8, passes: 1), setAt: 1, way: .own)
        let derived = try SecretBytes.random(32)
        // As a crash leaves it: the new slot, and the parent's still beside it.
        try family.child.addPasscode(
            details, derived: derived, storeKey: family.childKey, proven: nil)
        let between = try family.again()
        #expect(between.identity.kind == .own)
        #expect(throws: KeyError.noSuchSlot) {
            _ = try between.openFollowing(family.ring).count
        }
        let slot = try #require(try between.passcodeSlots.first)
        let opened = reveal(try between.openPasscode(slot, derived: derived))
        #expect(opened == reveal(family.childKey))
        try between.settle(on: slot)
        #expect(try !family.again().hasDeviceSlot)
    }

    @Test("a label that is neither kind is damage that nobody may make anew")
    func unknownKind() throws {
        var label = try Family.identity(.own).labelPayload()
        label[385] = 9
        let owner = try Family.identity(.own).ownerPayload()
        #expect(throws: KeyError.damaged(.block(1))) {
            _ = try Identity(owner: owner, label: label)
        }
        label[385] = 0
        label[390] = 1
        #expect(throws: KeyError.damaged(.block(1))) {
            _ = try Identity(owner: owner, label: label)
        }
    }

    @Test("an erase leaves nothing that opens it")
    func erased() throws {
        let family = try Family()
        try family.child.eraseKeys()
        #expect(throws: KeyError.erased) { _ = try family.child.openFollowing(family.ring).count }
    }
}

/// A store, and one that follows it.
private final class Family {
    let folder: TemporaryFolder
    let machine: MachineKey
    let parent: StoreID
    let parentKey: SecretBytes
    let childKey: SecretBytes
    let childID: StoreID
    let child: SlotFile
    let ring: FollowingKey

    static func identity(_ kind: Identity.Kind) -> Identity {
        Identity(
            uid: 1000, account: Array("alice".utf8), createdAt: 1, way: .own,
            storeName: Array("mail".utf8), policyKey: Array("default".utf8), kind: kind)
    }

    init() throws {
        folder = try TemporaryFolder()
        machine = try MachineKey(try SecretBytes.random(32))
        parent = try StoreID.random()
        parentKey = try SecretBytes.random(32)
        childKey = try SecretBytes.random(32)
        childID = try StoreID.random()
        child = try SlotFile.create(
            in: folder.folder, store: childID, identity: Self.identity(.follows(parent)),
            machine: machine)
        ring = try FollowingKey(of: parent, storeKey: parentKey)
        try child.follow(ring, storeKey: childKey, with: Along())
    }

    func again() throws -> SlotFile {
        try SlotFile.open(in: folder.folder, store: childID).checked(with: machine)
    }
}
