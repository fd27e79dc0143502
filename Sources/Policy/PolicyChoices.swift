/// What happens to a store whose retry limit is reached.
public enum OnRetryLimit: String, CaseIterable, Sendable {
    case erase
    case lock
}

/// What happens to an open store at a screen lock, a suspend, a switch to another person and the
/// last logout.
public enum LockOnBackground: String, CaseIterable, Sendable {
    case immediate
    case timeout
    case never
}

/// How long something stays: always, not at all, or for so many seconds.
public enum Stay: Hashable, Sendable {
    case always
    case never
    case time(UInt32)
}

/// Which readers a finger is asked for at.
public enum FingerprintReaders: String, CaseIterable, Sendable {
    /// Those that are fixed to the machine.
    case `internal`
    case any
}

/// What is demanded of a person after a rule key changed.
public enum ChangeOnUpdate: String, CaseIterable, Sendable {
    /// A new passcode in every case.
    case always
    /// A new passcode only where the present one falls short.
    case noncompliant
}

/// Who creates the store `default`.
public enum Onboard: String, CaseIterable, Sendable {
    case cli
    case login
    case silent
}

/// Which of the `[Rule NAME]` sections apply.
public enum RuleChoice: Hashable, Sendable {
    case all
    case named([String])

    static let allWord = "all"

    func select(_ rules: [CustomRule]) -> [CustomRule] {
        switch self {
        case .all: return rules
        case .named(let names):
            let chosen = Set(names)
            return rules.filter { chosen.contains($0.name) }
        }
    }
}
