internal import Wire

/// How a store is.
public struct StoreState: Sendable {
    /// Whether it is open, and why not.
    public enum Lock: Sendable {
        /// There is no such store.
        case absent
        /// It is locked.
        case locked
        /// It is open.
        case unlocked
        /// It was erased after too many wrong tries.
        case erased
        /// Its recovery key alone opens it, or root lets the person try again.
        case retryLocked
        /// A part of it is damaged.
        case damaged
        /// The account that it belongs to has changed.
        case ownerChanged
        /// The organisation that the machine belongs to keeps it shut.
        case barred
    }

    /// What opens it by itself.
    public enum Passcode: Sendable {
        /// Another store opens it, or there is no store.
        case unknown
        /// Nothing has to be shown.
        case none
        /// A passcode.
        case passcode
        /// A passcode, or a finger.
        case passcodeAndFingerprint
    }

    /// Where its key comes from.
    public enum Kind: Sendable {
        /// A passcode of its own, or nothing.
        case own
        /// Another store of the same person.
        case follows
        /// Each of its members.
        case shared
        /// Nothing has to be shown: its members read it, and its owner writes it.
        case configuration
    }

    /// Who made its passcode up.
    public enum PasscodeSource: Sendable {
        /// Nobody said, or there is none.
        case unknown
        /// A person, who typed it.
        case user
        /// A program, for itself.
        case device
    }

    /// Whether it is open, and why not.
    public var lock: Lock
    /// What opens it by itself.
    public var passcode: Passcode
    /// Who made its passcode up.
    public var passcodeSource: PasscodeSource
    /// Where its key comes from.
    public var kind: Kind
    /// Whether its passcode is the login password.
    public var followsLogin: Bool
    /// Whether a recovery key opens it.
    public var hasRecoveryKey: Bool
    /// Its UUID; nil where there is no store.
    public var id: StoreID?
    /// The store that it follows.
    public var parent: StoreName?
    /// The section `[Passcode store:KEY]` of the policy that it is under.
    public var policyKey: String
    /// Wrong tries until it is erased or locked for good; nil where there is no limit, or where it
    /// is not told.
    public var triesLeft: Int?
    /// Until the next try from this program, in seconds; 0: now.
    public var throttledSeconds: Int
    /// How many records it has; 0 while it is locked.
    public var records: Int
    /// Whether a finger would open it now.
    public var fingerOpens: Bool
    /// Until when its owner has suspended locking, in seconds since 1970; nil: not suspended.
    public var heldUntil: Int?
    /// When its passcode expires, in seconds since 1970; nil: never.
    public var expiresAt: Int?
    /// Whether a change has to be made when it is opened next.
    public var isChangeDue: Bool
    /// What is wrong, for people; empty where nothing is.
    public var trouble: String
    /// What can be done about that.
    public var advice: String

    /// Whether there is a store.
    public var exists: Bool {
        switch lock {
        case .absent, .erased: false
        case .locked, .unlocked, .retryLocked, .damaged, .ownerChanged, .barred: true
        }
    }
}

/// The UUID of a store.
public struct StoreID: Hashable, Sendable, CustomStringConvertible {
    /// Its 16 bytes.
    public let bytes: [UInt8]

    /// The UUID of these bytes; nil if they are not 16, or all zero.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 16, bytes.contains(where: { $0 != 0 }) else { return nil }
        self.bytes = bytes
    }

    /// The UUID that is written so: 32 hexadecimal digits, with hyphens or without.
    public init?(_ text: String) {
        let digits = text.utf8.filter { $0 != UInt8(ascii: "-") }
        guard digits.count == 32 else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: 32, by: 2) {
            let pair = String(decoding: digits[index...index + 1], as: UTF8.self)
            guard let byte = UInt8(pair, radix: 16), !pair.hasPrefix("+") else { return nil }
            bytes.append(byte)
        }
        self.init(bytes: bytes)
    }

    /// The UUID with its hyphens, in small letters.
    public var description: String {
        var text = ""
        for (index, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(index) { text += "-" }
            text += (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return text
    }
}

extension StoreState {
    init(_ state: State) {
        lock = Lock(state.lock)
        passcode = Passcode(state.passcode)
        passcodeSource = PasscodeSource(state.passcodeSource)
        kind = Kind(state.kind)
        followsLogin = state.followsLogin
        hasRecoveryKey = state.hasRecoveryKey
        id = StoreID(bytes: state.store)
        parent =
            state.parent.isEmpty ? nil : StoreName(String(decoding: state.parent, as: UTF8.self))
        policyKey = String(decoding: state.policyKey, as: UTF8.self)
        triesLeft = state.apartTriesLeft < 0 ? nil : Int(state.apartTriesLeft)
        throttledSeconds = Int(state.apartThrottledSeconds)
        records = Int(clamping: state.records)
        fingerOpens = state.fingerOpens
        heldUntil = state.heldUntil == 0 ? nil : Int(clamping: state.heldUntil)
        expiresAt = state.expiresAt == 0 ? nil : Int(clamping: state.expiresAt)
        isChangeDue = !state.pending.isEmpty
        trouble = String(decoding: state.trouble, as: UTF8.self)
        advice = String(decoding: state.advice, as: UTF8.self)
    }
}

extension StoreState.Lock {
    init(_ lock: State.Lock) {
        self =
            switch lock {
            case .absent: .absent
            case .locked: .locked
            case .unlocked: .unlocked
            case .erased: .erased
            case .retryLocked: .retryLocked
            case .damaged: .damaged
            case .ownerChanged: .ownerChanged
            case .barred: .barred
            }
    }
}

extension StoreState.Passcode {
    init(_ passcode: State.Passcode) {
        self =
            switch passcode {
            case .unknown: .unknown
            case .none: .none
            case .passcode: .passcode
            case .passcodeAndFingerprint: .passcodeAndFingerprint
            }
    }
}

extension StoreState.PasscodeSource {
    init(_ source: State.Source) {
        self =
            switch source {
            case .unknown: .unknown
            case .user: .user
            case .device: .device
            }
    }
}

extension StoreState.Kind {
    init(_ kind: StoreKind) {
        self =
            switch kind {
            case .own: .own
            case .follows: .follows
            case .shared: .shared
            case .configuration: .configuration
            }
    }
}
