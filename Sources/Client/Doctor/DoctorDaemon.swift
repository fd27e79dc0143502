import Posix
import Wire

/// The daemon's process, its workers, and the caller's own store.
extension Doctor {
    private func unseen(_ link: Finding.Link) -> [Finding] {
        [Finding(link, .unseen, "only the daemon can tell")]
    }

    func readerFindings() -> [Finding] {
        guard let health = daemon.health else { return unseen(.reader) }
        let mend =
            "`systemctl status appvault-fingerprint.socket` and `journalctl -u appvault-fingerprint` say more"
        switch health.fingerprints {
        case .missing:
            let isInstalled = machine.exists("/usr/libexec/appvault/appvault-fingerprint")
            return [
                isInstalled && !isPrivate
                    ? Finding(
                        .reader, .warning, "nothing listens at the fingerprint worker's socket",
                        mend: "`systemctl enable --now appvault-fingerprint.socket`")
                    : Finding(
                        .reader, .unseen, "the fingerprint worker is not installed",
                        mend: isPrivate
                            ? "" : "`apt install appvault-fingerprint`, where there is a reader")
            ]
        case .fails:
            let reason = String(decoding: health.fingerprintsReason, as: UTF8.self)
            return [
                Finding(.reader, .warning, "the fingerprint worker fails: \(reason)", mend: mend)
            ]
        case .works:
            guard !health.readers.isEmpty else {
                return [
                    Finding(
                        .reader, .ok,
                        "the fingerprint worker answers; it knows no reader on this machine")
                ]
            }
            return health.readers.map(finding)
        }
    }

    private func finding(_ reader: Health.Reader) -> Finding {
        let name = String(decoding: reader.name, as: UTF8.self)
        let driver = String(decoding: reader.driver, as: UTF8.self)
        let place = reader.isInternal ? "internal" : "external"
        let words = "\(name), driver \(driver), \(place)"
        let policy = policyInForce
        guard !reader.isInternal, policy.allowFingerprint, policy.fingerprintReaders == .internal
        else { return Finding(.reader, .ok, words) }
        return Finding(
            .reader, .warning, "\(words): not used, because it is not known to be built in",
            mend: "if it is built in, a udev rule with ENV{ID_INTEGRATION}=\"internal\" says so; "
                + "FingerprintReaders=any in the policy allows every reader")
    }

    func ruleFindings() -> [Finding] {
        guard let health = daemon.health else { return unseen(.rules) }
        // Only the administrator's rules need the rules worker.
        let rules = daemon.policy?.rules.count ?? 0
        let need =
            rules == 0
            ? "; no rule needs it" : ": no new passcode can be set (rules that need it: \(rules))"
        switch health.rules {
        case .works: return [Finding(.rules, .ok, "judges")]
        case .missing:
            return [
                Finding(
                    .rules, rules == 0 ? (isPrivate ? .unseen : .warning) : .broken,
                    "the rules worker is not running\(need)",
                    mend: isPrivate
                        ? "`appvault-rules --listen PATH`, and --rules-socket PATH"
                        : "`systemctl enable --now appvault-rules.socket`")
            ]
        case .fails:
            return [
                Finding(
                    .rules, rules == 0 ? .warning : .broken,
                    "the rules worker fails (\(String(decoding: health.rulesReason, as: UTF8.self)))\(need)",
                    mend: "`journalctl -u 'appvault-rules@*'` says more")
            ]
        }
    }

    // MARK: the process

    func sandboxFindings() -> [Finding] {
        guard let health = daemon.health else { return unseen(.sandbox) }
        guard let status = machine.text("/proc/\(health.pid)/status") else {
            return [Finding(.sandbox, .unseen, "process \(health.pid) cannot be seen from here")]
        }
        var fields: [Substring: String] = [:]
        for line in status.split(separator: "\n") {
            guard let colon = line.firstIndex(of: ":") else { continue }
            fields[line[..<colon]] =
                line[line.index(after: colon)...].split { $0 == " " || $0 == "\t" }
                .first.map(String.init) ?? ""
        }
        var findings = unitFindings()
        let mend =
            "`systemctl cat appvaultd` shows what was changed; `systemctl revert appvaultd` undoes it"
        func add(_ state: Finding.State, _ text: String) {
            findings.append(Finding(.sandbox, state, text, mend: isPrivate ? "" : mend))
        }
        if fields["NoNewPrivs"] != "1" {
            add(.broken, "the daemon could gain privileges (NoNewPrivs is not set)")
        }
        if fields["Uid"] == "0", !isPrivate { add(.broken, "the daemon runs as root") }
        if let effective = fields["CapEff"], effective.contains(where: { $0 != "0" }), !isPrivate {
            add(.warning, "the daemon has capabilities: \(effective)")
        }
        if fields["Seccomp"] != "2" {
            add(
                isPrivate ? .unseen : .warning,
                isPrivate
                    ? "a private daemon has no unit that filters its system calls"
                    : "the daemon's system calls are not filtered")
        }
        guard findings.isEmpty else { return findings }
        return [Finding(.sandbox, .ok, "no new privileges, no capability, system calls filtered")]
    }

