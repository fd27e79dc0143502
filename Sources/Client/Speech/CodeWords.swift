import ToolTexts
public import Wire

extension Code {
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
        case .passcodeExpired: "PasscodeExpired"
        case .passcodeRequired: "PasscodeRequired"
        case .requiresDigit: "RequiresDigit"
        case .requiresLower: "RequiresLower"
        case .requiresSpecial: "RequiresSpecial"
        case .requiresUpper: "RequiresUpper"
        case .underMinLength: "UnderMinLength"
        case .underMinUniqueCharacters: "UnderMinUniqueCharacters"
        case .deleted: "Deleted"
        case .requiresGroups: "RequiresGroups"
        case .digitsOnly: "DigitsOnly"
        case .sequence: "Sequence"
        case .dictionary: "Dictionary"
        case .reused: "Reused"
        case .ruleFailed: "RuleFailed"
        case .retryLimitReached: "RetryLimitReached"
        case .throttled: "Throttled"
        case .policyDenies: "PolicyDenies"
        case .invalidAction: "InvalidAction"
        case .cancelled: "Cancelled"
        case .fingerprintUnavailable: "FingerprintUnavailable"
        case .fingerprintNoMatch: "FingerprintNoMatch"
        case .notPermitted: "NotPermitted"
        case .serviceUnavailable: "ServiceUnavailable"
        case .storeDamaged: "StoreDamaged"
        case .tooLarge: "TooLarge"
        case .protocolError: "ProtocolError"
        case .busy: "Busy"
        case .changeRequired: "ChangeRequired"
        case .noMatch: "NoMatch"
        case .sameAsCurrent: "SameAsCurrent"
        case .resetRequested: "ResetRequested"
        case .skipped: "Skipped"
        case .recoveryKeyInvalid: "RecoveryKeyInvalid"
        case .policyBroken: "PolicyBroken"
        case .storageFailed: "StorageFailed"
        case .addUser: "AddUser"
        case .switchUser: "SwitchUser"
        case .lockedByAdministrator: "LockedByAdministrator"
        case .wipedByAdministrator: "WipedByAdministrator"
        case .bundleBroken: "BundleBroken"
        case .bundleUntrusted: "BundleUntrusted"
        case .bundleOlder: "BundleOlder"
        case .bundleExpired: "BundleExpired"
        case .fetchFailed: "FetchFailed"
        }
    }

    /// The text for a refusal that came without one.
    package var words: String {
        switch self {
        case .unknown: "something failed that has no name; the journal of appvaultd says more"
        case .alreadyExists: "it exists already"
        case .dataType: "the data is of another type"
        case .doesNotExist: "it does not exist"
        case .invalidArgument: "the argument is not valid"
        case .invalidPasscode: "that is not the passcode"
        case .locked: "the store is locked"
        case .outOfMemory: "there is not enough memory for it now"
        case .passcodeExpired: "the passcode has expired"
        case .passcodeRequired: "a passcode is needed"
        case .requiresDigit: "the passcode needs a digit"
        case .requiresLower: "the passcode needs a small letter"
        case .requiresSpecial: "the passcode needs a special character"
        case .requiresUpper: "the passcode needs a capital letter"
        case .underMinLength: "the passcode is too short"
        case .underMinUniqueCharacters: "the passcode has too few different characters"
        case .deleted: "the store was erased"
        case .requiresGroups: "the passcode needs more kinds of characters"
        case .digitsOnly: "the passcode may have digits only"
        case .sequence: "the passcode is a sequence of digits"
        case .dictionary: "the passcode is based on a word"
        case .reused: "the passcode was used before"
        case .ruleFailed: "the passcode breaks a rule of this machine"
        case .retryLimitReached: "too many wrong tries"
        case .throttled: "too many wrong tries; wait"
        case .policyDenies: "the policy of this machine does not allow it"
        case .invalidAction: "that cannot be done in this state"
        case .cancelled: "cancelled; nothing changed"
        case .fingerprintUnavailable: "no fingerprint can be read"
        case .fingerprintNoMatch: "that finger was not recognised"
        case .notPermitted: "not permitted"
        case .serviceUnavailable: "appvaultd is not available"
        case .storeDamaged: "the store is damaged"
        case .tooLarge: "it is too large"
        case .protocolError: "appvaultd did not understand"
        case .busy: "appvaultd is busy"
        case .changeRequired: "the passcode has to be changed first"
        case .noMatch: "the two do not match"
        case .sameAsCurrent: "the new passcode is the current one"
        case .resetRequested: "the passcode is forgotten"
        case .skipped: "skipped"
        case .recoveryKeyInvalid: "that is not the recovery key"
        case .policyBroken: "the policy file is broken"
        case .storageFailed: "the disk failed"
        case .addUser: "somebody is to be added"
        case .switchUser: "another one is to be opened"
        case .lockedByAdministrator: "the organisation of this machine has locked the store"
        case .wipedByAdministrator: "the organisation of this machine has wiped the store"
        case .bundleBroken: "the bundle is broken"
        case .bundleUntrusted: "the bundle is not signed by those who have to"
        case .bundleOlder: "a newer bundle was taken already"
        case .bundleExpired: "the bundle has expired"
        case .fetchFailed: "nothing could be fetched"
        }
    }

    /// The advice for a refusal that came without any.
    var advice: ToolText? {
        switch self {
        case .alreadyExists, .dataType, .doesNotExist, .invalidArgument, .unknown, .outOfMemory,
            .underMinLength, .requiresDigit, .requiresLower, .requiresSpecial, .requiresUpper,
            .underMinUniqueCharacters, .requiresGroups, .digitsOnly, .sequence, .dictionary,
            .reused, .ruleFailed, .policyDenies, .invalidAction, .cancelled, .noMatch,
            .sameAsCurrent, .resetRequested, .skipped, .policyBroken, .protocolError,
            .addUser, .switchUser, .lockedByAdministrator, .bundleBroken, .bundleUntrusted,
            .bundleOlder, .bundleExpired,
            .fetchFailed:
            nil
        case .invalidPasscode: .adviceInvalidPasscode
        case .locked: .adviceLocked
        case .passcodeRequired: .advicePasscodeRequired
        case .deleted, .wipedByAdministrator: .adviceDeleted
        case .retryLimitReached: .adviceRetryLimitReached
        case .throttled: .adviceThrottled
        case .notPermitted: .adviceNotPermitted
        case .serviceUnavailable: .adviceServiceUnavailable
        case .storeDamaged: .adviceStoreDamaged
        case .tooLarge: .adviceTooLarge
        case .busy: .adviceBusy
        case .recoveryKeyInvalid: .adviceRecoveryKeyInvalid
        case .passcodeExpired: .advicePasscodeExpired
        case .fingerprintUnavailable, .fingerprintNoMatch: .adviceFingerprint
        case .changeRequired: .adviceChangeRequired
        case .storageFailed: .adviceStorageFailed
        }
    }
}
