/// Judges how a service uses AppVault, from all ways that there are through its stacks.
package struct PamService {
    /// The ways to use AppVault at a login.
    package enum Way: String, CaseIterable, Hashable {
        /// The passcode follows the login password.
        case follows = "a"
        /// The store has a passcode of its own.
        case own = "b"
        case finger = "c"
    }

    /// What is known of the machine.
    package struct Surroundings {
        var passcodeServices: Set<String>
        var unlockServices: Set<String>
        /// A finger may open a store, and there is a reader.
        var hasFingers: Bool
        /// nil if the file of the line's module exists; otherwise its path.
        var missing: (PamLine) -> String?

        package init(
            passcodeServices: Set<String>, unlockServices: Set<String>, hasFingers: Bool = false,
            missing: @escaping (PamLine) -> String? = { _ in nil }
        ) {
            self.passcodeServices = passcodeServices
            self.unlockServices = unlockServices
            self.hasFingers = hasFingers
            self.missing = missing
        }
    }

    let name: String
    let configuration: PamConfiguration
    let surroundings: Surroundings

    package init(name: String, configuration: PamConfiguration, surroundings: Surroundings) {
        self.name = name
        self.configuration = configuration
        self.surroundings = surroundings
    }

    package struct Judgement: Equatable {
        package var ways: Set<Way> = []
        package var faults: [PamFault] = []
    }

    /// nil if AppVault has no line here, or if libpam would refuse to start the service.
    package func judge() -> Judgement? {
        var stacks: [PamLine.Kind: PamStack] = [:]
        for kind in PamLine.Kind.allCases {
            guard let stack = configuration.stack(name, kind) else { return nil }
            stacks[kind] = stack
        }
        let ours = PamLine.Kind.allCases.flatMap { stacks[$0]?.lines.filter(\.isOurs) ?? [] }
        guard !ours.isEmpty else { return nil }
        var judgement = Judgement()
        for line in ours {
            guard let path = surroundings.missing(line) else { continue }
            judgement.add(
                .warning, "\(line.place): the module is not there: \(path)",
                mend: "`apt install --reinstall libpam-appvault`, or take the line out")
        }
        if let auth = stacks[.auth] { self.auth(auth, &judgement) }
        if let session = stacks[.session], !judgement.ways.isEmpty {
            self.session(session, &judgement)
        }
        if let account = stacks[.account] { self.account(account, &judgement) }
        if let password = stacks[.password] { self.password(password, &judgement) }
        return judgement
    }

    // MARK: auth

    private func auth(_ stack: PamStack, _ judgement: inout Judgement) {
        let ours = stack.lines.filter(\.isOurs)
        guard let first = ours.first else { return }
        let missing = Set(ours.filter { surroundings.missing($0) != nil })
        let reach = PamReach(stack: stack)
        guard let present = reach.ends(.init(ours: .authInfoUnavailable, missing: missing)),
            let away = reach.ends(.init(ours: .authInfoUnavailable)),
            let ignored = reach.ends(.init(ours: .ignore)),
            let alone = reach.ends(.init(ours: .success, others: .neverProve))
        else {
            judgement.add(.unseen, "its auth stack has more ways than can be gone through")
            return
        }
        let asking = ours.filter { PamRole($0) == .asks }
        let others = stack.lines.filter { [.proves, .unknown].contains(PamRole($0)) }
        guard !others.isEmpty else {
            judgement.add(
                .broken,
                "\(first.place): AppVault alone would have to authenticate here; without it nobody gets in",
                mend: "put `auth required pam_unix.so` behind it, as in pam_appvault(8)")
            return
        }
        if !present.admits {
            refused(stack, !missing.isEmpty, !asking.isEmpty, first, &judgement)
        } else if !present.contains(where: { $0.result == .success && $0.isProven }) {
            let names = Set(others.filter { PamRole($0) == .unknown }.map(\.name)).sorted()
            judgement.add(
                .warning,
                "whether anybody gets in without AppVault rests on \(names.joined(separator: ", ")), which doctor does not know"
            )
        }
        door(stack, missing, first, &judgement)
        asks(asking, stack, away, alone, &judgement)
        unlocks(stack, away.union(ignored).filter(\.isLogin), &judgement)
    }

    /// Finds out why nobody gets in while the daemon does not answer or the module's file is
    /// missing.
    private func refused(
        _ stack: PamStack, _ isMissing: Bool, _ asks: Bool, _ first: PamLine,
        _ judgement: inout Judgement
    ) {
        func admits(_ stack: PamStack, _ ours: PamResult) -> Bool {
            PamReach(stack: stack).ends(.init(ours: ours))?.admits == true
        }
        if isMissing, [.success, .authInfoUnavailable].contains(where: { admits(stack, $0) }) {
            judgement.add(
                .broken, "\(first.place): its module is missing, and without it nobody gets in",
                mend: "`apt install --reinstall libpam-appvault`, or take the line out")
        } else if asks, admits(stack, .success) {
            let storeless = admits(stack, .userUnknown) ? "" : ", and who has no store never does"
            judgement.add(
                .warning,
                "\(first.place): AppVault is a required step; where it is away or broken nobody gets in\(storeless)",
                mend: "keep another way in for root")
        } else if admits(stack.without(\.isOurs), .ignore) {
            judgement.add(
                .broken,
                "\(first.place): with this line nobody gets in: its control is wrong, or a jump over it",
                mend: "take the line out; pam_appvault(8) shows where it belongs")
        }
    }

    /// Finds out whether a line of AppVault's makes the stack let people in without any proof.
    private func door(
        _ stack: PamStack, _ missing: Set<PamLine>, _ first: PamLine, _ judgement: inout Judgement
    ) {
        func isOpen(_ stack: PamStack) -> Bool {
            [PamResult.authError, .authInfoUnavailable, .ignore, .userUnknown].contains { result in
                let ends = PamReach(stack: stack).ends(
                    .init(ours: result, others: .neverProve, conditions: .never, missing: missing))
                return ends?.contains { $0.result == .success } == true
            }
        }
        guard isOpen(stack), !isOpen(stack.without { $0.isOurs }) || !isOpen(stack.neutral) else {
            return
        }
        judgement.add(
            .broken, "\(first.place): by this line people get in who have proven nothing",
            mend: "take the line out now; pam_appvault(8) shows where it belongs")
    }

    private func asks(
        _ asking: [PamLine], _ stack: PamStack, _ away: Set<PamReach.End>,
        _ alone: Set<PamReach.End>, _ judgement: inout Judgement
    ) {
        guard let line = asking.first else { return }
        guard surroundings.passcodeServices.contains(name) else { return }
        // A line whose module is missing does nothing.
        let present = asking.filter { surroundings.missing($0) == nil }
        if !present.isEmpty { judgement.ways.insert(.own) }
        if let present = present.first { keyrings(present, stack, &judgement) }
        if surroundings.hasFingers, present.contains(where: { !$0.has("fingerprint=off") }) {
            judgement.ways.insert(.finger)
        }
        guard let together = asking.first(where: { $0.has("or_password") }) else { return }
        let places = stack.steps.indices.filter { stack.steps[$0].line == together }
        if away.contains(where: { !$0.askedAfterProof.isDisjoint(with: places) }) {
            judgement.add(
                .warning,
                "\(together.place): or_password stands behind the module whose password it means",
                mend: "move it in front of pam_unix, as in pam_appvault(8)")
            return
        }
        if !alone.contains(where: { $0.result == .success }) {
            judgement.add(
                .warning,
                "\(line.place): a right passcode alone does not log in: a jump counts wrong, or the line only counts beside others",
                mend:
                    "as in pam_appvault(8): success=N jumps over the modules behind it and pam_deny"
            )
        }
        let wrong = PamReach(stack: stack).ends(.init(ours: .authError))
        if wrong?.admits == false, away.admits {
            judgement.add(
                .warning,
                "\(together.place): a login password that is typed at AppVault's prompt never reaches pam_unix",
                mend: "`[success=N default=ignore]` as its control, as in pam_appvault(8)")
        }
        if let asking = stack.lines.drop(while: { $0 != together }).first(where: {
            $0.name == "pam_unix.so" && !$0.has("try_first_pass") && !$0.has("use_first_pass")
        }) {
            judgement.add(
                .warning,
                "\(asking.place): pam_unix asks once more for what was typed at AppVault's prompt",
                mend: "add try_first_pass to the line")
        }
        if !stack.lines.contains(where: { $0.isOurs && $0.has("unlock") }) {
            judgement.add(
                .warning,
                "\(together.place): no `unlock` line behind it: a login password typed there counts as a wrong passcode",
                mend: "add `auth optional pam_appvault.so unlock` behind pam_unix")
        }
    }

    /// A passcode of the store's own is not the login password, which other modules wait for.
    private func keyrings(
        _ line: PamLine, _ stack: PamStack, _ judgement: inout Judgement
    ) {
        let reached = stack.way(proving: line).reached.sorted()
        let handsOn = "`set_authtok` behind \(line.place) for people with a finger"
        let typed = "others type the login password at AppVault's prompt"
        for other in reached.compactMap({ stack.steps[$0].line })
        where surroundings.missing(other) == nil {
            switch other.name {
            case "pam_mount.so" where !other.has("disable_interactive"):
                judgement.add(
                    .warning,
                    "\(other.place): after a passcode of its own pam_mount asks for the login password",
                    mend: "add disable_interactive to the line; \(typed)")
            case "pam_kwallet.so" where !line.has("set_authtok"),
                "pam_kwallet5.so" where !line.has("set_authtok"):
                judgement.add(
                    .warning,
                    "\(other.place): after a passcode of its own KDE's wallet asks for the login password",
                    mend: "\(handsOn); \(typed)")
            case "pam_gnome_keyring.so" where !line.has("set_authtok"):
                judgement.add(
                    .warning,
                    "\(other.place): after a passcode of its own GNOME's keyring stays shut",
                    mend: "\(handsOn); \(typed)")
            default: break
            }
        }
    }

    private func unlocks(
        _ stack: PamStack, _ proven: Set<PamReach.End>, _ judgement: inout Judgement
    ) {
        let places = stack.steps.indices.filter {
            stack.steps[$0].line.map { PamRole($0) } == .unlocks
        }
        guard let place = places.first, let line = stack.steps[place].line else { return }
        if proven.contains(where: { !$0.askedAfterProof.isDisjoint(with: places) }) {
            if surroundings.unlockServices.contains(name), surroundings.missing(line) == nil {
                judgement.ways.insert(.follows)
            }
        } else if proven.contains(where: { !$0.asked.isDisjoint(with: places) }) {
            judgement.add(
                .warning,
                "\(line.place): it stands in front of what asks for the password, so that there is none yet",
                mend: "move it behind pam_unix, as in pam_appvault(8)")
        } else if !proven.isEmpty {
            judgement.add(
                .warning,
                "\(line.place): a login that succeeds never comes to it: something in front ends the stack or jumps over it",
                mend: "move it to where the others jump to, as in pam_appvault(8)")
        }
    }

    // MARK: the rest

    /// Services that log people in, also on machines without logind.
    private static let logins: Set = [
        "login", "sshd", "gdm-password", "lightdm", "sddm", "greetd",
    ]

    private func session(_ stack: PamStack, _ judgement: inout Judgement) {
        let system = stack.lines.firstIndex { $0.name == "pam_systemd.so" }
        guard let ours = stack.lines.lastIndex(where: \.isOurs) else {
            guard system != nil || Self.logins.contains(name) else { return }
            judgement.add(
                .warning,
                "no session line: a store that a login opened here is shut again after a minute",
                mend: "add `session optional pam_appvault.so` behind pam_systemd")
            return
        }
        if let system, ours < system {
            judgement.add(
                .warning,
                "\(stack.lines[ours].place): the session line stands in front of pam_systemd, which makes the session",
                mend: "move it behind pam_systemd")
        }
    }

    private func account(_ stack: PamStack, _ judgement: inout Judgement) {
        for line in stack.lines where line.isOurs {
            judgement.add(
                .broken,
                "\(line.place): AppVault has no say in `account`, which cron, key logins and root's su run as well",
                mend: "take the line out")
        }
    }

    private func password(_ stack: PamStack, _ judgement: inout Judgement) {
        let lines = stack.lines
        if let rules = lines.firstIndex(where: { PamRole($0) == .judges }),
            !lines[rules].has("always_ask"),
            let unix = lines[(rules + 1)...].first(where: {
                $0.name == "pam_unix.so" && $0.has("use_authtok")
            })
        {
            judgement.add(
                .warning,
                "\(unix.place): with use_authtok behind password_rules nobody without a store can change a password",
                mend: "add always_ask to \(lines[rules].place)")
        }
        let places = stack.steps.indices.filter { index in
            stack.steps[index].line.map { PamRole($0) } == .unlocks
        }
        guard let place = places.first, let line = stack.steps[place].line else { return }
        // If no password can be changed at this service, the store need not learn of it.
        let bare = PamReach(stack: stack.without(\.isOurs))
        guard bare.ends(.init(ours: .ignore, others: .prove))?.admits == true else { return }
        let ways = lines.filter { [.proves, .unknown].contains(PamRole($0)) }
            .map { (changer: $0, way: stack.way(proving: $0)) }
            .filter { $0.way.result == .success }
        let ending = ways.filter { $0.way.reached.isDisjoint(with: places) }
        if ending.count < ways.count {
            for (changer, _) in ending {
                judgement.add(
                    .warning,
                    "\(changer.place): where \(changer.name) changes the password, the stack ends before \(line.place)",
                    mend:
                        "in the place of its control `[success=N default=ignore]`, N leading to AppVault's line"
                )
            }
            return
        }
        let ends = PamReach(stack: stack).ends(.init(ours: .success, others: .prove)) ?? []
        if !ends.contains(where: { $0.isLogin && !$0.askedAfterProof.isDisjoint(with: places) }) {
            judgement.add(
                .warning, "\(line.place): a change of the password never comes to it",
                mend: "move it behind pam_unix, to where that jumps to")
        }
    }

    /// Whether AppVault is told when a password is changed at this service.
    package var followsChanges: Bool {
        configuration.stack(name, .password)?.lines.contains { PamRole($0) == .unlocks } == true
    }
}

extension PamService.Judgement {
    mutating func add(_ severity: PamFault.Severity, _ text: String, mend: String = "") {
        faults.append(PamFault(severity: severity, text: text, mend: mend))
    }
}

extension PamReach.End {
    /// The login succeeds, and a module other than AppVault has authenticated the person, or may
    /// have.
    var isLogin: Bool { result == .success && (isProven || isDoubtful) }
}

extension Set<PamReach.End> {
    var admits: Bool { contains(where: \.isLogin) }
}
