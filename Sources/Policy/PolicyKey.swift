/// One key of the policy file. The parser, the error texts, the canonical text and the lint all use
/// this table.
struct PolicyKey: Sendable {
    let name: String
    let kind: Kind
    let use: Use

    enum Use: Sendable {
        /// A change of the key leads to a demand for a new passcode.
        case rule
        /// The key names the custom rules that apply. A change is seen by the tests of these rules,
        /// not by the key itself.
        case ruleChoice
        /// A change of the key applies at once.
        case setting
        /// The key is read and checked, and has no effect in this release. `appvault policy` and
        /// the manual page say so, so that nobody relies on a rule that nothing enforces.
        case notActedOn
    }

    enum Kind: Sendable {
        case flag(any WritableKeyPath<Policy, Bool> & Sendable)
        case number(
            ClosedRange<UInt64>, zero: String?, any WritableKeyPath<Policy, UInt32> & Sendable)
        /// Kept in seconds.
        case time(
            ClosedRange<UInt64>, zero: String?, any WritableKeyPath<Policy, UInt32> & Sendable)
        /// Kept in bytes.
        case size(
            ClosedRange<UInt64>, zero: String?, any WritableKeyPath<Policy, UInt64> & Sendable)
        case choice(Choice)
        case services(mayReferToLocal: Bool, any WritableKeyPath<Policy, ServiceList> & Sendable)
        /// yes, no, or for so many seconds.
        case stay(ClosedRange<UInt64>, any WritableKeyPath<Policy, Stay> & Sendable)
        case units(any WritableKeyPath<Policy, LoginUnits> & Sendable)
        case rules(any WritableKeyPath<Policy, RuleChoice> & Sendable)
        case storeName(any WritableKeyPath<Policy, StoreName> & Sendable)
    }

    private static let day: UInt64 = 86_400

    /// In the order of BEHAVIOURS.md 1.
    static let all: [PolicyKey] = [
        PolicyKey("Enabled", .flag(\.enabled)),
        PolicyKey("UseDefaultPolicy", .flag(\.useDefaultPolicy)),
        PolicyKey("MinLength", .number(1...256, zero: nil, \.minLength), .rule),
        PolicyKey("RequireDigit", .flag(\.requireDigit), .rule),
        PolicyKey("RequireLower", .flag(\.requireLower), .rule),
        PolicyKey("RequireUpper", .flag(\.requireUpper), .rule),
        PolicyKey("RequireSpecial", .flag(\.requireSpecial), .rule),
        PolicyKey(
            "MinCharacterGroups", .number(0...4, zero: "no rule", \.minCharacterGroups), .rule),
        PolicyKey("DigitsOnly", .flag(\.digitsOnly), .rule),
        PolicyKey(
            "MinUniqueCharacters", .number(0...256, zero: "no rule", \.minUniqueCharacters), .rule),
        PolicyKey("ForbidSequences", .flag(\.forbidSequences), .rule),
        PolicyKey("Rules", .rules(\.rules), .ruleChoice),
        PolicyKey("ExpireDays", .number(0...3650, zero: "never", \.expireDays)),
        PolicyKey("HistoryCount", .number(0...24, zero: "none", \.historyCount)),
        PolicyKey("RetryLimit", .number(0...100, zero: "no limit", \.retryLimit)),
        PolicyKey("OnRetryLimit", .choice(Choice(\.onRetryLimit))),
        PolicyKey("ThrottleAfter", .number(0...100, zero: "never", \.throttleAfter)),
        PolicyKey("ThrottleMax", .time(1...day, zero: nil, \.throttleMax)),
        PolicyKey("LocalServices", .services(mayReferToLocal: false, \.localServices)),
        PolicyKey("PasscodeServices", .services(mayReferToLocal: true, \.passcodeServices)),
        PolicyKey("UnlockServices", .services(mayReferToLocal: true, \.unlockServices)),
        PolicyKey("ConversingServices", .services(mayReferToLocal: true, \.conversingServices)),
        PolicyKey("AllowNoPasscode", .flag(\.allowNoPasscode)),
        PolicyKey("NoPasscodeByDefault", .flag(\.noPasscodeByDefault)),
        PolicyKey("AllowRecoveryKey", .flag(\.allowRecoveryKey)),
        PolicyKey("LockTimeout", .time(0...7 * day, zero: "never", \.lockTimeout)),
        PolicyKey("LockOnBackground", .choice(Choice(\.lockOnBackground))),
        PolicyKey("IdleTimeout", .time(0...7 * day, zero: "never", \.idleTimeout)),
        PolicyKey("HoldMax", .time(0...30 * day, zero: "not at all", \.holdMax)),
        PolicyKey("LockGrace", .time(0...300, zero: "none", \.lockGrace)),
        PolicyKey("FingerprintAfterLock", .stay(1...7 * day, \.fingerprintAfterLock)),
        PolicyKey("LoginUnits", .units(\.loginUnits)),
        PolicyKey("StoreQuota", .size(0...1 << 40, zero: "no limit", \.storeQuota)),
        PolicyKey("AllowFingerprint", .flag(\.allowFingerprint)),
        PolicyKey("FingerprintFirstUnlock", .flag(\.fingerprintFirstUnlock), .notActedOn),
        PolicyKey("FingerprintReaders", .choice(Choice(\.fingerprintReaders))),
        PolicyKey(
            "FingerprintMaxFailures", .number(1...20, zero: nil, \.fingerprintMaxFailures)),
        PolicyKey("PasscodeEvery", .time(0...30 * day, zero: "never", \.passcodeEvery)),
        PolicyKey("ChangeOnUpdate", .choice(Choice(\.changeOnUpdate))),
        PolicyKey("ShowReset", .flag(\.showReset)),
        PolicyKey("ShowCancel", .flag(\.showCancel)),
        PolicyKey("Onboard", .choice(Choice(\.onboard))),
        PolicyKey("DerivationMemory", .size(19 << 20...1 << 30, zero: nil, \.derivationMemory)),
        PolicyKey("DerivationPasses", .number(2...16, zero: nil, \.derivationPasses)),
    ]

    /// The keys of an `[App ID]` section.
    static let ofApps: [PolicyKey] = [
        PolicyKey("Require", .choice(Choice(\.app.require))),
        PolicyKey("OnLock", .choice(Choice(\.app.onLock))),
        PolicyKey("LockOnBackground", .choice(Choice(\.app.lockOnBackground))),
        PolicyKey("LockTimeout", .time(0...7 * day, zero: "never", \.app.lockTimeout)),
        PolicyKey("Store", .storeName(\.app.store)),
    ]

    private static let places: [[UInt8]: Int] = Dictionary(
        uniqueKeysWithValues: all.enumerated().map { (Array($1.name.utf8), $0) })

    /// A key's place in the table of `[Passcode]`.
    static func place(of name: [UInt8]) -> Int? { places[name] }

    /// A key's place in the table of `[App ID]`.
    static func placeForApps(of name: [UInt8]) -> Int? {
        ofApps.firstIndex { $0.name.utf8.elementsEqual(name) }
    }

    init(_ name: String, _ kind: Kind, _ use: Use = .setting) {
        self.name = name
        self.kind = kind
        self.use = use
    }
}
