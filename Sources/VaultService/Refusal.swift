import Wire

/// Every way in which the daemon says no. The code goes over the socket; the wording is made here
/// and nowhere else.
enum Refusal: Error, Equatable, Sendable {
    case unknown
    case alreadyExists
    case doesNotExist(What)
    case invalidArgument(reason: String)
    /// `left` is nil where there is no limit or the front end may not know.
    case invalidPasscode(left: Int?)
    case locked
    case outOfMemory
    case passcodeRequired
    case underMinLength(minimum: Int)
    case deleted
    case retryLimitReached(erased: Bool)
    case throttled(seconds: Int)
    case policyDenies(key: String)
    case invalidAction(action: String, reason: String)
    case cancelled
    case notPermitted(Why)
    case serviceUnavailable(reason: String)
    case storeDamaged(what: String)
    case tooLarge(limit: Int)
    case protocolError
    case busy
    case noMatch
    case sameAsCurrent
    case recoveryKeyInvalid(reason: String)
    case policyBroken(file: String, line: Int, key: String, wrong: String, right: String)
    case storageFailed(during: String, reason: String)

    enum What: String, Sendable {
        case store, record, account, passcode
        case recoveryKey = "recovery key"
    }

    enum Why: Sendable {
        case notYours
        case ownerChanged
        case rootOnly
    }

    var code: Code {
        switch self {
        case .unknown: .unknown
        case .alreadyExists: .alreadyExists
        case .doesNotExist: .doesNotExist
        case .invalidArgument: .invalidArgument
        case .invalidPasscode: .invalidPasscode
        case .locked: .locked
        case .outOfMemory: .outOfMemory
        case .passcodeRequired: .passcodeRequired
        case .underMinLength: .underMinLength
        case .deleted: .deleted
        case .retryLimitReached: .retryLimitReached
        case .throttled: .throttled
        case .policyDenies: .policyDenies
        case .invalidAction: .invalidAction
        case .cancelled: .cancelled
        case .notPermitted: .notPermitted
        case .serviceUnavailable: .serviceUnavailable
        case .storeDamaged: .storeDamaged
        case .tooLarge: .tooLarge
        case .protocolError: .protocolError
        case .busy: .busy
        case .noMatch: .noMatch
        case .sameAsCurrent: .sameAsCurrent
        case .recoveryKeyInvalid: .recoveryKeyInvalid
        case .policyBroken: .policyBroken
        case .storageFailed: .storageFailed
        }
    }

    var parameters: [(name: String, value: String)] {
        switch self {
        case .invalidPasscode(let left): [("triesRemaining", String(left ?? -1))]
        case .underMinLength(let minimum): [("minimum", String(minimum))]
        case .throttled(let seconds): [("seconds", String(seconds))]
        case .policyDenies(let key): [("key", key)]
        case .invalidAction(let action, let reason): [("action", action), ("reason", reason)]
        case .storeDamaged(let what): [("what", what)]
        case .tooLarge(let limit): [("limit", String(limit))]
        case .policyBroken(let file, let line, let key, _, _):
            [("file", file), ("line", String(line)), ("key", key)]
        case .storageFailed(let during, let reason): [("during", during), ("reason", reason)]
        case .unknown, .alreadyExists, .doesNotExist, .invalidArgument, .locked, .outOfMemory,
            .passcodeRequired, .deleted, .retryLimitReached, .cancelled, .notPermitted,
            .serviceUnavailable,
            .protocolError, .busy, .noMatch, .sameAsCurrent, .recoveryKeyInvalid:
            []
        }
    }

