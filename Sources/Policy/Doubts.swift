/// Warnings: keys that have no effect beside others, or hardly the effect that was meant.
struct Doubts {
    private(set) var found: [PolicyProblem] = []

    // These three belong to the section that is being looked at.
    private var settings: [Setting] = []
    private var own: [Setting] = []
    private var policy = Policy.builtIn

    init(_ layer: PolicyLayer) {
        for (scope, own) in layer.sections {
            settings = layer.settings(for: scope.subject ?? PolicySubject())
            self.own = own
            policy = layer.policy(settings)
            lookAtPasscodes()
            lookAtTries()
            lookAtServices()
            lookAtSwitches()
            lookAtLocking()
            lookAtUnused()
        }
    }

    private mutating func lookAtPasscodes() {
        if policy.digitsOnly {
            let aside = [
                ("RequireDigit", policy.requireDigit), ("RequireLower", policy.requireLower),
                ("RequireUpper", policy.requireUpper), ("RequireSpecial", policy.requireSpecial),
                ("MinCharacterGroups", policy.minCharacterGroups > 0),
            ]
            for (key, isSet) in aside where isSet {
                doubt(key, with: ["DigitsOnly"], "DigitsOnly=yes sets it aside", "one of the two")
            }
        }
        if policy.digitsOnly, policy.minUniqueCharacters > 10 {
            doubt(
                "MinUniqueCharacters", with: ["DigitsOnly"],
                "more than the ten digits of any script", "at most 10 where DigitsOnly=yes")
        }
        if policy.noPasscodeByDefault, !policy.allowNoPasscode {
            doubt(
                "NoPasscodeByDefault", with: ["AllowNoPasscode"],
                "no effect with AllowNoPasscode=no", "AllowNoPasscode=yes, or no line with this key"
            )
        }
    }

    private mutating func lookAtTries() {
        // An administrator who writes what happens at the limit, but no limit, believes that there
        // is one.
        if policy.retryLimit == 0, !isWritten("RetryLimit") || policy.onRetryLimit != .erase {
            doubt(
                "OnRetryLimit", with: ["RetryLimit"], "no effect without a limit",
                "RetryLimit=N, or no line with this key")
        }
        if policy.retryLimit > 0, policy.onRetryLimit == .lock, !policy.allowRecoveryKey {
            doubt(
                "OnRetryLimit", with: ["RetryLimit", "AllowRecoveryKey"],
                "without recovery keys only root opens a store again that was locked",
                "AllowRecoveryKey=yes, if people are to open it")
        }
        if policy.throttleAfter == 0 {
            doubt(
                "ThrottleMax", with: ["ThrottleAfter"], "no effect with ThrottleAfter=0",
                "ThrottleAfter=N, or no line with this key")
        }
        if policy.throttleAfter == 0, policy.retryLimit > 0, policy.onRetryLimit == .erase {
            doubt(
                "ThrottleAfter", with: ["RetryLimit", "OnRetryLimit"],
                "any passer-by erases a store within seconds",
                "ThrottleAfter=N, or OnRetryLimit=lock")
        }
    }

    private mutating func lookAtServices() {
        let lists = [
            ("LocalServices", policy.localServices, "no try is ever the person's own"),
            ("PasscodeServices", policy.passcodeServices, "nobody is asked for a passcode"),
            ("UnlockServices", policy.unlockServices, "no login password opens a store"),
            ("ConversingServices", policy.conversingServices, "no change runs inside a login"),
        ]
        for (key, list, what) in lists {
            let isEmpty =
                list.names.isEmpty && (!list.withLocal || policy.localServices.names.isEmpty)
            if isEmpty { doubt(key, "the list is empty: \(what)", "PAM service names") }
            if let twice = list.names.first(where: { name in list.names.count { $0 == name } > 1 })
            {
                doubt(key, "\(quoted(Array(twice.utf8))) stands twice", "each name once")
            }
        }
    }

    private mutating func lookAtSwitches() {
        if policy.enabled, !policy.useDefaultPolicy {
            doubt(
                "UseDefaultPolicy", with: ["Enabled"], "no effect with Enabled=yes",
                "no line with this key")
        }
        if !policy.enabled, !policy.useDefaultPolicy {
            doubt(
                "UseDefaultPolicy", with: ["Enabled"],
                "with Enabled=no there are no passcodes at all", "UseDefaultPolicy=yes")
        }
    }

    private mutating func lookAtLocking() {
        let isTimed = policy.lockOnBackground == .timeout
        if policy.lockTimeout > 0, !isTimed {
            doubt(
                "LockTimeout", with: ["LockOnBackground"],
                "no effect without LockOnBackground=timeout",
                "LockOnBackground=timeout, or no line with this key")
        }
        if policy.lockTimeout == 0, isTimed {
            doubt(
                "LockOnBackground", with: ["LockTimeout"], "without LockTimeout it never locks",
                "LockTimeout=TIME, or LockOnBackground=never")
        }
        if policy.storeQuota > 0, policy.storeQuota < 1 << 20 {
            doubt(
                "StoreQuota", "an empty store alone takes about 200 KiB",
                "1MiB or more, or 0 (no limit)")
        }
        if policy.fingerprintFirstUnlock {
            doubt(
                "FingerprintFirstUnlock", "it needs a TPM, which this release does not use",
                "FingerprintFirstUnlock=no")
        }
    }

    private mutating func lookAtUnused() {
        for setting in own {
            let key = PolicyKey.all[setting.key]
            // A key that is written with its default value changes nothing, so there is nothing to
            // warn of.
            guard key.use == .notActedOn, setting.policy != .builtIn else { continue }
            doubt(
                key.name, "not acted on yet by this release", "known, and without an effect so far")
        }
    }

    private func isWritten(_ key: String) -> Bool {
        settings.contains { PolicyKey.all[$0.key].name == key }
    }

    // Puts the warning at the line of the key, if it has one in this section. Only the section that
    // sets one of these keys gets the warning, and not again the sections that inherit it. Where the
    // keys stand in several files, the last of these made the contradiction.
    private mutating func doubt(
        _ key: String, with others: [String] = [], _ wrong: String, _ right: String
    ) {
        let places = ([key] + others).compactMap { name in
            own.first { PolicyKey.all[$0.key].name == name }
        }
        let last = places.map { $0.order >> 32 }.max()
        guard isWritten(key), let place = places.first(where: { $0.order >> 32 == last }) else {
            return
        }
        found.append(
            PolicyProblem(
                .warning, file: place.file, line: place.line, key: key, wrong: wrong, right: right))
    }
}
