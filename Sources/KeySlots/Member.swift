import Secrets

/// Somebody whom a store is shared with.
public struct Member: Equatable, Sendable {
    public enum Who: Hashable, Sendable {
        /// The account's number and its name: either may be given to another person later.
        case person(uid: UInt32, name: [UInt8])
        /// A group of accounts. Each of them gets a slot of their own.
        case group(gid: UInt32, name: [UInt8])
        /// Whoever has an account on this machine; of shared configuration alone.
        case everybody
        /// Nobody: the slot of the store's recovery key, which is in this block. It is a member so
        /// that it gets each new key, as the others do.
        case recoveryKey(block: Int)

        /// A person's number.
        public var uid: UInt32? {
            if case .person(let uid, _) = self { uid } else { nil }
        }
    }

    /// The lower number may do more.
    public enum Role: UInt8, CaseIterable, Sendable {
        case owner = 1
        case writer = 2
        case reader = 3
    }

    public var who: Who
    public var role: Role
    /// Seconds since 1970.
    public var addedAt: UInt64
    /// The uid of whoever has added them.
    public var addedBy: UInt32
    /// The person is in a group that the store is shared with: as long as that holds, the group's
    /// role is theirs, and not this one.
    public var isByGroup: Bool
    /// Nil where they are still to get their slot: only whoever has the store open can make it, and
    /// only once this person has a member key.
    public var slot: Slot?

    /// The store key, sealed to the person's public key.
    public struct Slot: Equatable, Sendable {
        let publicKey: [UInt8]
        let box: [UInt8]
    }

    public init(
        _ who: Who, _ role: Role, addedAt: UInt64, addedBy: UInt32, isByGroup: Bool = false,
        slot: Slot? = nil
    ) {
        self.who = who
        self.role = role
        self.addedAt = addedAt
        self.addedBy = addedBy
        self.isByGroup = isByGroup
        self.slot = slot
    }

    /// Whether the slot was sealed to this key. After a reset the person has another one.
    public func isSealed(to publicKey: [UInt8]?) -> Bool {
        publicKey != nil && slot?.publicKey == publicKey
    }

    /// To which the slot is sealed.
    public var publicKey: [UInt8]? { slot?.publicKey }

    /// Gives a person their slot.
    public mutating func seal(
        _ storeKey: borrowing SecretBytes, to publicKey: [UInt8]
    ) throws(KeyError) {
        slot = Slot(
            publicKey: publicKey, box: try secrets(try SealedBox.seal(storeKey, to: publicKey)))
    }

    public static let nameLimit = 255
    static let block = 32
}

/// A member as their file says it, with what shows that somebody who had the store key has written
/// it: a sealed box alone shows nobody.
public struct VouchedMember: Equatable, Sendable {
    public let member: Member
    /// Of the store key.
    public let generation: UInt32
    private let mac: [UInt8]

    private static let boxSize = WrappedKey.keySize + SealedBox.overhead
    private static let macSize = 32

    public init(
        _ member: Member, _ storeKey: borrowing SecretBytes, generation: UInt32, store: StoreID
    ) throws(KeyError) {
        self.member = member
        self.generation = generation
        mac = try Self.mac(
            of: try Self.fields(member, generation), storeKey, generation, store)
    }

    /// Whether somebody with this store key has written it, for this store.
    public func isGenuine(
        _ storeKey: borrowing SecretBytes, store: StoreID
    ) throws(KeyError) -> Bool {
        let right = try Self.mac(
            of: try Self.fields(member, generation), storeKey, generation, store)
        return constantTimeEqual(right.span, mac.span)
    }

    /// The store key. Throws `.wrongSecret` where the slot is sealed to another key, and `.noSuchSlot`
    /// where there is none yet.
    public func open(
        with privateKey: borrowing SecretBytes, store: StoreID
    ) throws(KeyError) -> SecretBytes {
        guard let slot = member.slot else { throw .noSuchSlot }
        let opened: SecretBytes
        do throws(SecretsError) {
            guard try SealedBox.publicKey(of: privateKey) == slot.publicKey else {
                throw SecretsError.notAuthentic
            }
            opened = try SealedBox.open(slot.box, with: privateKey)
        } catch {
            throw error == .notAuthentic ? .wrongSecret : .secrets(error)
        }
        // Whoever knows the public key can seal something to it.
        guard try isGenuine(opened, store: store) else { throw .wrongSecret }
        return opened
    }

