/// Every refusal has a number that is never given a second meaning. PROTOCOL.md holds the same
/// table, and a test compares the two.
public enum Code: UInt16, CaseIterable, Sendable {
    case unknown = 0
    case alreadyExists = 1
    case dataType = 2
    case doesNotExist = 3
    case invalidArgument = 4
    case invalidPasscode = 5
    case locked = 6
    case outOfMemory = 7
    case passcodeExpired = 8
    case passcodeRequired = 9
    case requiresDigit = 10
    case requiresLower = 11
    case requiresSpecial = 12
    case requiresUpper = 13
    case underMinLength = 14
    case underMinUniqueCharacters = 15
    case deleted = 16
    case requiresGroups = 17
    case digitsOnly = 18
    case sequence = 19
    case dictionary = 20
    case reused = 21
    case ruleFailed = 22
    case retryLimitReached = 23
    case throttled = 24
    case policyDenies = 25
    case invalidAction = 26
    case cancelled = 27
    case fingerprintUnavailable = 28
    case fingerprintNoMatch = 29
    case notPermitted = 30
    case serviceUnavailable = 31
    case storeDamaged = 32
    case tooLarge = 33
    case protocolError = 34
    case busy = 35
    case changeRequired = 36
    case noMatch = 37
    case sameAsCurrent = 38
    case resetRequested = 39
    case skipped = 40
    case recoveryKeyInvalid = 41
    case policyBroken = 42
    case storageFailed = 43
    case addUser = 44
    case switchUser = 45
    case lockedByAdministrator = 46
    case wipedByAdministrator = 47
    case bundleBroken = 49
    case bundleUntrusted = 50
    case bundleOlder = 51
    case bundleExpired = 52
    case fetchFailed = 53
}

/// What a PAM entry point returns, decided by the daemon; the module only translates it to libpam's
/// number.
public enum Outcome: UInt8, CaseIterable, Sendable {
    case success = 0
    case authError = 1
    case maxTries = 2
    case userUnknown = 3
    case permissionDenied = 4
    case unavailable = 5
    case ignore = 6
}

extension Code {
    /// The one place where a refusal becomes a PAM outcome. Nothing here is success.
    public var outcome: Outcome {
        switch self {
        // Expired and due to change: whether the login goes on without the store is the flow's to
        // say; nobody who only reads the code is let in.
        case .invalidPasscode, .throttled, .cancelled, .passcodeExpired, .changeRequired,
            .fingerprintNoMatch:
            .authError
        case .retryLimitReached: .maxTries
        case .doesNotExist, .deleted, .wipedByAdministrator: .userUnknown
        case .policyDenies, .notPermitted: .permissionDenied
        case .unknown, .alreadyExists, .dataType, .invalidArgument, .locked, .outOfMemory,
            .passcodeRequired, .requiresDigit, .requiresLower, .requiresSpecial, .requiresUpper,
            .underMinLength, .underMinUniqueCharacters, .requiresGroups, .digitsOnly, .sequence,
            .dictionary, .reused, .ruleFailed, .invalidAction, .fingerprintUnavailable,
            .serviceUnavailable, .storeDamaged, .tooLarge, .protocolError, .busy, .noMatch,
            .sameAsCurrent, .resetRequested, .skipped, .recoveryKeyInvalid, .policyBroken,
            .storageFailed, .addUser, .switchUser, .lockedByAdministrator, .bundleBroken,
            .bundleUntrusted, .bundleOlder,
            .bundleExpired, .fetchFailed:
            .unavailable
        }
    }
}
