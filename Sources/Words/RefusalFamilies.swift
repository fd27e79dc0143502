// What a refusal is about, for whoever treats a family of them alike.

/// What the count of tries said: to a try that was made, or before one.
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
            .quotaReached, .protocolError, .busy, .changeRequired, .noMatch, .exportPassphrase,
            .resetRequested,
            .skipped, .recoveryKeyInvalid, .policyBroken, .storageFailed:
            return nil
        }
    }
}

extension Refusal {
    /// About what the person typed, and not about what failed here.
    package var isAboutTheAnswer: Bool {
        switch self {
        case .cancelled, .noMatch, .exportPassphrase, .rule, .tooLarge, .invalidArgument: true
        case .unknown, .alreadyExists, .dataType, .doesNotExist, .invalidPasscode, .locked,
            .outOfMemory, .passcodeExpired, .passcodeRequired, .passcodeChanged, .deleted,
            .retryLimitReached, .throttled, .policyDenies, .invalidAction, .cancelledOpening,
            .fingerprintUnavailable, .fingerprintNoMatch, .notPermitted, .serviceUnavailable,
            .storeDamaged, .quotaReached, .protocolError, .busy, .changeRequired, .resetRequested,
            .skipped, .recoveryKeyInvalid, .policyBroken, .storageFailed:
            false
        }
    }

    /// An everyday answer to an everyday client: the journal is for what an administrator looks
    /// for.
    package var isEveryday: Bool {
        switch self {
        // A broken policy was told of when its file was read; a preview's file is its asker's own.
        case .doesNotExist, .locked, .cancelled, .cancelledOpening, .policyBroken: true
        case .unknown, .alreadyExists, .dataType, .invalidArgument, .invalidPasscode,
            .outOfMemory, .passcodeExpired, .passcodeRequired, .passcodeChanged, .rule, .deleted,
            .retryLimitReached, .throttled, .policyDenies, .invalidAction,
            .fingerprintUnavailable, .fingerprintNoMatch, .notPermitted, .serviceUnavailable,
            .storeDamaged, .tooLarge, .quotaReached, .protocolError, .busy, .changeRequired,
            .noMatch, .exportPassphrase, .resetRequested, .skipped, .recoveryKeyInvalid,
            .storageFailed:
            false
        }
    }
}