    // MARK: the layout

    private static func fields(_ member: Member, _ generation: UInt32) throws(KeyError) -> [UInt8] {
        var writer = FieldWriter()
        writer.put(generation)
        let (kind, number, name): (UInt8, UInt32, [UInt8]) =
            switch member.who {
            case .person(let uid, let name): (1, uid, name)
            case .group(let gid, let name): (2, gid, name)
            case .everybody: (3, 0, [])
            case .recoveryKey(let block): (4, UInt32(block), [])
            }
        writer.put(kind)
        writer.put(member.role.rawValue)
        writer.put(UInt8(member.slot == nil ? 0 : 1))
        writer.put(UInt8(member.isByGroup ? 1 : 0))
        writer.put(member.addedAt)
        writer.put(member.addedBy)
        writer.put(number)
        try writer.put(text: name, limit: Member.nameLimit)
        writer.put(member.slot?.publicKey ?? zeroes(SealedBox.publicKeySize))
        writer.put(member.slot?.box ?? zeroes(boxSize))
        return writer.bytes
    }

    private static func zeroes(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

    private static func mac(
        of fields: [UInt8], _ storeKey: borrowing SecretBytes, _ generation: UInt32,
        _ store: StoreID
    ) throws(KeyError) -> [UInt8] {
        var writer = FieldWriter()
        writer.put(store.bytes)
        writer.put(generation)
        let bound = writer.bytes
        let message = fields + store.bytes
        do throws(SecretsError) {
            let key = try Hash.subkey(of: storeKey, purpose: .memberMACKey, message: bound.span)
            return try Hash.blake2b(message.span, key: key, purpose: .memberMAC, count: macSize)
        } catch {
            throw .secrets(error)
        }
    }

    func payload() throws(KeyError) -> [UInt8] {
        try Self.fields(member, generation) + mac
    }

    init(payload: [UInt8]) throws(KeyError) {
        var reader = FieldReader(payload)
        guard let generation = reader.number(UInt32.self), let kind = reader.number(UInt8.self),
            let role = reader.number().flatMap(Member.Role.init(rawValue:)),
            let isSealed = reader.flag(), let isByGroup = reader.flag(),
            let addedAt = reader.number(UInt64.self), let addedBy = reader.number(UInt32.self),
            let number = reader.number(UInt32.self),
            let name = reader.text(limit: Member.nameLimit),
            let publicKey = reader.bytes(SealedBox.publicKeySize),
            let box = reader.bytes(Self.boxSize), let mac = reader.bytes(Self.macSize),
            reader.restIsZero, let who = Self.who(kind, number, name)
        else { throw .damaged(.block(Member.block)) }
        let isEmpty = (publicKey + box).allSatisfy { $0 == 0 }
        let mayBeSealed =
            switch who {
            case .person: true
            case .recoveryKey: isSealed && !isByGroup
            case .group, .everybody: !isSealed && !isByGroup
            }
        guard isSealed != isEmpty, mayBeSealed else { throw .damaged(.block(Member.block)) }
        member = Member(
            who, role, addedAt: addedAt, addedBy: addedBy, isByGroup: isByGroup,
            slot: isSealed ? Member.Slot(publicKey: publicKey, box: box) : nil)
        self.generation = generation
        self.mac = mac
    }

    private static func who(_ kind: UInt8, _ number: UInt32, _ name: [UInt8]) -> Member.Who? {
        switch kind {
        case 1 where !name.isEmpty: .person(uid: number, name: name)
        case 2 where !name.isEmpty: .group(gid: number, name: name)
        case 3 where name.isEmpty && number == 0: .everybody
        case 4 where name.isEmpty && RecoveryDetails.blocks.contains(Int(number)):
            .recoveryKey(block: Int(number))
        default: nil
        }
    }
}
