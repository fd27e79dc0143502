import Policy
import Wire

/// Why a flow begins, before it does: read, and ended with Enter.
extension Service {
    func notify(of step: DueStep, _ exchange: Exchange) async throws(Interruption) {
        let notice = step.notice
        for part in notice.parts { try await exchange.show(.notice(notice, part)) }
        _ = try await exchange.ask(.noticeEnd(notice), .acknowledge)
    }
}

extension DueStep {
    /// A passcode where there is none.
    var isCreation: Bool {
        switch flow {
        case .create, .createOfferingFingerprint: true
        case .change, .dropPasscode, .announceFingerprint, .dropFingerprint, .dropBoth: false
        }
    }

    var notice: Message.Notice {
        switch flow {
        case .dropPasscode: .passcodeOff
        case .dropBoth: .passcodeAndFingerprintOff
        case .dropFingerprint, .announceFingerprint: .fingerprintOff
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
    var line: Message.Due {
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
    static func changeRequired(_ step: DueStep) -> Refusal {
        switch step.reason {
        case .policy: .changeRequired(flow: step.flow.rawValue, reason: .policy)
        case .migration: .changeRequired(flow: step.flow.rawValue, reason: .migration)
        case .recovery: .changeRequired(flow: step.flow.rawValue, reason: .recovery)
        case .expired: .passcodeExpired
        }
    }
}
