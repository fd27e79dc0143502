/// What becomes of a store whose retry limit is reached.
public enum OnRetryLimit: String, CaseIterable, Sendable {
    case erase
    case lock
}

/// What screen lock, suspend, a switch to another person and the last logout do.
public enum LockOnBackground: String, CaseIterable, Sendable {
    case immediate
    case timeout
    case never
}

/// Which readers a finger is asked for at.
public enum FingerprintReaders: String, CaseIterable, Sendable {
    /// Those that are fixed to the machine.
    case `internal`
    case any
}

/// What follows where a rule key changed.
public enum ChangeOnUpdate: String, CaseIterable, Sendable {
    /// A new passcode, in any case.
    case always
    /// A new one only where the present one falls short.
    case noncompliant
}

/// Who creates the store `default`.
public enum Onboard: String, CaseIterable, Sendable {
    case cli
    case login
    case silent
}

/// Which of the `[Rule NAME]` sections apply.
public enum RuleChoice: Equatable, Sendable {
    case all
    case named([String])

    static let allWord = "all"

    func names(_ rule: String) -> Bool {
        switch self {
        case .all: true
        case .named(let names): names.contains(rule)
        }
    }
}
