/// Whose store, and which: an empty store name is `default`.
public struct Target: Body, Equatable {
    public var subject: Subject
    public var store: [UInt8]

    public init(subject: Subject = Subject(), store: [UInt8] = []) {
        self.subject = subject
        self.store = store
    }

    public init(_ reader: inout Reader, _ body: Span<UInt8>) throws(WireError) {
        subject = try Subject(&reader, body)
        store = try reader.text(body, limit: Limits.name)
    }

    public func write<S: Sink & ~Copyable>(to sink: inout S) {
        subject.write(to: &sink)
        sink.put(text: store)
    }
}

public struct Create: Body, Equatable {
    public enum Way: UInt8, CaseIterable, Sendable {
        /// (a) the passcode follows the login password
        case followLogin = 1
        /// (b) a passcode of its own
        case ownPasscode = 2
        case noPasscode = 3
    }

    public var target: Target
    public var way: Way
    /// A store that exists is opened instead of refused.
    public var openExisting: Bool

    public init(target: Target, way: Way, openExisting: Bool) {
        self.target = target
        self.way = way
        self.openExisting = openExisting
    }

    public init(_ reader: inout Reader, _ body: Span<UInt8>) throws(WireError) {
        target = try Target(&reader, body)
        guard let way = Way(rawValue: try reader.u8(body)) else { throw .unknownValue }
        self.way = way
        openExisting = try reader.flag(body)
    }

    public func write<S: Sink & ~Copyable>(to sink: inout S) {
        target.write(to: &sink)
        sink.put(way.rawValue)
        sink.put(flag: openExisting)
    }
}

/// `passwd`: what happens to the passcode.
public struct Passcode: Body, Equatable {
    public enum Change: UInt8, CaseIterable, Sendable {
        case change = 1
        case turnOff = 2
        case turnOn = 3
    }

    public var target: Target
    public var change: Change

    public init(target: Target, change: Change) {
        self.target = target
        self.change = change
    }

    public init(_ reader: inout Reader, _ body: Span<UInt8>) throws(WireError) {
        target = try Target(&reader, body)
        guard let change = Change(rawValue: try reader.u8(body)) else { throw .unknownValue }
        self.change = change
    }

    public func write<S: Sink & ~Copyable>(to sink: inout S) {
        target.write(to: &sink)
        sink.put(change.rawValue)
    }
}

/// Root gives a store whose owner changed to the account that owns it now.
public struct Chown: Body, Equatable {
    public var store: [UInt8]
    public var owner: Subject

    /// `store` is the UUID's 16 bytes.
    public init(store: [UInt8], owner: Subject) {
        self.store = store
        self.owner = owner
    }

    public init(_ reader: inout Reader, _ body: Span<UInt8>) throws(WireError) {
        store = try reader.fixed(16, body)
        owner = try Subject(&reader, body)
    }

    public func write<S: Sink & ~Copyable>(to sink: inout S) {
        sink.put(fixed: store)
        owner.write(to: &sink)
    }
}

/// What `status` shows. Only the owner and root hear it.
public struct State: Body, Equatable {
    public enum Lock: UInt8, CaseIterable, Sendable {
        case absent = 0
        case locked = 1
        case unlocked = 2
        case erased = 3
        case retryLocked = 4
        case damaged = 5
        /// The owner's uid and account name do not belong together any more.
        case ownerChanged = 6
    }

    public enum Passcode: UInt8, CaseIterable, Sendable {
        case unknown = 0
        case none = 1
        case passcode = 2
        case passcodeAndFingerprint = 3
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

