// What a refusal is about, for code that treats several refusals alike.

/// A refusal that comes from the count of tries: after a try, or instead of one.
package enum TryRefusal: Equatable, Sendable {
    case wrong(left: Int?)
    case limitReached(Refusal.Limit)
    case throttled(seconds: Int)

    /// Nil where it is about something else.
    package init?(_ refusal: Refusal) {
        switch refusal {
        case .invalidPasscode(let left, _): self = .wrong(left: left)
        case .retryLimitReached(let limit): self = .limitReached(limit)
        case .throttled(let seconds): self = .throttled(seconds: seconds)
        case .unknown, .alreadyExists, .dataType, .doesNotExist, .invalidArgument, .locked,
            .outOfMemory, .passcodeExpired, .passcodeRequired, .passcodeChanged, .rule, .deleted,
            .policyDenies, .invalidAction, .cancelled, .cancelledOpening, .fingerprintUnavailable,
            .fingerprintNoMatch, .notPermitted, .serviceUnavailable, .storeDamaged, .tooLarge,
            .quotaReached, .protocolError, .busy, .tooManyWatch, .changeRequired, .noMatch,
            .exportPassphrase, .resetRequested, .skipped, .addUser, .switchUser,
            .recoveryKeyInvalid, .policyBroken,
            .storageFailed, .bundle, .fetchFailed, .invitation, .barred, .wiped:
            return nil
        }
    }
}

extension Refusal {
    /// It is about what the person typed, not about a failure here.
    package var isAboutTheAnswer: Bool {
        switch self {
        case .cancelled, .noMatch, .exportPassphrase, .rule, .tooLarge, .invalidArgument: true
        case .unknown, .alreadyExists, .dataType, .doesNotExist, .invalidPasscode, .locked,
            .outOfMemory, .passcodeExpired, .passcodeRequired, .passcodeChanged, .deleted,
            .retryLimitReached, .throttled, .policyDenies, .invalidAction, .cancelledOpening,
            .fingerprintUnavailable, .fingerprintNoMatch, .notPermitted, .serviceUnavailable,
            .storeDamaged, .quotaReached, .protocolError, .busy, .tooManyWatch, .changeRequired,
            .resetRequested, .skipped, .addUser, .switchUser, .recoveryKeyInvalid, .policyBroken,
            .storageFailed,
            .bundle, .fetchFailed, .invitation, .barred, .wiped:
            false
        }
    }

    /// The store cannot be used, and its person should learn why at the login.
    package var isOutOfUse: Bool {
        switch self {
        case .storeDamaged, .barred, .wiped: true
        case .unknown, .alreadyExists, .dataType, .doesNotExist, .invalidArgument,
            .invalidPasscode, .locked, .outOfMemory, .passcodeExpired, .passcodeRequired,
            .passcodeChanged, .rule, .deleted, .retryLimitReached, .throttled, .policyDenies,
            .invalidAction, .cancelled, .cancelledOpening, .fingerprintUnavailable,
            .fingerprintNoMatch, .notPermitted, .serviceUnavailable, .tooLarge, .quotaReached,
            .protocolError, .busy, .tooManyWatch, .changeRequired, .noMatch, .exportPassphrase,
            .resetRequested, .skipped, .addUser, .switchUser, .recoveryKeyInvalid, .policyBroken,
            .storageFailed,
            .bundle, .fetchFailed, .invitation:
            false
        }
    }

    /// A common answer that does not go to the journal: the journal is for what an administrator
    /// looks for.
    package var isEveryday: Bool {
        switch self {
        // A broken policy was reported when its file was read. A preview's file belongs to the
        // person who asks. What comes of fetching goes to the journal when it changes.
        case .doesNotExist, .locked, .cancelled, .cancelledOpening, .policyBroken, .fetchFailed,
            .addUser, .switchUser, .invitation:
            true
        case .unknown, .alreadyExists, .dataType, .invalidArgument, .invalidPasscode,
            .outOfMemory, .passcodeExpired, .passcodeRequired, .passcodeChanged, .rule, .deleted,
            .retryLimitReached, .throttled, .policyDenies, .invalidAction,
            .fingerprintUnavailable, .fingerprintNoMatch, .notPermitted, .serviceUnavailable,
            .storeDamaged, .tooLarge, .quotaReached, .protocolError, .busy, .tooManyWatch,
            .changeRequired, .noMatch, .exportPassphrase, .resetRequested, .skipped,
            .recoveryKeyInvalid,
            .storageFailed, .bundle, .barred, .wiped:
            false
        }
    }
}
