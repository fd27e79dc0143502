public import Wire

/// What the program says to its caller.
public struct ExitStatus: RawRepresentable, Equatable, Sendable {
    public let rawValue: Int32

    /// For `screen`: the status of a command that it ran.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    public static let success = ExitStatus(rawValue: 0)
    public static let refused = ExitStatus(rawValue: 1)
    public static let usage = ExitStatus(rawValue: 2)
    public static let missing = ExitStatus(rawValue: 3)
    public static let locked = ExitStatus(rawValue: 4)
    public static let unavailable = ExitStatus(rawValue: 5)
    public static let damaged = ExitStatus(rawValue: 6)
    public static let notExecutable = ExitStatus(rawValue: 126)
    public static let notFound = ExitStatus(rawValue: 127)
    public static let cancelled = ExitStatus(rawValue: 130)
}

extension Code {
    /// The one place where a refusal becomes an exit status.
    public var exitStatus: ExitStatus {
        switch self {
        case .invalidArgument: .usage
        case .doesNotExist, .deleted, .wipedByAdministrator: .missing
        case .locked, .lockedByAdministrator: .locked
        case .serviceUnavailable, .outOfMemory, .busy, .protocolError, .storageFailed, .fetchFailed:
            .unavailable
        case .storeDamaged: .damaged
        case .cancelled: .cancelled
        case .unknown, .alreadyExists, .dataType, .invalidPasscode, .passcodeRequired,
            .underMinLength, .passcodeExpired, .requiresDigit, .requiresLower, .requiresSpecial,
            .requiresUpper, .underMinUniqueCharacters, .requiresGroups, .digitsOnly, .sequence,
            .dictionary, .reused, .ruleFailed, .fingerprintUnavailable, .fingerprintNoMatch,
            .changeRequired, .retryLimitReached, .throttled, .policyDenies, .invalidAction,
            .notPermitted, .tooLarge,
            .noMatch,
            .sameAsCurrent, .resetRequested, .skipped, .addUser, .switchUser, .recoveryKeyInvalid,
            .policyBroken,
            .bundleBroken, .bundleUntrusted, .bundleOlder, .bundleExpired:
            .refused
        }
    }
}
