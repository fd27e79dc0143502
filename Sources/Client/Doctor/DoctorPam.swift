import PamStacks
import Policy
import Wire

/// What each service does with AppVault; and if no service uses it, why not.
extension Doctor {
    func pamFindings() -> [Finding] {
        let folder = PamFolder(machine.pamSource, pamFolder)
        let services = folder.services
        guard !services.isEmpty else {
            return [Finding(.pam, .unseen, "there are no PAM services here")]
        }
        let policy = policyInForce
        let surroundings = PamService.Surroundings(
            passcodeServices: Set(services.filter { policy.acts(.passcode, at: Array($0.utf8)) }),
            unlockServices: Set(services.filter { policy.acts(.unlock, at: Array($0.utf8)) }),
            hasFingers: policy.allowFingerprint && daemon.health?.readers.isEmpty == false,
            missing: { folder.missing($0) })
        var findings: [Finding] = []
        var isWired = false
        var follows = false
        for name in services {
            let service = PamService(
                name: name, configuration: folder.configuration, surroundings: surroundings)
            let before = folder.denied
            guard let judgement = service.judge() else {
                let denied = folder.denied.subtracting(before)
                if let path = denied.first {
                    findings.append(
                        Finding(.pam, .unseen, "\(path) can be read by root alone", name: name))
                }
                continue
            }
            if name != "appvault" { isWired = true }
            if judgement.ways.contains(.follows) { follows = true }
            findings += findingsOf(name, judgement, service.followsChanges)
            if name == Self.autologinService { findings += autologinFindings() }
        }
        let passwd = PamService(
            name: "passwd", configuration: folder.configuration, surroundings: surroundings)
        if follows, services.contains("passwd"), !passwd.followsChanges {
            findings.append(
                Finding(
                    .pam, .warning,
                    "no password line: a store that follows the login password falls behind when that is changed",
                    name: "passwd",
                    mend: "add `password optional pam_appvault.so use_authtok` behind pam_unix"))
        }
        return wholeFindings(isWired) + findings
    }

    private func findingsOf(
        _ name: String, _ judgement: PamService.Judgement, _ passesChanges: Bool
    ) -> [Finding] {
        let ways = judgement.ways.sorted { $0.rawValue < $1.rawValue }.map(Self.words)
        var findings = judgement.faults.map { Finding($0, at: name) }
        if !ways.isEmpty || findings.isEmpty {
            findings.insert(
                Finding(
                    .pam, .ok,
                    ways.isEmpty
                        ? (name == "passwd" && passesChanges
                            ? "a store that follows the login password is told of a new one"
                            : "a line is there, and the policy has AppVault do nothing here")
                        : ways.joined(separator: "; "),
                    name: name), at: 0)
        }
        return findings
    }

    private static func words(_ way: PamService.Way) -> String {
        switch way {
        case .follows: "(a) the login password opens the store"
        case .own: "(b) AppVault asks for a passcode of its own"
        case .finger: "(c) a finger will do"
        }
    }

    /// What concerns all services.
    private func wholeFindings(_ isWired: Bool) -> [Finding] {
        guard pamFolder == nil else {
            return isWired
                ? [] : [Finding(.pam, .warning, "no login opens a store", paste: Self.paste)]
        }
        let standing = PamAuthUpdate.standing(machine.pamSource)
        let hasProfile = machine.exists("/usr/share/pam-configs/appvault-unlock")
        if isWired {
            if case .handEdited(let path) = standing, hasProfile {
                return [
                    Finding(
                        .pam, .warning,
                        "\(path) was edited by hand: pam-auth-update changes nothing any more, and an update or a removal of the package leaves AppVault's lines as they are",
                        mend: "take the lines out by hand before `apt remove libpam-appvault`")
                ]
            }
            return []
        }
        guard hasProfile || standing == .absent else {
            return [
                Finding(
                    .pam, .warning, "no login opens a store: the module is not installed",
                    mend: "`apt install libpam-appvault`")
            ]
        }
        return switch standing {
        case .writes:
            [
                Finding(
                    .pam, .warning, "no login opens a store: the profile is not ticked",
                    mend: "`pam-auth-update --enable appvault-unlock`")
            ]
        case .handEdited(let path):
            [
                Finding(
                    .pam, .warning,
                    "no login opens a store: \(path) was edited by hand, so that pam-auth-update changes nothing",
                    mend:
                        "add the lines below; `pam-auth-update --force` would undo what was edited",
                    paste: Self.paste)
            ]
        case .absent:
            [
                Finding(
                    .pam, .warning, "no login opens a store: no service names pam_appvault.so",
                    mend: "add the lines below to what login includes, as in pam_appvault(8)",
                    paste: Self.paste)
            ]
        }
    }

    /// The three lines of the profile "AppVault store unlock", and where they go.
    static let paste = [
        "# common-auth, behind pam_unix and what it jumps to:",
        "auth optional pam_appvault.so unlock",
        "# common-session, behind pam_systemd:",
        "session optional pam_appvault.so",
        "# common-password, behind pam_unix and what it jumps to:",
        "password optional pam_appvault.so use_authtok",
    ]
}

extension Finding {
    init(_ fault: PamFault, at service: String) {
        let state: State =
            switch fault.severity {
            case .warning: .warning
            case .broken: .broken
            case .unseen: .unseen
            }
        self.init(.pam, state, fault.text, name: service, mend: fault.mend)
    }
}
