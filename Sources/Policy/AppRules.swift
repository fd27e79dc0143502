/// What a person has to show before an application starts. The later one demands more.
public enum Requirement: String, CaseIterable, Sendable, Comparable {
    /// Its store is open. If it is locked, the person opens it.
    case open
    /// A finger, even if the store is open. The passcode does, too.
    case finger
    /// The passcode, even if the store is open.
    case passcode

    public static func < (left: Requirement, right: Requirement) -> Bool {
        switch (left, right) {
        case (.open, .finger), (.open, .passcode), (.finger, .passcode): true
        case (.open, .open), (.finger, .open), (.finger, .finger), (.passcode, _): false
        }
    }
}

/// What becomes of a running application when its store is locked.
public enum OnLock: String, CaseIterable, Sendable {
    case freeze
    case quit
    case stay
}

/// The `[App ID]` sections for one application and one person, laid over each other.
public struct AppRules: Hashable, Sendable {
    public var require = Requirement.open
    public var onLock = OnLock.freeze
    /// An administrator has written what OnLock is, so the person does not choose it.
    public var isOnLockWritten = false
    /// `never`: it is locked only when its store is.
    public var lockOnBackground = LockOnBackground.never
    /// Seconds; 0 is never.
    public var lockTimeout: UInt32 = 0
    /// Empty: the store that the person names, or `default`.
    public var store = StoreName(bytes: [])

    public init() {}

    func goes(with name: [UInt8]) -> Bool {
        (store.bytes.isEmpty ? StoreName.usual : store.bytes)
            == (name.isEmpty ? StoreName.usual : name)
    }
}

/// The name of a store in a policy.
public struct StoreName: Hashable, Sendable {
    public let bytes: [UInt8]

    static let longest = 255
    /// Of the store that is meant where none is named.
    static let usual = Array("default".utf8)
}

/// Which application a section is for, and for whom.
struct AppScope: Hashable, Sendable {
    enum Whom: Hashable, Sendable {
        case everybody
        case group([UInt8])
        case user([UInt8])
    }

    let app: [UInt8]
    let whom: Whom

    static let longestID = 128

    /// The ids of desktop entries, without `.desktop`: `org.gnome.Evolution`.
    static func isID(_ bytes: some Collection<UInt8>) -> Bool {
        guard 1...longestID ~= bytes.count, let first = bytes.first, isLetterOrDigit(first) else {
            return false
        }
        return bytes.allSatisfy { byte in
            isLetterOrDigit(byte) || [0x2D, 0x2E, 0x5F].contains(byte)
        }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }
}

extension AppRules {
    /// Whether this can be the id of an application.
    public static func isID(_ bytes: [UInt8]) -> Bool { AppScope.isID(bytes) }
}
