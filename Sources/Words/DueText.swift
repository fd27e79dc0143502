import Policy

extension DueStep {
    /// A passcode where there is none.
    package var isCreation: Bool {
        switch flow {
        case .create, .createOfferingFingerprint: true
        case .change, .dropPasscode, .announceFingerprint, .dropFingerprint, .dropBoth: false
        }
    }

    /// nil where there is nothing to be sorry for: fingers are offered, by words of their own.
    package var notice: Message.Notice? {
        switch flow {
        case .announceFingerprint: nil
        case .dropPasscode: .passcodeOff
        case .dropBoth: .passcodeAndFingerprintOff
        case .dropFingerprint: .fingerprintOff
        case .create, .createOfferingFingerprint, .change:
            switch reason {
            case .policy: .policyChanged
            case .expired: .expired
            case .migration: .migration
            case .recovery: .recovered
            }
        }
    }

    /// The one line where nobody can be asked.
    package var line: Message.Due {
        switch reason {
        case .migration: .migration
        case .recovery: .recovery
        case .expired: .expired
        case .policy:
            switch flow {
            case .create, .createOfferingFingerprint: .create
            case .change: .policy
            case .dropPasscode, .announceFingerprint, .dropFingerprint, .dropBoth: .told
            }
        }
    }
}

extension Refusal {
    /// An age has a code of its own.
    package static func changeRequired(_ step: DueStep) -> Refusal {
        switch step.reason {
        case .policy, .migration, .recovery: .changeRequired(step.flow, step.reason)
        case .expired: .passcodeExpired
        }
    }
}

extension DueReason {
    /// As programs are told it.
    package var name: String {
        switch self {
        case .policy: "policy"
        case .migration: "migration"
        case .recovery: "recovery"
        case .expired: "expired"
        }
    }
}
