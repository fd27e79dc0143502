/// The settings that hold for one person and store. Every value lies within the bounds of
/// `PolicyKey.all`.
public struct Policy: Equatable, Sendable {
    public var enabled = true
    public var useDefaultPolicy = true
    /// In characters as a person counts them.
    public var minLength: UInt32 = 8
    public var requireDigit = false
    public var requireLower = false
    public var requireUpper = false
    public var requireSpecial = false
    /// How many of the groups digit, lower, upper and special.
    public var minCharacterGroups: UInt32 = 0
    /// With it the five keys above do not count.
    public var digitsOnly = false
    /// In scalars; 0 is no rule.
    public var minUniqueCharacters: UInt32 = 0
    private var forbidSequencesWritten: Bool?
    public var rules = RuleChoice.all
    /// The passcode's age at which a change is demanded; 0 is never.
    public var expireDays: UInt32 = 0
    public var historyCount: UInt32 = 0
    /// The number of wrong own tries that is the limit; 0 is no limit.
    public var retryLimit: UInt32 = 0
    public var onRetryLimit = OnRetryLimit.erase
    /// The wrong tries in a row after which the next has to wait; 0 is never.
    public var throttleAfter: UInt32 = 3
    /// Seconds, as all times here.
    public var throttleMax: UInt32 = 15 * 60
    public var localServices = ServiceList(names: ServiceList.local)
    public var passcodeServices = ServiceList(names: ServiceList.lockers, withLocal: true)
    public var unlockServices = ServiceList(
        names: ["login", "sshd", "gdm-password", "lightdm", "sddm", "greetd"] + ServiceList.lockers)
    public var conversingServices = ServiceList(
        names: ["login", "su", "su-l", "sudo", "sudo-i", "gdm-password", "lightdm"])
    public var allowNoPasscode = true
    public var noPasscodeByDefault = false
    public var allowRecoveryKey = true
    /// 0 is never.
    public var lockTimeout: UInt32 = 0
    public var lockOnBackground = LockOnBackground.immediate
    /// 0 is never.
    public var idleTimeout: UInt32 = 0
    /// 0 is not at all.
    public var holdMax: UInt32 = 8 * 3600
    /// How long a lock that idleness brought may still be taken back.
    public var lockGrace: UInt32 = 5
    /// How long a finger opens a store again that was locked with the screen.
    public var fingerprintAfterLock = Stay.time(12 * 3600)
    public var loginUnits = LoginUnits.usual
    /// Bytes that all stores of one person may take together; 0 is no limit.
    public var storeQuota: UInt64 = 256 << 20
    public var allowFingerprint = true
    public var fingerprintFirstUnlock = false
    public var fingerprintReaders = FingerprintReaders.internal
    public var fingerprintMaxFailures: UInt32 = 5
    /// 0 is never.
    public var passcodeEvery: UInt32 = 0
    public var changeOnUpdate = ChangeOnUpdate.always
    public var showReset = true
    public var showCancel = false
    public var onboard = Onboard.silent
    /// Bytes.
    public var derivationMemory: UInt64 = 64 << 20
    public var derivationPasses: UInt32 = 3
    /// The sections that `rules` names, in the order of the files.
    public var customRules: [CustomRule] = []
    /// Written in sections of their own: `PolicyBook.rules(ofApp:for:)` has an application's.
    var app = AppRules()

    /// A store of a person who has not chosen begins without a passcode.
    public var startsWithoutPasscode: Bool { allowNoPasscode && noPasscodeByDefault }

    /// On by default with DigitsOnly: a PIN must not be 111111 or 123456 unless the administrator
    /// allows it.
    public var forbidSequences: Bool {
        get { forbidSequencesWritten ?? digitsOnly }
        set { forbidSequencesWritten = newValue }
    }

    /// The values of the default policy. They hold where its file is missing.
    public static let builtIn = Policy()

    private init() {}
}

extension Policy {
    /// What a passcode is judged by, as text: the rule keys, and the tests of the custom rules that
    /// apply. A passcode that was judged by the same text need not be judged again.
    public var ruleText: [UInt8] { ruleText(of: PolicyKey.all) }

    func ruleText(of keys: [PolicyKey]) -> [UInt8] {
        var lines: [String] = []
        for key in keys where key.use == .rule {
            let value = key.kind.text(self)
            // A rule key of a later release is left out until it is written: otherwise the release
            // that adds it would demand a new passcode of everybody.
            guard Self.firstRuleKeys.contains(key.name) || value != key.kind.text(.builtIn) else {
                continue
            }
            lines.append("\(key.name)=\(value)")
        }
        // The display text of a rule and its place in the files change nothing about a passcode.
        for rule in customRules.sorted(by: { $0.name < $1.name }) {
            switch rule.test {
            case .matches(let pattern): lines.append("\(rule.name) matches \(pattern)")
            case .rejects(let pattern): lines.append("\(rule.name) rejects \(pattern)")
            case .dictionary: lines.append("\(rule.name) dictionary")
            }
        }
        return Array(lines.joined(separator: "\n").utf8)
    }

    /// These names are in the digests of all stores since the first release: none may be added or
    /// removed.
    private static let firstRuleKeys: Set = [
        "MinLength", "RequireDigit", "RequireLower", "RequireUpper", "RequireSpecial",
        "MinCharacterGroups", "DigitsOnly", "MinUniqueCharacters", "ForbidSequences",
    ]

    var switchedOn: Policy {
        var policy = self
        policy.enabled = true
        policy.useDefaultPolicy = true
        return policy
    }
}
