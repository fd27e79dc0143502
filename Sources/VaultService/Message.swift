import Wire

/// Every line that a person reads inside a conversation, by its id. Arguments are placed by
/// position.
enum Message: Sendable {
    case prompt
    case promptOrPassword
    case promptLast(orPassword: Bool, erases: Bool)
    case promptCurrent
    case chooseNew
    case confirmNew
    case rules(minimum: Int)
    case loginPassword
    case retry(left: Int?)
    case retryOrPassword(left: Int?)
    case lastErases
    case lastLocks
    case erased
    case retryLocked
    case elsewhere
    case throttled(seconds: Int)
    case differ
    case tooShort(minimum: Int)
    case created
    case createdWithout
    case opened
    case openAlready
    case lockedNow
    case changed
    case turnedOff
    case turnedOn
    case reset
    case cleared
    case moved
    case recoveryPrompt
    case recoveryKeep
    case recovered
    case drift
    case former
    case driftElsewhere
    case present
    case driftMended
    case inStep
    case passphrase
    case newPassphrase
    case confirmPassphrase
    case imported(count: UInt64)
    case checked(count: UInt64)

    private var parts: (id: String, arguments: [String], text: String) {
        switch self {
        case .prompt: ("match.prompt", [], "AppVault passcode: ")
        case .promptOrPassword: ("match.prompt.or-password", [], "Passcode or login password: ")
        case .promptLast(let orPassword, let erases):
            (
                "match.prompt.last", [],
                "One try left, then the store is \(erases ? "erased" : "locked"). "
                    + (orPassword ? "Passcode or login password: " : "AppVault passcode: ")
            )
        case .promptCurrent: ("match.current", [], "Current passcode: ")
        case .chooseNew: ("create.choose", [], "New passcode: ")
        case .confirmNew: ("create.confirm", [], "New passcode again: ")
        case .rules(let minimum):
            ("create.rules", [String(minimum)], "At least \(minimum) characters.")
        case .loginPassword: ("create.login-password", [], "Login password: ")
        case .retry(let left):
            switch left {
            case nil: ("match.retry", [], "Wrong passcode.")
            case 1: ("match.retry.one", [], "Wrong passcode. One try left.")
            case .some(let count):
                ("match.retry.left", [String(count)], "Wrong passcode. \(count) tries left.")
            }
        case .retryOrPassword(let left):
            switch left {
            case nil:
                ("match.or-password", [], "Not the passcode; trying it as the login password.")
            case .some(let count):
                (
                    "match.or-password.left", [String(count)],
                    "Not the passcode (tries left: \(count)); trying it as the login password."
                )
            }
        case .lastErases:
            ("match.last", [], "One try left. A wrong passcode now erases the store.")
        case .lastLocks:
            ("match.last.lock", [], "One try left. A wrong passcode now locks the store.")
        case .erased: ("match.erased", [], "Too many wrong passcodes. The store was erased.")
        case .retryLocked:
            ("match.locked", [], "Too many wrong passcodes. The store needs its recovery key.")
        case .elsewhere:
            (
                "match.elsewhere", [],
                "Too many wrong tries from elsewhere: log in at this machine, or ask root."
            )
        case .throttled(let seconds):
            (
                "match.throttled", [String(seconds)],
                "The next try is possible in \(Refusal.span(seconds))."
            )
        case .differ: ("create.differ", [], "The passcodes do not match.")
        case .tooShort(let minimum):
            ("create.short", [String(minimum)], "At least \(minimum) characters, please.")
        case .created: ("create.done", [], "Passcode successfully created.")
        case .createdWithout: ("create.done.none", [], "Store created without a passcode.")
        case .opened: ("match.done", [], "Passcode successfully validated.")
        case .openAlready: ("match.open", [], "The store is open.")
        case .lockedNow: ("lock.done", [], "The store is locked.")
        case .changed: ("change.done", [], "Passcode successfully changed.")
        case .turnedOff:
            ("off.done", [], "The passcode is off; the store opens without a question.")
        case .turnedOn: ("on.done", [], "Passcode successfully created.")
        case .reset: ("reset.done", [], "Passcode successfully reset.")
        case .cleared: ("tries.done", [], "The tries are cleared.")
        case .moved: ("chown.done", [], "The store has its new owner.")
        case .recoveryPrompt: ("recovery.prompt", [], "Recovery key: ")
        case .recoveryKeep:
            (
                "recovery.keep", [],
                "Write this recovery key down; it is shown once and replaces any former one."
            )
        case .recovered: ("recovery.done", [], "Passcode successfully changed.")
        case .drift:
            (
                "drift.notice", [],
                "Your login password has changed; your store still has the former one."
            )
        case .former: ("drift.former", [], "Former password or recovery key (Enter to skip): ")
        case .driftElsewhere:
            (
                "drift.elsewhere", [],
                "Too many wrong tries from elsewhere: your store asks for itself this once."
            )
        case .present:
            ("drift.present", [], "Password of the store or recovery key (Enter to skip): ")
        case .driftMended: ("drift.done", [], "Your store follows your login password again.")
        case .inStep: ("drift.none", [], "The store and the login password are in step.")
        case .passphrase: ("export.passphrase", [], "Passphrase of the file: ")
        case .newPassphrase: ("export.new", [], "Passphrase for the file: ")
        case .confirmPassphrase: ("export.confirm", [], "Passphrase again: ")
        case .imported(let count): ("import.done", [String(count)], "\(count) values imported.")
        case .checked(let count): ("import.checked", [String(count)], "\(count) values checked.")
        }
    }

    var line: Line {
        let parts = parts
        return Line(
            id: Array(parts.id.utf8), arguments: parts.arguments.map { Text.clean($0) },
            text: Text.clean(parts.text, limit: Limits.line))
    }
}

/// Text on its way to a person: no control or bidi character, no newline, and not longer than its
/// place.
enum Text {
    static let argument = 200

    static func clean(_ text: String, limit: Int = Limits.line) -> [UInt8] {
        var bytes: [UInt8] = []
        var characters = 0
        for scalar in text.unicodeScalars {
            if characters == argument && limit != Limits.line { break }
            let shown: Unicode.Scalar
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse:
                shown = "?"
            default: shown = scalar
            }
            let encoded = Array(String(shown).utf8)
            if bytes.count + encoded.count > limit { break }
            bytes += encoded
            characters += 1
        }
        return bytes
    }

    /// Bytes from a peer, for a line of ours.
    static func clean(_ bytes: [UInt8]) -> String {
        String(
            decoding: clean(String(decoding: bytes, as: UTF8.self), limit: argument), as: UTF8.self)
    }
}
