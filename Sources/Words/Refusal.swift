import Policy
import Wire

/// Every refusal of the daemon. The code goes over the socket; RefusalText.swift has what it means
/// for a person.
package enum Refusal: Error, Equatable, Sendable {
    case unknown
    case alreadyExists
    case dataType
    case doesNotExist(Thing)
    case invalidArgument(Argument)
    /// `left` is nil if there is no limit, or if the front end may not know it.
    case invalidPasscode(left: Int?, WayBack = .nothing)
    case locked
    case outOfMemory
    case passcodeExpired
    case passcodeRequired
    /// What this exchange has proven does not open the store any more.
    case passcodeChanged
    /// A new passcode does not meet a rule: the first such rule in the order of the report, and the
    /// ids of all of them. Codes 10 to 15, 17 to 22 and 38.
    case rule(Rule, unmet: [String])
    case deleted
    case retryLimitReached(Limit)
    case throttled(seconds: Int)
    case policyDenies(key: String)
    case invalidAction(action: Action, reason: ActionReason)
    case cancelled
    /// The opening of a store was cancelled.
    case cancelledOpening
    case fingerprintUnavailable(FingerprintReason)
    case fingerprintNoMatch(left: Int?)
    case notPermitted(Why)
    case serviceUnavailable(Unavailable)
    case storeDamaged(Damage)
    case tooLarge(limit: Int)
    /// How much all stores of a person take together, and the limit; in bytes.
    case quotaReached(used: Int, limit: Int)
    case protocolError
    case busy
    /// As many programs of the person watch as may.
    case tooManyWatch
    case changeRequired(Flow, DueReason)
    case noMatch
    /// Not even the beginning of an export file opens with this passphrase.
    case exportPassphrase(PassphraseReason)
    case resetRequested
    case skipped
    case recoveryKeyInvalid(RecoveryKeyReason)
    case policyBroken(file: String, line: Int, key: String, wrong: String, right: String)
    case storageFailed(During, DiskFault)
    /// No failure: a program asked who it is, and the person said that they are new, or which one.
    case addUser
    /// Nobody is named where the list comes next, inside a flow.
    case switchUser(to: [UInt8])
    case bundle(BundleReason)
    case fetchFailed(FetchReason)
    /// What an invitation means could not be fetched.
    case invitation(FetchReason)
    case barred(Bar)
    /// Nil where the machine belongs to another organisation by now, or to none.
    case wiped(by: Orderer?)

    package var code: Code {
        switch self {
        case .unknown: .unknown
        case .alreadyExists: .alreadyExists
        case .dataType: .dataType
        case .doesNotExist: .doesNotExist
        case .invalidArgument: .invalidArgument
        case .invalidPasscode: .invalidPasscode
        case .locked: .locked
        case .outOfMemory: .outOfMemory
        case .passcodeExpired: .passcodeExpired
        case .passcodeRequired, .passcodeChanged: .passcodeRequired
        case .rule(let rule, _): rule.code
        case .deleted: .deleted
        case .retryLimitReached: .retryLimitReached
        case .throttled: .throttled
        case .policyDenies: .policyDenies
        case .invalidAction: .invalidAction
        case .cancelled, .cancelledOpening: .cancelled
        case .fingerprintUnavailable: .fingerprintUnavailable
        case .fingerprintNoMatch: .fingerprintNoMatch
        case .notPermitted: .notPermitted
        case .serviceUnavailable: .serviceUnavailable
        case .storeDamaged: .storeDamaged
        case .tooLarge, .quotaReached: .tooLarge
        case .protocolError: .protocolError
        case .busy, .tooManyWatch: .busy
        case .changeRequired: .changeRequired
        case .noMatch: .noMatch
        case .exportPassphrase(.wrong): .invalidPasscode
        case .exportPassphrase(.short): .underMinLength
        case .resetRequested: .resetRequested
        case .skipped: .skipped
        case .recoveryKeyInvalid: .recoveryKeyInvalid
        case .policyBroken: .policyBroken
        case .storageFailed: .storageFailed
        case .addUser: .addUser
        case .switchUser: .switchUser
        case .bundle(let reason): reason.code
        case .fetchFailed, .invitation: .fetchFailed
        case .barred: .lockedByAdministrator
        case .wiped: .wipedByAdministrator
        }
    }

    /// For programs: names and values, which are the same in every language.
    package var parameters: [(name: String, value: String)] {
        switch self {
        case .invalidPasscode(let left, _): [("triesRemaining", String(left ?? -1))]
        case .exportPassphrase(.wrong): [("triesRemaining", "-1")]
        case .exportPassphrase(.short(let least)):
            [("minimum", String(least)), ("unmet", "minLength")]
        case .rule(let rule, let unmet):
            rule.parameters + [("unmet", unmet.joined(separator: " "))]
        case .throttled(let seconds): [("seconds", String(seconds))]
        case .policyDenies(let key): [("key", key)]
        case .invalidAction(let action, let reason):
            [("action", action.rawValue), ("reason", reason.phrase.id.tail)]
        case .fingerprintUnavailable(let reason): [("reason", reason.phrase.id.tail)]
        case .fingerprintNoMatch(let left): [("failuresLeft", String(left ?? -1))]
        case .storeDamaged(let what): [("what", what.phrase.id.tail)]
        case .tooLarge(let limit), .quotaReached(_, let limit): [("limit", String(limit))]
        case .changeRequired(let flow, let reason):
            [("flow", String(flow.rawValue)), ("reason", reason.name)]
        case .policyBroken(let file, let line, let key, _, _):
            [("file", file), ("line", String(line)), ("key", key)]
        case .storageFailed(let during, let storage):
            [("during", during.phrase.id.tail), ("reason", storage.phrase.id.tail)]
        case .switchUser(let name): [("to", Text.clean(name))]
        case .bundle(let reason): [("reason", reason.phrase.id.tail)]
        case .fetchFailed(let reason), .invitation(let reason):
            [("reason", reason.phrase.id.tail)]
        case .barred(let bar): [("reason", bar.name)]
        case .unknown, .alreadyExists, .dataType, .doesNotExist, .invalidArgument, .locked,
            .outOfMemory, .passcodeExpired, .passcodeRequired, .passcodeChanged, .deleted,
            .retryLimitReached, .cancelled, .cancelledOpening, .notPermitted,
            .serviceUnavailable, .protocolError, .busy, .tooManyWatch, .noMatch,
            .resetRequested, .skipped, .addUser,
            .recoveryKeyInvalid, .wiped:
            []
        }
    }
}

extension Refusal {
    /// The same inside a reset, where the hint to reset the store would lead in a circle.
    package var insideReset: Refusal {
        if case .invalidPasscode(let left, .reset) = self {
            return .invalidPasscode(left: left, .resetByRoot)
        }
        if self == .retryLimitReached(.locked(.reset)) {
            return .retryLimitReached(.locked(.resetByRoot))
        }
        return self
    }
}

extension TextID {
    /// The id without its first part, as programs get it.
    package var tail: String {
        String(id.drop { $0 != "." }.dropFirst())
    }
}
