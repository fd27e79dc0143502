/// Whose store, and which: an empty name is `default`, `OWNER/NAME` is one that is shared with the
/// person.
public struct Target: Body, Fields, Equatable {
    public var subject = Subject()
    public var store: [UInt8] = []

    public init(subject: Subject = Subject(), store: [UInt8] = []) {
        self.subject = subject
        self.store = store
    }

    public init() {}

    mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
        coder.part(&subject)
        coder.text(&store, limit: Limits.storeText)
    }
}

public struct Create: Body, Fields, Equatable {
    public enum Way: UInt8, CaseIterable, Sendable {
        /// (a) the passcode follows the login password
        case followLogin = 1
        /// (b) a passcode of its own
        case ownPasscode = 2
        case noPasscode = 3
        /// The person has not chosen. This is what suits the machine, and the policy may have the
        /// store begin without a passcode.
        case usuallyFollowLogin = 4
        case usuallyOwnPasscode = 5
        /// It opens and locks with another store of the same person.
        case followStore = 6
        /// Its members' stores open it.
        case shared = 7
        /// Nothing has to be shown: what it holds is read by its members and written by its owner.
        case configuration = 8
        /// The person is asked, screen by screen, and what is there already is not asked again. The
        /// rest says what is asked for first: what suits the machine.
        case guidedFollowLogin = 9
        case guidedOwnPasscode = 10
    }

    public var target = Target()
    public var way = Way.followLogin
    /// A store that exists is opened instead of refused.
    public var openExisting = false
    /// The store that it follows; empty is `default`.
    public var parent: [UInt8] = []
    /// The UUID's 16 bytes that it is to have; all zero: a new one.
    public var id = [UInt8](repeating: 0, count: 16)
    /// Whose rules it is under; empty: those of the store that it follows, or `default`.
    public var policyKey: [UInt8] = []

    public init(target: Target, way: Way, openExisting: Bool) {
        self.target = target
        self.way = way
        self.openExisting = openExisting
    }

    init() {}

    mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
        coder.part(&target)
        coder.value(&way)
        coder.flag(&openExisting)
        coder.text(&parent, limit: Limits.name)
        coder.fixed(&id, 16)
        coder.text(&policyKey, limit: Limits.policyKey)
    }
}

/// Opens one store of the peer's, and locks the others that have a way in of their own.
public struct SwitchStore: Body, Fields, Equatable {
    public enum Act: UInt8, CaseIterable, Sendable {
        /// The one of this name.
        case open = 0
        /// The person is shown them, and takes one, adds one or removes one; `store` says nothing then.
        case ask = 1
        /// A new one is made, with a passcode of its own; an empty name is asked for.
        case add = 2
        /// As ask, and what the person takes is told and not done: it ends with 44 or 45.
        case tell = 3
        /// A finger of this store may say who is there, or no longer may.
        case agree = 4
        case disagree = 5
        /// Whether it may: the id of the line says so. Nothing is asked or changed.
        case agreed = 6
    }

    public var store: [UInt8] = []
    public var act = Act.open

    public init(store: [UInt8], act: Act = .open) {
        (self.store, self.act) = (store, act)
    }

    public static var asking: SwitchStore { SwitchStore(store: [], act: .ask) }

    init() {}

    mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
        coder.text(&store, limit: Limits.name)
        coder.value(&act)
    }
}

/// Gives a store another name.
public struct Rename: Body, Fields, Equatable {
    public var target = Target()
    public var name: [UInt8] = []

    public init(target: Target, name: [UInt8]) {
        self.target = target
        self.name = name
    }

    init() {}

    mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
        coder.part(&target)
        coder.text(&name, limit: Limits.name)
    }
}

/// `passwd`: what happens to the passcode.
public struct Passcode: Body, Fields, Equatable {
    public enum Change: UInt8, CaseIterable, Sendable {
        case change = 1
        case turnOff = 2
        case turnOn = 3
        case followLogin = 4
        case ownPasscode = 5
    }

    public var target = Target()
    public var change = Change.change

    public init(target: Target, change: Change) {
        self.target = target
        self.change = change
    }

    init() {}

    mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
        coder.part(&target)
        coder.value(&change)
    }
}

/// `hold` and `resume`: for how long the store does not lock by itself.
public struct Hold: Body, Fields, Equatable {
    public var target = Target()
    /// 0 ends it.
    public var seconds: UInt32 = 0

    /// As long as the policy allows.
    public static let longest = UInt32.max

    public init(target: Target, seconds: UInt32) {
        self.target = target
        self.seconds = seconds
    }

    init() {}

    mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
        coder.part(&target)
        coder.u32(&seconds)
    }
}

/// Root gives a store whose owner changed to the account that owns it now.
public struct Chown: Body, Fields, Equatable {
    public var store: [UInt8] = []
    public var owner = Subject()

    /// `store` is the UUID's 16 bytes.
    public init(store: [UInt8], owner: Subject) {
        self.store = store
        self.owner = owner
    }

    init() {}

    mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
        coder.fixed(&store, 16)
        coder.part(&owner)
    }
}

/// What opens a store.
public enum StoreKind: UInt8, CaseIterable, Sendable {
    /// a passcode of its own, or nothing
    case own = 0
    /// another store of the same person
    case follows = 1
    /// each of its members
    case shared = 2
    /// nothing has to be shown: its members read it, and its owner and root write it
    case configuration = 3
}

