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
            .underMinLength,
            .retryLimitReached, .throttled, .policyDenies, .invalidAction, .notPermitted, .tooLarge,
            .noMatch,
            .sameAsCurrent, .resetRequested, .skipped, .recoveryKeyInvalid, .policyBroken:
            .refused
        }
    }

    /// The name that programs see.
    public var name: String {
        switch self {
        case .unknown: "Unknown"
        case .alreadyExists: "AlreadyExists"
        case .dataType: "DataType"
        case .doesNotExist: "DoesNotExist"
        case .invalidArgument: "InvalidArgument"
        case .invalidPasscode: "InvalidPasscode"
        case .locked: "Locked"
        case .outOfMemory: "OutOfMemory"
        case .passcodeRequired: "PasscodeRequired"
        case .underMinLength: "UnderMinLength"
        case .deleted: "Deleted"
        case .retryLimitReached: "RetryLimitReached"
        case .throttled: "Throttled"
        case .policyDenies: "PolicyDenies"
        case .invalidAction: "InvalidAction"
        case .cancelled: "Cancelled"
        case .notPermitted: "NotPermitted"
        case .serviceUnavailable: "ServiceUnavailable"
        case .storeDamaged: "StoreDamaged"
        case .tooLarge: "TooLarge"
        case .protocolError: "ProtocolError"
        case .busy: "Busy"
        case .noMatch: "NoMatch"
        case .sameAsCurrent: "SameAsCurrent"
        case .resetRequested: "ResetRequested"
        case .skipped: "Skipped"
        case .recoveryKeyInvalid: "RecoveryKeyInvalid"
        case .policyBroken: "PolicyBroken"
        case .storageFailed: "StorageFailed"
        }
    }

    /// For a refusal that came without words.
    var words: String {
        switch self {
        case .unknown: "something failed that has no name; the journal of appvaultd says more"
        case .alreadyExists: "it exists already"
        case .dataType: "the data is of another type"
        case .doesNotExist: "it does not exist"
        case .invalidArgument: "the argument is not valid"
        case .invalidPasscode: "that is not the passcode"
        case .locked: "the store is locked"
        case .outOfMemory: "there is not enough memory for it now"
        case .passcodeRequired: "a passcode is needed"
        case .underMinLength: "the passcode is too short"
        case .deleted: "the store was erased"
        case .retryLimitReached: "too many wrong tries"
        case .throttled: "too many wrong tries; wait"
        case .policyDenies: "the policy of this machine does not allow it"
        case .invalidAction: "that cannot be done in this state"
        case .cancelled: "cancelled; nothing changed"
        case .notPermitted: "not permitted"
        case .serviceUnavailable: "appvaultd is not available"
        case .storeDamaged: "the store is damaged"
        case .tooLarge: "it is too large"
        case .protocolError: "appvaultd did not understand"
        case .busy: "appvaultd is busy"
        case .noMatch: "the two do not match"
        case .sameAsCurrent: "the new passcode is the current one"
        case .resetRequested: "a reset was asked for"
        case .skipped: "skipped"
        case .recoveryKeyInvalid: "that is not the recovery key"
        case .policyBroken: "the policy file is broken"
        case .storageFailed: "the disk failed"
        }
    }

    /// For a refusal that came without advice.
    var advice: String {
        switch self {
        case .alreadyExists, .dataType, .doesNotExist, .invalidArgument, .unknown, .outOfMemory,
            .underMinLength,
            .policyDenies, .invalidAction, .cancelled, .noMatch, .sameAsCurrent, .resetRequested,
            .skipped,
            .policyBroken, .protocolError:
            ""
        case .invalidPasscode: "`appvault status` shows how many tries are left"
        case .locked: "`appvault unlock` opens it"
        case .passcodeRequired: "run it on a terminal, or give passcodes with --passcode-fd"
        case .deleted: "`appvault create` makes a new one"
        case .retryLimitReached: "`appvault recover` opens it with the recovery key"
        case .throttled: "`appvault status` shows for how long"
        case .notPermitted: "only the owner and root may do that"
        case .serviceUnavailable: "`systemctl status appvaultd.socket` says why"
        case .storeDamaged: "`appvault status` says what can be done"
        case .tooLarge: "a value has at most 1 MiB"
        case .busy: "try again in a moment"
        case .recoveryKeyInvalid: "it was shown once, in groups, when it was made"
        case .storageFailed: "is the disk full? the journal of appvaultd says more"
        }
    }
}

extension Refused {
    /// A number that a newer daemon knows and we do not is a plain refusal.
    var known: Code { Code(rawValue: code) ?? .unknown }

    var exitStatus: ExitStatus { known.exitStatus }

    /// With words and advice of our own where the daemon gave none.
    var complete: Refused {
        var refused = self
        if refused.message.isEmpty { refused.message = Array(known.words.utf8) }
        if refused.hint.isEmpty { refused.hint = Array(known.advice.utf8) }
        return refused
    }
}