    public var lock: Lock
    public var passcode: Passcode
    public var followsLogin: Bool
    public var hasRecoveryKey: Bool
    /// 16 bytes, zero where there is no store.
    public var store: [UInt8]
    public var name: [UInt8]
    public var owner: Subject
    /// -1 where there is no limit.
    public var ownTriesLeft: Int32
    public var apartTriesLeft: Int32
    public var throttledSeconds: UInt32
    public var records: UInt64
    /// Bytes that all stores of the owner take on the disk.
    public var used: UInt64
    /// Bytes that they may take; 0: no limit.
    public var quota: UInt64
    /// Seconds since 1970; 0 where there is no passcode.
    public var passcodeSetAt: UInt64
    /// Seconds since 1970; 0: never.
    public var expiresAt: UInt64
    /// Seconds; 0: never.
    public var idleTimeout: UInt32
    /// Numbers of the flows that are due, in order.
    public var pending: [UInt8]
    public var pendingReason: PendingReason
    public var meetsRules: MeetsRules
    /// A recovery key has not been offered yet.
    public var recoveryOffer: Bool
    public var sessions: UInt32
    /// What is wrong, and what can be done; empty where nothing is.
    public var trouble: [UInt8]
    public var advice: [UInt8]

    public init(lock: Lock) {
        self.lock = lock
        passcode = .unknown
        followsLogin = false
        hasRecoveryKey = false
        store = [UInt8](repeating: 0, count: 16)
        name = []
        owner = Subject()
        ownTriesLeft = -1
        apartTriesLeft = -1
        throttledSeconds = 0
        records = 0
        used = 0
        quota = 0
        passcodeSetAt = 0
        expiresAt = 0
        idleTimeout = 0
        pending = []
        pendingReason = .none
        meetsRules = .unknown
        recoveryOffer = false
        sessions = 0
        trouble = []
        advice = []
    }

    public init(_ reader: inout Reader, _ body: Span<UInt8>) throws(WireError) {
        guard let lock = Lock(rawValue: try reader.u8(body)),
            let passcode = Passcode(rawValue: try reader.u8(body))
        else { throw .unknownValue }
        self.lock = lock
        self.passcode = passcode
        followsLogin = try reader.flag(body)
        hasRecoveryKey = try reader.flag(body)
        store = try reader.fixed(16, body)
        name = try reader.text(body, limit: Limits.name)
        owner = try Subject(&reader, body)
        ownTriesLeft = Int32(bitPattern: try reader.u32(body))
        apartTriesLeft = Int32(bitPattern: try reader.u32(body))
        throttledSeconds = try reader.u32(body)
        records = try reader.u64(body)
        used = try reader.u64(body)
        quota = try reader.u64(body)
        passcodeSetAt = try reader.u64(body)
        expiresAt = try reader.u64(body)
        idleTimeout = try reader.u32(body)
        pending = try reader.bytes(body, limit: Limits.flows)
        guard let reason = PendingReason(rawValue: try reader.u8(body)),
            let meets = MeetsRules(rawValue: try reader.u8(body))
        else { throw .unknownValue }
        pendingReason = reason
        meetsRules = meets
        recoveryOffer = try reader.flag(body)
        sessions = try reader.u32(body)
        trouble = try reader.text(body, limit: Limits.line)
        advice = try reader.text(body, limit: Limits.line)
    }

    public func write<S: Sink & ~Copyable>(to sink: inout S) {
        sink.put(lock.rawValue)
        sink.put(passcode.rawValue)
        sink.put(flag: followsLogin)
        sink.put(flag: hasRecoveryKey)
        sink.put(fixed: store)
        sink.put(text: name)
        owner.write(to: &sink)
        sink.put32(UInt32(bitPattern: ownTriesLeft))
        sink.put32(UInt32(bitPattern: apartTriesLeft))
        sink.put32(throttledSeconds)
        sink.put64(records)
        sink.put64(used)
        sink.put64(quota)
        sink.put64(passcodeSetAt)
        sink.put64(expiresAt)
        sink.put32(idleTimeout)
        sink.put(text: pending)
        sink.put(pendingReason.rawValue)
        sink.put(meetsRules.rawValue)
        sink.put(flag: recoveryOffer)
        sink.put32(sessions)
        sink.put(text: trouble)
        sink.put(text: advice)
    }
}