/// What a member of a shared store may do. The lower number may do more.
public enum StoreRole: UInt8, CaseIterable, Sendable {
    case none = 0
    case owner = 1
    case writer = 2
    case reader = 3
}

/// What `status` shows. Only the owner, whoever it is shared with, and root hear it.
public struct State: Body, Fields, Equatable {
    public enum Lock: UInt8, CaseIterable, Sendable {
        case absent = 0
        case locked = 1
        case unlocked = 2
        case erased = 3
        case retryLocked = 4
        case damaged = 5
        /// The owner's uid and account name do not belong together any more.
        case ownerChanged = 6
        /// The organisation that the machine belongs to keeps it shut.
        case barred = 7
    }

    public enum Passcode: UInt8, CaseIterable, Sendable {
        case unknown = 0
        case none = 1
        case passcode = 2
        case passcodeAndFingerprint = 3
    }

    /// Who made the passcode up.
    public enum Source: UInt8, CaseIterable, Sendable {
        /// Nobody said, or there is none.
        case unknown = 0
        case user = 1
        /// A program, for itself.
        case device = 2
    }

    /// Why a flow is due.
    public enum PendingReason: UInt8, CaseIterable, Sendable {
        case none = 0
        case policy = 1
        case migration = 2
        case recovery = 3
        case expired = 4
    }

    /// Whether a passcode that follows the login password is one that the rules would take.
    public enum MeetsRules: UInt8, CaseIterable, Sendable {
        /// It was not seen since the daemon started.
        case unknown = 0
        case yes = 1
        case no = 2
    }

    public var lock = Lock.absent
    public var passcode = Passcode.unknown
    public var followsLogin = false
    public var hasRecoveryKey = false
    /// 16 bytes, zero where there is no store.
    public var store = [UInt8](repeating: 0, count: 16)
    public var name: [UInt8] = []
    public var owner = Subject()
    public var kind = StoreKind.own
    /// The name of the store that it follows; empty where it follows none, or that one is gone.
    public var parent: [UInt8] = []
    /// What the person may do with it.
    public var role = StoreRole.owner
    /// How many it is shared with, its owner among them; 0 where it is not shared.
    public var members: UInt16 = 0
    public var policyKey: [UInt8] = []
    /// -1 where there is no limit.
    public var ownTriesLeft: Int32 = -1
    public var apartTriesLeft: Int32 = -1
    /// Until the next try at this machine, and until the person's next one from elsewhere; 0: now.
    public var throttledSeconds: UInt32 = 0
    public var apartThrottledSeconds: UInt32 = 0
    public var records: UInt64 = 0
    /// Bytes that all stores of the owner take on the disk. Whoever it is shared with hears what this
    /// one takes.
    public var used: UInt64 = 0
    /// Bytes that they may take; 0: no limit, or not told.
    public var quota: UInt64 = 0
    /// Seconds since 1970; 0 where there is no passcode.
    public var passcodeSetAt: UInt64 = 0
    public var passcodeSource = Source.unknown
    /// Seconds since 1970; 0: never.
    public var expiresAt: UInt64 = 0
    /// Seconds; 0: never.
    public var idleTimeout: UInt32 = 0
    /// Seconds since 1970, until which the owner has suspended locking; 0: not suspended.
    public var heldUntil: UInt64 = 0
    /// It is locked, and a finger opens it now.
    public var fingerOpens = false
    /// Numbers of the flows that are due, in order.
    public var pending: [UInt8] = []
    public var pendingReason = PendingReason.none
    public var meetsRules = MeetsRules.unknown
    /// A recovery key has not been offered yet.
    public var recoveryOffer = false
    public var sessions: UInt32 = 0
    /// What is wrong, and what can be done; empty where nothing is.
    public var trouble: [UInt8] = []
    public var advice: [UInt8] = []

    public init(lock: Lock) {
        self.lock = lock
    }

    init() {}

    mutating func fields<C: Coder & ~Copyable>(_ coder: inout C) {
        coder.value(&lock)
        coder.value(&passcode)
        coder.flag(&followsLogin)
        coder.flag(&hasRecoveryKey)
        coder.fixed(&store, 16)
        coder.text(&name, limit: Limits.name)
        coder.part(&owner)
        coder.value(&kind)
        coder.text(&parent, limit: Limits.name)
        coder.value(&role)
        coder.u16(&members)
        coder.text(&policyKey, limit: Limits.policyKey)
        coder.i32(&ownTriesLeft)
        coder.i32(&apartTriesLeft)
        coder.u32(&throttledSeconds)
        coder.u32(&apartThrottledSeconds)
        coder.u64(&records)
        coder.u64(&used)
        coder.u64(&quota)
        coder.u64(&passcodeSetAt)
        coder.value(&passcodeSource)
        coder.u64(&expiresAt)
        coder.u32(&idleTimeout)
        coder.u64(&heldUntil)
        coder.flag(&fingerOpens)
        coder.bytes(&pending, limit: Limits.flows)
        coder.value(&pendingReason)
        coder.value(&meetsRules)
        coder.flag(&recoveryOffer)
        coder.u32(&sessions)
        coder.text(&trouble, limit: Limits.line)
        coder.text(&advice, limit: Limits.line)
    }
}
