internal import Wire

extension Question.Purpose {
    init(_ purpose: Ask.Purpose) {
        self =
            switch purpose {
            case .passcode: .passcode
            case .newPasscode: .newPasscode
            case .confirmPasscode: .confirmPasscode
            case .loginPassword: .loginPassword
            case .passphrase: .passphrase
            case .newPassphrase: .newPassphrase
            case .confirmPassphrase: .confirmPassphrase
            case .recoveryKey: .recoveryKey
            case .former: .formerPassword
            case .acknowledge: .acknowledge
            case .choice: .choice
            }
    }

    /// What was answered last is judged, or tried, before anything else is asked.
    var hook: PromptEvent.Kind? {
        switch self {
        case .passcode, .loginPassword, .passphrase, .recoveryKey, .formerPassword: .tried
        case .newPasscode, .confirmPasscode, .newPassphrase, .confirmPassphrase: .validate
        case .acknowledge, .choice: nil
        }
    }

    /// Why the same is asked again, where no line has said it.
    var codeWhenRepeated: VaultError.Code {
        switch self {
        case .passcode, .loginPassword, .passphrase, .formerPassword: .invalidPasscode
        case .recoveryKey: .recoveryKeyInvalid
        case .newPasscode, .newPassphrase: .invalidArgument
        case .confirmPasscode, .confirmPassphrase: .noMatch
        case .acknowledge, .choice: .unknown
        }
    }
}

extension Notice {
    /// Why what was answered last is not taken; nil where the line does not say that. The daemon
    /// names several unmet rules in one text, which tells no program which they are.
    var refusal: VaultError.Code? {
        guard isError else { return nil }
        return Self.refusals[id]
    }

    /// An empty answer goes on without a passcode.
    var offersToSkip: Bool { id == "create.skip" }

    private static let refusals: [String: VaultError.Code] = [
        "match.retry": .invalidPasscode, "match.retry.one": .invalidPasscode,
        "match.retry.left": .invalidPasscode, "create.differ": .noMatch,
        "create.unmet": .invalidArgument, "unmet.minLength": .underMinLength,
        "unmet.rule": .ruleFailed, "unmet.rule.failed": .ruleFailed,
        "unmet.rule.dictionary": .dictionary, "unmet.digitsOnly": .digitsOnly,
        "unmet.digit": .requiresDigit, "unmet.upper": .requiresUpper,
        "unmet.lower": .requiresLower, "unmet.special": .requiresSpecial,
        "unmet.groups": .requiresGroups, "unmet.unique": .underMinUniqueCharacters,
        "unmet.sequence": .sequence, "unmet.same": .sameAsCurrent, "unmet.history": .reused,
    ]
}

extension PasscodeRule {
    init(_ entry: Checklist.Entry) {
        self.init(
            id: String(decoding: entry.id, as: UTF8.self), finding: Finding(entry.finding),
            wants: String(decoding: entry.wants, as: UTF8.self),
            reason: String(decoding: entry.reason, as: UTF8.self))
    }
}

extension PasscodeRule.Finding {
    init(_ finding: Checklist.Entry.Finding) {
        self =
            switch finding {
            case .satisfied: .satisfied
            case .unmet: .unmet
            case .notChecked: .notChecked
            }
    }
}

extension PrompterKind {
    var frontEnd: FrontEnd {
        switch self {
        case .program: .program
        case .device: .device
        case .terminal: .terminal
        case .windows: .dialog
        }
    }
}

extension FingerScan {
    init(_ scan: Scan, skip: Skip) {
        let event: Event =
            switch scan.event {
            case .place: .place
            case .stage: .stage
            case .retry: .retry
            case .ended: .ended
            }
        self.init(
            event: event, stage: Int(scan.stage), stages: Int(scan.stages),
            text: String(decoding: scan.line.text, as: UTF8.self))
        self.skip = skip
    }
}