    /// What happened: lower case, one line.
    var message: String {
        switch self {
        case .unknown: "something went wrong that has no name yet"
        case .alreadyExists: "it exists already"
        case .doesNotExist(let what): "there is no such \(what.rawValue)"
        case .invalidArgument(let reason): reason
        case .invalidPasscode(let left):
            switch left {
            case nil: "wrong passcode"
            case 1: "wrong passcode; one try left"
            case .some(let count): "wrong passcode; \(count) tries left"
            }
        case .locked: "the store is locked"
        case .outOfMemory: "there is not enough memory to open a store now"
        case .passcodeRequired: "the passcode is needed, and there is nobody to ask"
        case .underMinLength(let minimum): "the passcode needs at least \(minimum) characters"
        case .deleted: "the store was erased after too many wrong passcodes"
        case .retryLimitReached(let erased):
            erased
                ? "too many wrong passcodes: the store was erased"
                : "too many wrong passcodes: no more tries"
        case .throttled(let seconds):
            "too many wrong passcodes: the next try is possible in \(Self.span(seconds))"
        case .policyDenies(let key): "the policy does not allow it (\(key))"
        case .invalidAction(let action, let reason): "\(action) is not possible: \(reason)"
        case .cancelled: "cancelled; nothing was changed"
        case .notPermitted(.notYours): "that is not permitted"
        case .notPermitted(.ownerChanged): "the store belongs to an account that has changed"
        case .notPermitted(.rootOnly): "only root may do that"
        case .serviceUnavailable(let reason): reason
        case .storeDamaged(let what): "the store is damaged: \(what)"
        case .tooLarge(let limit): "it is too large: at most \(limit) bytes"
        case .protocolError: "the request was not understood"
        case .busy: "too many requests are waiting"
        case .noMatch: "the passcodes do not match"
        case .sameAsCurrent: "the new passcode is the current one"
        case .recoveryKeyInvalid(let reason): reason
        case .policyBroken(let file, let line, let key, let wrong, let right):
            key.isEmpty
                ? "\(file):\(line): \(wrong): \(right)"
                : "\(file):\(line): \(key): \(wrong): \(right)"
        case .storageFailed(let during, let reason): "\(during) failed: \(reason)"
        }
    }

    /// What to do about it; empty where there is nothing.
    var hint: String {
        switch self {
        case .alreadyExists: "`appvault status`"
        case .doesNotExist(.store): "`appvault create`"
        case .doesNotExist(.record): "`appvault list`"
        case .doesNotExist(.recoveryKey): "`appvault recovery new`, while the passcode is known"
        case .doesNotExist(.passcode): "`appvault passwd --on`"
        case .doesNotExist(.account): "check the spelling of the name"
        case .invalidPasscode: "forgotten? `appvault recover`, or `appvault reset`"
        case .locked: "`appvault unlock`"
        case .outOfMemory: "close something and try again; no try was counted"
        case .passcodeRequired: "run it on a terminal, or pass the passcode with --passcode-fd"
        case .deleted: "`appvault reset`, then `appvault create`, makes a new one"
        case .retryLimitReached(true): "`appvault reset`, then `appvault create`, makes a new one"
        case .retryLimitReached(false):
            "`appvault recover`, or root's `appvault tries clear --user NAME`"
        case .policyDenies: "the rule is your administrator's, in /etc/appvault/policy.conf"
        case .notPermitted(.ownerChanged): "root moves it: `appvault chown STORE USER`"
        case .serviceUnavailable: "try again; if it stays so, look at: `journalctl -u appvaultd`"
        case .storeDamaged: "`appvault status` says more; restore the state folder from a backup"
        case .busy: "try again in a moment"
        case .noMatch: "type the same passcode twice"
        case .sameAsCurrent: "choose another one"
        case .recoveryKeyInvalid: "it is the key that was shown last; older ones are void"
        case .policyBroken: "the policy that was in force stays; an administrator mends the file"
        case .storageFailed: "nothing of it was stored; make room on the disk and try again"
        case .unknown, .invalidArgument, .underMinLength, .throttled, .invalidAction, .cancelled,
            .notPermitted(.notYours), .notPermitted(.rootOnly), .tooLarge, .protocolError:
            ""
        }
    }

    static func span(_ seconds: Int) -> String {
        switch seconds {
        case ..<120: "\(max(seconds, 1)) s"
        case ..<7200: "\((seconds + 59) / 60) min"
        default: "\((seconds + 3599) / 3600) h"
        }
    }

    var body: Refused {
        Refused(
            code: code.rawValue,
            parameters: parameters.map {
                Refused.Parameter(name: Array($0.name.utf8), value: Text.clean($0.value))
            },
            message: Text.clean(message, limit: Limits.line),
            hint: Text.clean(hint, limit: Limits.line))
    }
}