    /// Settings of the unit that take away what the daemon needs to tell people apart.
    private func unitFindings() -> [Finding] {
        guard !isPrivate else { return [] }
        let folders = [
            "/etc/systemd/system", "/run/systemd/system", "/usr/lib/systemd/system",
            "/lib/systemd/system",
        ]
        var files = folders.map { "\($0)/appvaultd.service" }
        for folder in folders {
            let dropIns = "\(folder)/appvaultd.service.d"
            files += machine.names(dropIns).filter { $0.hasSuffix(".conf") }.map {
                "\(dropIns)/\($0)"
            }
        }
        return files.flatMap { file -> [Finding] in
            guard let text = machine.text(file) else { return [] }
            return text.split(separator: "\n").enumerated().compactMap { number, line in
                let parts = line.split(separator: "=", maxSplits: 1).map {
                    $0.trimmingPrefix { $0.isWhitespace }
                }
                guard parts.count == 2 else { return nil }
                let why: String
                switch (String(parts[0]), parts[1].lowercased()) {
                case ("PrivateUsers", let value)
                where !["no", "false", "off", "0", ""].contains(value):
                    why = "the daemon cannot tell one user from another"
                case ("ProtectProc", let value) where !["default", ""].contains(value),
                    ("ProcSubset", let value) where !["all", ""].contains(value):
                    why = "the daemon cannot tell who its peers are"
                default: return nil
                }
                return Finding(
                    .sandbox, .broken, "\(file):\(number + 1): by \(line) \(why)",
                    mend:
                        "take the line out, then `systemctl daemon-reload && systemctl restart appvaultd`"
                )
            }
        }
    }

    func memoryFindings() -> [Finding] {
        guard let health = daemon.health else { return unseen(.memory) }
        switch health.memory {
        case .locked: return [Finding(.memory, .ok, "secrets are locked in memory")]
        case .unlocked:
            return [
                Finding(
                    .memory, .warning,
                    "not every secret could be locked in memory: one may reach a swap",
                    mend: isPrivate
                        ? "`ulimit -l` before it starts"
                        : "LimitMEMLOCK= in `systemctl edit appvaultd`")
            ]
        }
    }

    func clockFindings() -> [Finding] {
        guard let health = daemon.health else { return unseen(.clock) }
        switch health.clock {
        case .believed:
            return [
                Finding(.clock, .ok, String(decoding: ToolIO.localTime(machine.now), as: UTF8.self))
            ]
        case .beforeBuild:
            return [
                Finding(
                    .clock, .warning,
                    "the clock is before this release was made: no passcode expires by it",
                    mend: "`timedatectl set-ntp true`")
            ]
        case .jumped:
            return [
                Finding(
                    .clock, .warning,
                    "the clock is more than a year ahead of what was last known: no passcode expires by it",
                    mend: "`timedatectl set-ntp true`, or wait for the next update if it is right")
            ]
        }
    }

    // MARK: the caller's own store

    func storeFindings() -> [Finding] {
        guard let store = daemon.store else { return unseen(.store) }
        let trouble = String(decoding: store.trouble, as: UTF8.self)
        let advice = String(decoding: store.advice, as: UTF8.self)
        switch store.lock {
        case .absent:
            return [Finding(.store, .unseen, "there is none yet", mend: "`appvault create`")]
        case .erased:
            return [
                Finding(
                    .store, .warning, "erased: \(trouble)",
                    mend: "`appvault create` makes a new one")
            ]
        case .barred: return [Finding(.store, .warning, trouble, mend: advice)]
        case .retryLocked: return [Finding(.store, .broken, "locked: \(trouble)", mend: advice)]
        case .damaged, .ownerChanged: return [Finding(.store, .broken, trouble, mend: advice)]
        case .locked, .unlocked:
            let state = store.lock == .locked ? "locked" : "open"
            // A problem of the policy is reported with the policy.
            if !trouble.isEmpty, isPolicySound {
                return [Finding(.store, .warning, "\(state); \(trouble)", mend: advice)]
            }
            if store.passcode == .none {
                return [
                    Finding(
                        .store, .warning,
                        "\(state); it opens by itself, and whoever has the disk can read it",
                        mend: "`appvault passwd --on`")
                ]
            }
            if store.meetsRules == .no {
                return [
                    Finding(
                        .store, .warning,
                        "\(state); it follows a login password that falls short of this machine's rules",
                        mend: "`passwd`")
                ]
            }
            if !store.pending.isEmpty {
                return [
                    Finding(
                        .store, .warning, "\(state); something is due before it opens",
                        mend: "`appvault unlock`")
                ]
            }
            return [Finding(.store, .ok, state)]
        }
    }

    private var isPolicySound: Bool {
        guard let policy = daemon.policy, policy.problem.isEmpty else { return false }
        switch policy.mode {
        case .administrators, .standard: return true
        case .noPasscodeMode: return false
        }
    }
}
