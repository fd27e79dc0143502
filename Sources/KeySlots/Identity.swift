/// Whose store it is, and whether it is live, being erased or erased: blocks 0 and 1.
public struct Identity: Equatable, Sendable {
    /// Whether the passcode is the login password.
    public enum Way: UInt8, CaseIterable, Sendable {
        /// (a) it follows the login password
        case followsLogin = 1
        /// (b) it is a passcode of its own
        case own = 2
    }

    public enum Condition: UInt8, CaseIterable, Sendable {
        case live = 1
        /// the erase has begun; if a crash interrupts it, the next start finishes it
        case erasing = 2
        /// the tombstone
        case erased = 3
    }

    /// Why a store has no passcode. What a policy may demand depends on it.
    public enum WithoutPasscode: UInt8, CaseIterable, Sendable {
        case hasPasscode = 0
        case byChoice = 1
        case byPolicyDefault = 2
        case inNoPasscodeMode = 3
    }

    /// What opens the store.
    public enum Kind: Equatable, Sendable {
        /// slots of its own: a passcode, or the device alone
        case own
        /// this store of the same person: it opens and shuts with it
        case follows(StoreID)
        /// each of its members
        case shared
        /// nothing has to be shown: what it holds is read by its members and written by its owner
        case configuration
    }

    static let ownerBlock = 0
    static let labelBlock = 1

    public static let accountLimit = 255
    /// Behind the numbers and the account's name.
    static let markOffset = 16 + accountLimit
    public static let storeNameLimit = 255
    public static let policyKeyLimit = 128

    public var uid: UInt32
    public var account: [UInt8]
    /// Seconds since 1970.
    public var createdAt: UInt64
    public var way: Way
    public var condition: Condition
    public var withoutPasscode: WithoutPasscode
    public var storeName: [UInt8]
    public var policyKey: [UInt8]
    public var kind: Kind
    public var madeUnder: OrdersMark
    /// It is gone because an organisation wanted it so.
    public var isWiped: Bool

    public init(
        uid: UInt32, account: [UInt8], createdAt: UInt64, way: Way, condition: Condition = .live,
        withoutPasscode: WithoutPasscode = .hasPasscode, storeName: [UInt8], policyKey: [UInt8],
        kind: Kind = .own, madeUnder: OrdersMark = .none, isWiped: Bool = false
    ) {
        self.uid = uid
        self.account = account
        self.createdAt = createdAt
        self.way = way
        self.condition = condition
        self.withoutPasscode = withoutPasscode
        self.storeName = storeName
        self.policyKey = policyKey
        self.kind = kind
        self.madeUnder = madeUnder
        self.isWiped = isWiped
    }

    func ownerPayload() throws(KeyError) -> [UInt8] {
        var writer = FieldWriter()
        writer.put(createdAt)
        writer.put(uid)
        writer.put(way.rawValue)
        writer.put(condition.rawValue)
        writer.put(withoutPasscode.rawValue)
        try writer.put(text: account, limit: Self.accountLimit)
        madeUnder.write(to: &writer)
        writer.put(UInt8(isWiped ? 1 : 0))
        return writer.bytes
    }

    func labelPayload() throws(KeyError) -> [UInt8] {
        var writer = FieldWriter()
        try writer.put(text: storeName, limit: Self.storeNameLimit)
        try writer.put(text: policyKey, limit: Self.policyKeyLimit)
        kind.write(to: &writer)
        return writer.bytes
    }

    init(owner: [UInt8], label: [UInt8]) throws(KeyError) {
        var reader = FieldReader(owner)
        guard let createdAt = reader.number(UInt64.self), let uid = reader.number(UInt32.self),
            let way = reader.number().flatMap(Way.init(rawValue:)),
            let condition = reader.number().flatMap(Condition.init(rawValue:)),
            let withoutPasscode = reader.number().flatMap(WithoutPasscode.init(rawValue:)),
            let account = reader.text(limit: Self.accountLimit),
            let madeUnder = OrdersMark(&reader), let isWiped = reader.flag(), reader.restIsZero
        else { throw .damaged(.block(Self.ownerBlock)) }
        var labels = FieldReader(label)
        guard let storeName = labels.text(limit: Self.storeNameLimit),
            let policyKey = labels.text(limit: Self.policyKeyLimit), let kind = Kind(&labels),
            labels.restIsZero
        else { throw .damaged(.block(Self.labelBlock)) }
        self.init(
            uid: uid, account: account, createdAt: createdAt, way: way, condition: condition,
            withoutPasscode: withoutPasscode, storeName: storeName, policyKey: policyKey,
            kind: kind, madeUnder: madeUnder, isWiped: isWiped)
    }
}

extension Identity.Kind {
    /// The store that it follows.
    public var parent: StoreID? {
        switch self {
        case .follows(let parent): parent
        case .own, .shared, .configuration: nil
        }
    }

    private var number: UInt8 {
        switch self {
        case .own: 0
        case .follows: 1
        case .shared: 2
        case .configuration: 3
        }
    }

    /// Stores of earlier releases have zeroes here, and are all of the first kind.
    init?(_ reader: inout FieldReader) {
        guard let number = reader.number(UInt8.self), let parent = reader.bytes(StoreID.size)
        else { return nil }
        let isZero = parent.allSatisfy { $0 == 0 }
        switch (number, StoreID(bytes: parent)) {
        case (0, _) where isZero: self = .own
        case (1, let parent?): self = .follows(parent)
        case (2, _) where isZero: self = .shared
        case (3, _) where isZero: self = .configuration
        default: return nil
        }
    }

    func write(to writer: inout FieldWriter) {
        writer.put(number)
        writer.put(parent?.bytes ?? [UInt8](repeating: 0, count: StoreID.size))
    }
}
