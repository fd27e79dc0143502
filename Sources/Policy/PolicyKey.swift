/// One key of the policy file. Parser, error texts, canonical text and lint all go by this table.
struct PolicyKey: Sendable {
    let name: String
    let kind: Kind

    enum Kind: Sendable {
        case flag(any WritableKeyPath<Policy, Bool> & Sendable)
        case number(
            ClosedRange<UInt64>, zero: String?, any WritableKeyPath<Policy, UInt32> & Sendable)
        /// Kept in seconds.
        case time(ClosedRange<UInt64>, any WritableKeyPath<Policy, UInt32> & Sendable)
        /// Kept in bytes.
        case size(ClosedRange<UInt64>, any WritableKeyPath<Policy, UInt64> & Sendable)
        case retryLimitAction(any WritableKeyPath<Policy, OnRetryLimit> & Sendable)
        case services(mayReferToLocal: Bool, any WritableKeyPath<Policy, ServiceList> & Sendable)
    }

    /// In the order of BEHAVIOURS.md 1.
    static let all: [PolicyKey] = [
        PolicyKey("Enabled", .flag(\.enabled)),
        PolicyKey("UseDefaultPolicy", .flag(\.useDefaultPolicy)),
        PolicyKey("MinLength", .number(1...256, zero: nil, \.minLength)),
        PolicyKey("RetryLimit", .number(0...100, zero: "no limit", \.retryLimit)),
        PolicyKey("OnRetryLimit", .retryLimitAction(\.onRetryLimit)),
        PolicyKey("ThrottleAfter", .number(0...100, zero: "never", \.throttleAfter)),
        PolicyKey("ThrottleMax", .time(1...86_400, \.throttleMax)),
        PolicyKey("LocalServices", .services(mayReferToLocal: false, \.localServices)),
        PolicyKey("PasscodeServices", .services(mayReferToLocal: true, \.passcodeServices)),
        PolicyKey("UnlockServices", .services(mayReferToLocal: true, \.unlockServices)),
        PolicyKey("ConversingServices", .services(mayReferToLocal: true, \.conversingServices)),
        PolicyKey("AllowNoPasscode", .flag(\.allowNoPasscode)),
        PolicyKey("AllowRecoveryKey", .flag(\.allowRecoveryKey)),
        PolicyKey("DerivationMemory", .size(19 << 20...1 << 30, \.derivationMemory)),
        PolicyKey("DerivationPasses", .number(2...16, zero: nil, \.derivationPasses)),
    ]

    /// Keys that have a meaning which this release does not give them. Taking one in silence would let an
    /// administrator believe in a rule that nobody enforces.
    static let notActedOn = [
        "RequireDigit", "RequireLower", "RequireUpper", "RequireSpecial", "MinCharacterGroups",
        "DigitsOnly", "MinUniqueCharacters", "ForbidSequences", "Rules", "ExpireDays",
        "HistoryCount", "NoPasscodeByDefault", "LockTimeout", "LockOnBackground", "IdleTimeout",
        "HoldMax", "AllowFingerprint", "FingerprintFirstUnlock", "FingerprintReaders",
        "FingerprintMaxFailures", "PasscodeEvery", "ChangeOnUpdate", "ShowReset", "ShowCancel",
        "Onboard",
    ]

    static func named(_ name: [UInt8]) -> PolicyKey? {
        all.first { $0.name.utf8.elementsEqual(name) }
    }

    /// The key that somebody meant who wrote something else.
    static func nearest(_ name: [UInt8]) -> String? {
        // Nobody mistypes into something that long, and distance costs length times length.
        guard name.count <= 64 else { return nil }
        let known = (all.map(\.name) + notActedOn).map { (name: $0, away: distance(name, $0)) }
        guard let best = known.min(by: { $0.away < $1.away }),
            best.away <= max(2, best.name.utf8.count / 3)
        else { return nil }
        return best.name
    }

    private init(_ name: String, _ kind: Kind) {
        self.name = name
        self.kind = kind
    }

    // Levenshtein's, with capitals and small letters alike.
    private static func distance(_ left: [UInt8], _ right: String) -> Int {
        let right = right.utf8.map { $0 | 0x20 }
        var row = Array(0...right.count)
        for (line, byte) in left.enumerated() {
            var diagonal = row[0]
            row[0] = line + 1
            for column in right.indices {
                let above = row[column + 1]
                let change = diagonal + (byte | 0x20 == right[column] ? 0 : 1)
                row[column + 1] = min(change, above + 1, row[column] + 1)
                diagonal = above
            }
        }
        return row[right.count]
    }
}
