public import Wire

/// What the program says to its caller.
public enum ExitStatus: Int32, Equatable, Sendable {
    case success = 0
    case refused = 1
    case usage = 2
    case missing = 3
    case locked = 4
    case unavailable = 5
    case damaged = 6
    case cancelled = 130
}

extension Code {
    /// The one place where a refusal becomes an exit status.
    public var exitStatus: ExitStatus {
        switch self {
        case .invalidArgument: .usage
        case .doesNotExist, .deleted: .missing
        case .locked: .locked
        case .serviceUnavailable, .outOfMemory, .busy, .protocolError, .storageFailed: .unavailable
        case .storeDamaged: .damaged
        case .cancelled: .cancelled
        case .unknown, .alreadyExists, .dataType, .invalidPasscode, .passcodeRequired,
            .underMinLength, .passcodeExpired, .requiresDigit, .requiresLower, .requiresSpecial,
            .requiresUpper, .underMinUniqueCharacters, .requiresGroups, .digitsOnly, .sequence,
            .dictionary, .reused, .ruleFailed, .fingerprintUnavailable, .fingerprintNoMatch,
            .changeRequired, .retryLimitReached, .throttled, .policyDenies, .invalidAction,
            .notPermitted, .tooLarge,
            .noMatch,
            .sameAsCurrent, .resetRequested, .skipped, .recoveryKeyInvalid, .policyBroken:
            .refused
        }
    }
}
