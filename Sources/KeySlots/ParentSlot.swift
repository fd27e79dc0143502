import Secrets

/// Opens with the store that this one follows. It stands where a store that follows none has its
/// device slot: neither asks a person for anything.
typealias ParentSlot = Slot<ParentDetails>

struct ParentDetails: SlotDetails {
    static let kind: UInt16 = 4
    static let blocks = DeviceDetails.blocks
    static let opensOnAnyMachine = false

    var derivation: KeyDerivation.Cost? { nil }

    init() {}

    init?(_: inout FieldReader) {}

    func write(to _: inout FieldWriter) {}
}

/// What a store opens those with that follow it. It is made from its store key, and opens nothing
/// of the store itself: so it may stay in memory as long as the store is open.
public struct FollowingKey: ~Copyable, Sendable {
    public static let size = WrappedKey.keySize
    public let parent: StoreID
    let key: SecretBytes

    public init(of parent: StoreID, storeKey: borrowing SecretBytes) throws(KeyError) {
        let message = Self.message(parent)
        let key = try secrets(
            try Hash.subkey(of: storeKey, purpose: .following, message: message.span))
        self.parent = parent
        self.key = key
    }

    /// As it was kept for the next daemon.
    public init(of parent: StoreID, copying key: borrowing SecretBytes) throws(KeyError) {
        guard key.count == WrappedKey.keySize else { throw .secrets(.wrongSize) }
        let copy = try secrets(try key.slice(0..<WrappedKey.keySize))
        self.parent = parent
        self.key = copy
    }

    public func copy() throws(KeyError) -> SecretBytes {
        try secrets(try key.slice(0..<WrappedKey.keySize))
    }

    private static func message(_ parent: StoreID) -> [UInt8] {
        var writer = FieldWriter()
        writer.put(parent.bytes)
        writer.put(WrappedKey.generation)
        return writer.bytes
    }

    /// The key of a follower's slot.
    func slotKey(at place: WrappedKey.Place) throws(KeyError) -> SecretBytes {
        let message = place.keyMessage + parent.bytes
        return try secrets(
            try Hash.subkey(of: key, purpose: .parentKEK, message: message.span))
    }
}

extension SlotFile {
    /// Makes a new store one that follows. It has no other slot yet.
    public func follow(
        _ parent: borrowing FollowingKey, storeKey: borrowing SecretBytes, with along: Along
    ) throws(KeyError) {
        try requireLive()
        guard identity.kind == .follows(parent.parent) else { throw .noSuchSlot }
        try file.put([
            ParentDetails.blocks[0]: try ParentSlot.payload(
                storeKey, ParentDetails(), block: ParentDetails.blocks[0], store: store
            ) { (place) throws(KeyError) in try parent.slotKey(at: place) }
        ])
        try proveFollowing(parent, storeKey)
        try finish(along, storeKey: storeKey)
    }

    /// Reads the new slot from the disk and opens it.
    private func proveFollowing(
        _ parent: borrowing FollowingKey, _ storeKey: borrowing SecretBytes
    ) throws(KeyError) {
        let number = ParentDetails.blocks[0]
        let slot = try ParentSlot(try file.readBack(number))
        guard try open(slot, parent).matches(storeKey) else { throw .damaged(.readBack(number)) }
    }

    /// Throws `.noSuchSlot` where this store follows another one, or none. No secret was typed that
    /// could be wrong, so what does not open is damage.
    public func openFollowing(
        _ parent: borrowing FollowingKey
    ) throws(KeyError) -> SecretBytes {
        try requireLive()
        guard identity.kind == .follows(parent.parent),
            let slot = try file.slots(ParentDetails.self).first
        else { throw .noSuchSlot }
        return try open(slot, parent)
    }

    private func open(
        _ slot: ParentSlot, _ parent: borrowing FollowingKey
    ) throws(KeyError) -> SecretBytes {
        let place = slot.place(of: store)
        do {
            return try slot.wrapped.open(under: try parent.slotKey(at: place), at: place)
        } catch {
            throw error == .wrongSecret ? .damaged(.block(slot.block)) : error
        }
    }
}
