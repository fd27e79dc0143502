import Policy

extension DueStep {
    /// The step makes a passcode where there is none.
    package var isCreation: Bool {
        switch flow {
        case .create, .createOfferingFingerprint: true
        case .change, .dropPasscode, .announceFingerprint, .dropFingerprint, .dropBoth: false
        }
    }

    /// nil if only a fingerprint is announced: that offer has texts of its own.
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

    /// The one line that is shown where the person cannot be asked.
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
    /// A passcode that is too old has a code of its own.
    package static func changeRequired(_ step: DueStep) -> Refusal {
        switch step.reason {
        case .policy, .migration, .recovery: .changeRequired(step.flow, step.reason)
        case .expired: .passcodeExpired
        }
    }
}

extension DueReason {
    /// The name that programs get.
    package var name: String {
        switch self {
        case .policy: "policy"
        case .migration: "migration"
        case .recovery: "recovery"
        case .expired: "expired"
        }
    }
}
