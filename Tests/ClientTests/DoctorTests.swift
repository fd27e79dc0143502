import PamStacks
import Posix
import Testing
import Wire

@testable import Client

/// A machine that is only files in a dictionary.
struct FakeMachine {
    var files: [String: String] = [:]
    var facts: [String: FileFacts] = [
        "/run/appvault/socket": FileFacts(kind: .socket, owner: 0, mode: 0o666, size: 0),
        "/run/appvault/root.socket": FileFacts(kind: .socket, owner: 0, mode: 0o600, size: 0),
        "/run/systemd/system": FileFacts(kind: .folder, owner: 0, mode: 0o755, size: 0),
        "/var/lib/appvault": FileFacts(kind: .folder, owner: 990, mode: 0o700, size: 0),
        "/usr/lib/x86_64-linux-gnu/security/pam_appvault.so": FileFacts(
            kind: .regular, owner: 0, mode: 0o644, size: 1),
        "/usr/lib/aarch64-linux-gnu/security/pam_appvault.so": FileFacts(
            kind: .regular, owner: 0, mode: 0o644, size: 1),
    ]
    var accounts: [String: UInt32] = ["_appvault": 990]
    var space: FreeSpace? = FreeSpace(bytes: 9 << 30, isReadOnly: false)
    var denied: Set<String> = []
    var uid: UInt32 = 0
    var desktop = Doctor.Desktop()

    static let status =
        "Name:\tappvaultd\nUid:\t990\t990\t990\t990\nCapEff:\t0000000000000000\n"
        + "NoNewPrivs:\t1\nSeccomp:\t2\n"

    init() {
        files["/proc/812/status"] = Self.status
        files["/proc/mounts"] = "proc /proc proc rw,nosuid,relatime 0 0\n"
        files["/run/systemd/seats/seat0"] = "IS_SEAT0=1\n"
        sitsDown("alice", 1000, running: "/usr/bin/gnome-shell")
        keepsSecrets()
        files["/usr/sbin/pam-auth-update"] = ""
        files["/usr/share/pam-configs/appvault-unlock"] = ""
        let managed = CommonFiles.managed(["optional pam_appvault.so unlock"])
        for type in PamAuthUpdate.types {
            files["/etc/pam.d/common-\(type)"] = CommonFiles.managed([], type).text
            files["/var/lib/pam/\(type)"] = CommonFiles.managed([], type).saved
        }
        files["/etc/pam.d/common-auth"] = managed.text
        files["/var/lib/pam/auth"] = managed.saved
        let session = CommonFiles.managed(["optional pam_appvault.so"], "session")
        files["/etc/pam.d/common-session"] = session.text
        files["/var/lib/pam/session"] = session.saved
        files["/etc/pam.d/login"] =
            "@include common-auth\n@include common-account\n@include common-session\n"
    }

    /// The package for desktops is installed, and its program has the name.
    mutating func keepsSecrets() {
        files["/usr/libexec/appvault/appvault-secrets"] = ""
        files["/usr/share/dbus-1/services/org.freedesktop.secrets.service"] =
            "[D-BUS Service]\nExec=/usr/libexec/appvault/appvault-secrets\n"
        desktop.dataHome = "/srv/alice/.local/share"
        onTheBus("/usr/libexec/appvault/appvault-secrets")
    }

    /// These programs have the name or wait for it, processes 3000 and so on.
    mutating func onTheBus(_ programs: String...) {
        let processes = programs.indices.map { UInt32(3_000 + $0) }
        for (process, program) in zip(processes, programs) {
            files["/proc/\(process)/cmdline"] =
                program.split(separator: " ").map { $0 + "\0" }.joined()
        }
        desktop.owners = .processes(processes)
    }

    /// A person has a graphical session, and these programs run for them, with their arguments.
    mutating func sitsDown(_ name: String, _ uid: UInt32, running commands: String...) {
        files["/run/systemd/sessions/\(uid)"] =
            "UID=\(uid)\nUSER=\(name)\nTYPE=x11\nCLASS=user\n"
        for (number, command) in commands.enumerated() {
            let process = "/proc/\(Int(uid) + number)"
            facts[process] = FileFacts(kind: .folder, owner: uid, mode: 0o555, size: 0)
            files[process] = ""
            files[process + "/cmdline"] = command.split(separator: " ").map { $0 + "\0" }.joined()
        }
    }

    var machine: Machine {
        func seen<Value>(_ path: String, _ value: Value?) -> Machine.Seen<Value> {
            if denied.contains(path) { return .denied }
            return value.map { .found($0) } ?? .missing
        }
        return Machine(
            uid: uid, now: 1_800_000_000,
            facts: { path in
                seen(
                    path,
                    facts[path]
                        ?? files[path].map {
                            FileFacts(kind: .regular, owner: 0, mode: 0o644, size: $0.utf8.count)
                        })
            },
            contents: { path in seen(path, files[path].map { Array($0.utf8) }) },
            names: { folder in
                files.keys.filter { $0.hasPrefix(folder + "/") }
                    .map { String($0.dropFirst(folder.count + 1)) }.filter { !$0.contains("/") }
                    .sorted()
            },
            space: { _ in space },
            account: { name in accounts[name].map { .uid($0) } ?? .missing })
    }

    static var daemon: Doctor.Daemon {
        var health = Health(
            pid: 812, uid: 990, stateFolder: Array("/var/lib/appvault".utf8),
            configFolder: Array("/etc/appvault".utf8))
        health.memory = .locked
        health.machineKey = .good
        health.rules = .works
        health.fingerprints = .works
        var daemon = Doctor.Daemon()
        daemon.software = Array(ThisRelease.text.utf8)
        daemon.health = health
        daemon.policy = PolicyValues(mode: .standard, problem: [], values: [], rules: [])
        daemon.stores = [Doctor.KnownStore(entry: store("default", of: "alice", 1000))]
        return daemon
    }

    static func store(
        _ name: String, of owner: String, _ uid: UInt32, _ kind: StoreKind = .own
    ) -> StoreList.Entry {
        var entry = StoreList.Entry()
        entry.name = Array(name.utf8)
        entry.owner = Subject(name: Array(owner.utf8), uid: uid)
        entry.kind = kind
        return entry
    }

    func findings(
        _ daemon: Doctor.Daemon = Self.daemon, socket: String = "/run/appvault/socket"
    ) -> [Finding] {
        Doctor(
            machine: machine, daemon: daemon, desktop: desktop, socket: socket, pamFolder: nil
        ).findings()
    }

    func found(
        _ link: Finding.Link, _ daemon: Doctor.Daemon = Self.daemon
    ) -> [(state: Finding.State, text: String)] {
        findings(daemon).filter { $0.link == link }.map { ($0.state, $0.text) }
    }
}

struct DoctorTests {
    @Test("a machine on which all is well has nothing to mend")
    func well() {
        let findings = FakeMachine().findings()
        #expect(findings.allSatisfy { $0.state == .ok || $0.link == .store }, "\(findings)")
        #expect(DoctorView(findings: findings, isRoot: true).exitStatus == .success)
        #expect(Set(findings.map(\.link)) == Set(Finding.Link.allCases))
    }

    @Test("a store's trouble is told before all else of it, and a policy's is the policy's alone")
    func trouble() {
        var daemon = FakeMachine.daemon
        var store = State(lock: .unlocked)
        store.passcode = .none
        store.trouble = Array("a record cannot be read".utf8)
        store.advice = Array("mend it".utf8)
        daemon.store = store
        let own = FakeMachine().found(.store, daemon)
        #expect(own.map(\.text) == ["open; a record cannot be read"])
        daemon.policy = PolicyValues(
            mode: .standard, problem: Array("line 3".utf8), values: [], rules: [])
        let told = FakeMachine().found(.store, daemon)
        #expect(told.count == 1 && !told[0].text.contains("a record"), "\(told)")
        store.trouble = []
        daemon.store = store
        daemon.policy = FakeMachine.daemon.policy
        #expect(FakeMachine().found(.store, daemon)[0].text.contains("it opens by itself"))
    }

    @Test("stores that others open: what is gone, what is due, and who waits for more than a week")
    func stores() {
        var fake = FakeMachine()
        fake.uid = 1000
        var daemon = FakeMachine.daemon
        var orphan = FakeMachine.store("mail", of: "alice", 1000, .follows)
        var team = FakeMachine.store("team", of: "alice", 1000, .shared)
        team.members = 2
        var other = FakeMachine.store("crew", of: "bob", 1001, .shared)
        (other.members, other.role) = (3, .reader)
        func told(_ members: MemberList? = nil, _ others: MemberList? = nil) -> [String] {
            daemon.stores = [
                .init(entry: orphan), .init(entry: team, members: members),
                .init(entry: other, members: others),
            ]
            return fake.found(.stores, daemon).map { "\($0.state): \($0.text)" }
        }
        var waits = MemberList.Entry()
        (waits.isPending, waits.number, waits.addedAt) = (true, 1000, 1_800_000_000 - 8 * 86_400)
        var owns = MemberList.Entry()
        (owns.role, owns.number) = (.owner, 1001)
        let list = MemberList(members: [owns, waits], newKeyIsDue: false)
        let due = MemberList(members: [], newKeyIsDue: true)

        #expect(told().map { $0.prefix(14) } == ["warning: mail:"])
        orphan.parent = Array("default".utf8)
        #expect(told() == ["ok: 3, of which 2 are shared"])
        waits.number = 1002
        let long = MemberList(members: [owns, waits], newKeyIsDue: false)
        waits.number = 1000
        #expect(told(long).map { $0.prefix(38) } == ["warning: team: for more than a week it"])
        #expect(told(nil, list) == ["unseen: bob/crew: you have no access yet"])
        waits.addedAt = 1_800_000_000
        let few = MemberList(members: [owns, waits], newKeyIsDue: false)
        #expect(told(few).map { $0.prefix(32) } == ["unseen: team: you have no access"])
        let gone = MemberList(members: [waits], newKeyIsDue: false)
        #expect(told(gone).map { $0.prefix(38) } == ["warning: team: none of its members has"])
        #expect(told(due, due).first?.hasPrefix("warning: team, bob/crew: somebody was") == true)
        team.lock = .unlocked
        #expect(told(due).first?.hasSuffix("although it is open") == true)
        // Root is told of everybody's.
        fake.uid = 0
        daemon.stores = (1...7).map {
            .init(entry: FakeMachine.store("s\($0)", of: "bob", 1001, .follows))
        }
        #expect(
            fake.found(.stores, daemon)[0].text.hasPrefix(
                "bob/s1, bob/s2, bob/s3, bob/s4, bob/s5, and 2 more: the store"))
    }

    @Test("without a daemon the rest is looked at all the same, and the socket says what to do")
    func noDaemon() {
        var fake = FakeMachine()
        fake.facts["/run/appvault/socket"] = nil
        var daemon = Doctor.Daemon()
        daemon.failure = .unavailable(.notRunning)
        for (unit, mend) in [
            (nil, "apt install appvault"),
            (FileFacts.Kind.regular, "enable --now appvaultd.socket"),
            (.other, "systemctl unmask appvaultd.socket"),
        ] {
            fake.facts["/etc/systemd/system/appvaultd.socket"] = unit.map {
                FileFacts(kind: $0, owner: 0, mode: 0o644, size: 0)
            }
            let findings = fake.findings(daemon)
            #expect(findings.first { $0.link == .socket }?.mend.contains(mend) == true)
            #expect(findings.first { $0.link == .daemon }?.state == .broken)
            #expect(findings.contains { $0.link == .pam && $0.name == "login" && $0.state == .ok })
            #expect(findings.first { $0.link == .state }?.state == .ok)
            #expect(findings.first { $0.link == .clock }?.state == .unseen)
            // A socket that was left behind, with nothing listening at it.
            var left = fake
            left.facts["/run/appvault/socket"] = FakeMachine().facts["/run/appvault/socket"]
            let told = left.findings(daemon).first { $0.link == .daemon }
            #expect(told?.mend.contains(mend) == true)
            #expect(DoctorView(findings: findings, isRoot: true).exitStatus == .refused)
        }
    }

    @Test("root's own socket is for root alone, and logins go without it")
    func rootsSocket() {
        var fake = FakeMachine()
        #expect(fake.found(.socket).map(\.state) == [.ok, .ok])
        fake.facts["/run/appvault/root.socket"] = FileFacts(
            kind: .socket, owner: 0, mode: 0o666, size: 0)
        #expect(fake.found(.socket).map(\.state) == [.ok, .warning])
        #expect(fake.found(.socket)[1].text.contains("mode 0666"))
        fake.facts["/run/appvault/root.socket"] = nil
        #expect(fake.found(.socket).map(\.state) == [.ok, .warning])
        #expect(fake.found(.socket)[1].text.contains("one line"))
    }

    @Test("where nobody says who is at the machine, that is told, and what follows from it")
    func presence() {
        var fake = FakeMachine()
        #expect(fake.found(.presence).map(\.state) == [.ok])
        fake.files["/proc/mounts"] = "proc /proc proc rw,hidepid=invisible 0 0\n"
        #expect(fake.found(.presence)[0].text.contains("hidepid"))
        fake.files["/proc/mounts"] =
            "proc /proc proc rw,hidepid=2 0 0\nproc /proc proc rw,hidepid=2,gid=990 0 0\n"
        #expect(fake.found(.presence).map(\.state) == [.ok])
        fake.files["/run/systemd/seats/seat0"] = nil
        #expect(fake.found(.presence)[0].text.hasPrefix("there is no logind, so AppVault"))
        fake.facts["/run/systemd/system"] = nil
        #expect(fake.found(.presence)[0].text.hasPrefix("there is no systemd, so AppVault"))
        #expect(fake.found(.presence)[0].state == .warning)
        let own = fake.findings(socket: "/run/user/1000/socket")
        #expect(own.filter { $0.link == .presence }.map(\.state) == [.unseen])
    }

    @Test(
        "a locker that tells logind is fine; of others it says what helps",
        arguments: [
            ("/usr/bin/gnome-shell", .ok, "GNOME's lock screen locks"),
            (
                "/usr/bin/python3 /usr/bin/cinnamon-screensaver", .warning,
                "cinnamon-screensaver tells only the session bus"
            ),
            ("mate-screensaver", .warning, "appvault-agent does not run"),
            ("xfce4-screensaver", .warning, "the store stays open"),
            ("cinnamon --replace", .ok, "Cinnamon's lock screen locks"),
            ("xscreensaver -no-splash", .warning, "XScreenSaver tells nobody"),
            ("swayidle -w timeout 300 swaylock", .warning, "swayidle runs a locker"),
            ("xss-lock -- appvault screen -- i3lock -n", .ok, "xss-lock locks the store"),
            ("vim gnome-shell.txt", .unseen, "no screen locker that AppVault knows"),
        ] as [(String, Finding.State, String)])
    func screen(command: String, state: Finding.State, text: String) {
        var machine = FakeMachine()
        machine.sitsDown("alice", 1000, running: command)
        let found = machine.found(.screen)
        #expect(found.map(\.state) == [state], "\(found)")
        #expect(
            found.allSatisfy { $0.text.contains(text) && $0.text.contains("alice") }, "\(found)")
    }

    @Test(
        "a locker that tells only the session bus is fine while the person's own agent runs",
        arguments: [
            "mate-screensaver", "xfce4-screensaver",
            "/usr/bin/python3 /usr/bin/cinnamon-screensaver",
        ])
    func relayed(locker: String) {
        var machine = FakeMachine()
        let agent = "/usr/libexec/appvault/appvault-agent"
        // An older Cinnamon has a locker beside it.
        machine.sitsDown("alice", 1000, running: "cinnamon", locker, agent)
        machine.sitsDown("bob", 2000, running: locker, "vim appvault-agent")
        let found = machine.findings().filter { $0.link == .screen }
        #expect(found.map(\.state) == [.ok, .warning], "\(found)")
        #expect(found[0].text.hasSuffix("locks the store with the screen, through appvault-agent"))
        #expect(found[1].mend == "`systemctl --user start appvault-agent` in bob's session")
    }

    @Test("a person is told of their own screen alone, and root of each")
    func screens() {
        var machine = FakeMachine()
        machine.sitsDown("bob", 2000, running: "light-locker", "bash")
        #expect(machine.found(.screen).map(\.state) == [.ok, .ok])
        machine.uid = 2000
        #expect(
            machine.found(.screen).map(\.text) == [
                "bob: light-locker locks the store with the screen"
            ])
        machine.uid = 3000
        #expect(machine.found(.screen).map(\.state) == [.unseen])
    }

    @Test("a policy that keeps stores open behind the screen needs no locker")
    func neverWithTheScreen() {
        var machine = FakeMachine()
        machine.sitsDown("alice", 1000, running: "i3lock")
        var daemon = FakeMachine.daemon
        daemon.policy?.values = [
            .init(
                key: Array("LockOnBackground".utf8), value: Array("never".utf8), file: [], line: 0,
                actedOn: true)
        ]
        #expect(machine.found(.screen, daemon).map(\.state) == [.ok])
    }

    @Test("an account that is missing breaks the chain")
    func users() {
        var fake = FakeMachine()
        fake.accounts = [:]
        #expect(fake.found(.users).map(\.state) == [.broken])
        fake.facts["/usr/libexec/appvault/appvault-fingerprint"] = FileFacts(
            kind: .regular, owner: 0, mode: 0o755, size: 1)
        fake.accounts = ["_appvault": 990]
        #expect(fake.found(.users).map(\.state) == [.ok, .broken])
    }

    @Test("a state folder of another's, open to others, full or read-only is told")
    func state() {
        func found(_ change: (inout FakeMachine) -> Void) -> [Finding.State] {
            var fake = FakeMachine()
            change(&fake)
            return fake.found(.state).map(\.state)
        }
        let path = "/var/lib/appvault"
        #expect(found { $0.facts[path]!.owner = 0 } == [.broken])
        #expect(found { $0.facts[path]!.mode = 0o755 } == [.warning])
        #expect(found { $0.facts[path]!.mode = 0o500 } == [.broken])
        #expect(found { $0.facts[path]!.kind = .regular } == [.broken])
        #expect(found { $0.facts[path] = nil } == [.broken])
        #expect(found { $0.space = FreeSpace(bytes: 1 << 20, isReadOnly: false) } == [.broken])
        #expect(found { $0.space = FreeSpace(bytes: 64 << 20, isReadOnly: false) } == [.warning])
        #expect(found { $0.space = FreeSpace(bytes: 1 << 40, isReadOnly: true) } == [.broken])
    }

    @Test("what the daemon tells of itself becomes findings")
    func health() {
        func found(
            _ link: Finding.Link, _ change: (inout Health) -> Void
        ) -> [Finding.State] {
            var daemon = FakeMachine.daemon
            change(&daemon.health!)
            return FakeMachine().found(link, daemon).map(\.state)
        }
        #expect(found(.key) { $0.machineKey = .missing } == [.broken])
        #expect(found(.key) { $0.machineKey = .unreadable } == [.broken])
        #expect(found(.key) { $0.machineKey = .none } == [.ok])
        #expect(found(.key) { $0.machineKey = .untold } == [.unseen])
        #expect(
            found(.key) {
                $0.stores = 3
                $0.damaged = 1
            } == [.ok, .broken])
        #expect(found(.memory) { $0.memory = .unlocked } == [.warning])
        #expect(found(.clock) { $0.clock = .beforeBuild } == [.warning])
        #expect(found(.clock) { $0.clock = .jumped } == [.warning])
        #expect(found(.rules) { $0.rules = .missing } == [.warning])
        #expect(found(.rules) { $0.rules = .fails } == [.warning])
        #expect(found(.reader) { $0.fingerprints = .missing } == [.unseen])
        #expect(found(.reader) { $0.fingerprints = .fails } == [.warning])
        let readers = [true, false].map {
            Health.Reader(name: Array("R".utf8), driver: Array("r".utf8), isInternal: $0)
        }
        #expect(found(.reader) { $0.readers = readers } == [.ok, .warning])
        #expect(found(.sandbox) { $0.pid = 4 } == [.unseen])
        var daemon = FakeMachine.daemon
        daemon.health!.rules = .missing
        daemon.policy!.rules = [.init(name: [], display: [], kind: .match, file: [], line: 1)]
        #expect(FakeMachine().found(.rules, daemon).map(\.state) == [.broken])
        daemon.software = Array("0.0.9".utf8)
        #expect(FakeMachine().found(.daemon, daemon).map(\.state) == [.warning])
    }

    @Test("a unit that takes the daemon's sight, or its fences, is told with file and line")
    func sandbox() {
        for (old, new) in [("NoNewPrivs:\t1", "NoNewPrivs:\t0"), ("Uid:\t990", "Uid:\t0")] {
            var fake = FakeMachine()
            fake.files["/proc/812/status"]!.replace(old, with: new)
            #expect(fake.found(.sandbox).map(\.state) == [.broken])
        }
        for (old, new) in [("Seccomp:\t2", "Seccomp:\t0"), ("CapEff:\t0", "CapEff:\tf")] {
            var fake = FakeMachine()
            fake.files["/proc/812/status"]!.replace(old, with: new)
            #expect(fake.found(.sandbox).map(\.state) == [.warning])
        }
        var fake = FakeMachine()
        let path = "/etc/systemd/system/appvaultd.service.d/override.conf"
        fake.files[path] =
            "[Service]\nPrivateUsers=yes\nProtectProc=invisible\n# PrivateUsers=yes\n"
            + "ProtectProc=default\n"
        let found = fake.found(.sandbox)
        #expect(found.map(\.state) == [.broken, .broken])
        #expect(found[0].text.hasPrefix(path + ":2: "))
    }

    @Test("what the package writes and what the administrator writes contradict nothing together")
    func twoAuthors() {
        var fake = FakeMachine()
        fake.files["/usr/lib/appvault/policy.conf"] =
            "[Passcode]\nThrottleAfter=3\nThrottleMax=15min\n"
        fake.files["/etc/appvault/policy.conf"] = "[Passcode]\nThrottleAfter=0\n"
        #expect(fake.found(.policy).map(\.state) == [.ok])
        fake.files["/etc/appvault/policy.conf"]! += "ThrottleMax=1h\n"
        #expect(
            fake.found(.policy).map { $0.text.prefix { $0 != " " } } == [
                "/etc/appvault/policy.conf:3:"
            ])
    }

    @Test("LightDM's service for automatic logins is told where somebody is logged in by it")
    func autologin() {
        var fake = FakeMachine()
        fake.files["/etc/pam.d/lightdm-autologin"] =
            "auth required pam_permit.so\n@include common-session\n"
            + "password required pam_deny.so\n@include common-password\n"
        let password = CommonFiles.managed(["optional pam_appvault.so use_authtok"], "password")
        fake.files["/etc/pam.d/common-password"] = password.text
        fake.files["/var/lib/pam/password"] = password.saved
        func told() -> [String] {
            fake.found(.pam).filter { $0.state != .ok }.map(\.text)
        }
        #expect(told() == [])
        fake.files["/etc/lightdm/lightdm.conf"] =
            "[Seat:*]\n#autologin-user=bob\nautologin-user=\n"
        #expect(told() == [])
        fake.files["/etc/lightdm/lightdm.conf.d/50-kiosk.conf"] =
            "[Seat:*]\nautologin-user = alice\n"
        // lightdm.conf is read last.
        #expect(told() == [])
        fake.files["/etc/lightdm/lightdm.conf"] = "[Seat:*]\n"
        #expect(told() == ["LightDM logs alice in without a password: that opens no store"])
    }

    @Test("a broken policy file is told with file and line, and so is a text whose id nobody knows")
    func policy() {
        var fake = FakeMachine()
        fake.files["/etc/appvault/policy.conf"] = "[Passcode]\nMinLength=0\n"
        #expect(fake.found(.policy).map(\.state) == [.broken])
        #expect(fake.found(.policy)[0].text.hasPrefix("/etc/appvault/policy.conf:2: MinLength"))
        fake.files["/etc/appvault/policy.conf"] = "[Texts]\nno.such.id=x\n"
        var daemon = FakeMachine.daemon
        #expect(fake.found(.policy, daemon).map(\.state) == [.warning])
        daemon.policy!.mode = .noPasscodeMode
        #expect(FakeMachine().found(.policy, daemon).map(\.state) == [.warning])
        daemon.policy!.mode = .standard
        daemon.policy!.values = [
            .init(
                key: Array("HoldMax".utf8), value: [], file: Array("f".utf8), line: 4,
                actedOn: false)
        ]
        #expect(
            FakeMachine().found(.policy, daemon).map(\.text) == [
                "f:4: this release does not act on HoldMax yet"
            ])
        daemon.policy!.values[0].file = Array("/usr/lib/appvault/policy.conf".utf8)
        #expect(FakeMachine().found(.policy, daemon).map(\.state) == [.ok])
    }

    @Test(
        "where no login opens a store it is said why, with lines to paste where none are written"
    )
    func notWired() {
        var fake = FakeMachine()
        fake.files["/etc/pam.d/common-auth"]!.replace(
            "auth\toptional pam_appvault.so unlock \n", with: "")
        fake.files["/etc/pam.d/common-session"]!.replace(
            "session\toptional pam_appvault.so \n", with: "")
        func whole() -> Finding? { fake.findings().first { $0.link == .pam && $0.name.isEmpty } }
        #expect(whole()?.mend == "`pam-auth-update --enable appvault-unlock`")
        #expect(whole()?.paste == [])
        fake.files["/etc/pam.d/common-auth"]!.replace(
            "nullok\n", with: "nullok\nauth optional pam_mine.so\n")
        #expect(whole()?.text.contains("edited by hand") == true)
        #expect(whole()?.paste.contains("auth optional pam_appvault.so unlock") == true)
        fake.files["/usr/share/pam-configs/appvault-unlock"] = nil
        #expect(whole()?.mend == "`apt install libpam-appvault`")
        fake.files["/usr/sbin/pam-auth-update"] = nil
        #expect(whole()?.paste.isEmpty == false)
    }

    @Test("passwd that does not tell the store of a new login password is told")
    func passwd() {
        var fake = FakeMachine()
        fake.files["/etc/pam.d/passwd"] = "@include common-password\n"
        func missed() -> Bool {
            fake.findings().contains {
                $0.name == "passwd" && $0.text.hasPrefix("no password line")
            }
        }
        #expect(missed())
        let text = CommonFiles.managed(["optional pam_appvault.so use_authtok"], "password")
        fake.files["/etc/pam.d/common-password"] = text.text
        fake.files["/var/lib/pam/password"] = text.saved
        #expect(!missed())
    }

    @Test("what only root may read is said to be so, and nothing is guessed of it")
    func plainUser() {
        var fake = FakeMachine()
        fake.uid = 1000
        fake.files["/etc/pam.d/secret"] = "auth required pam_appvault.so\n"
        fake.denied = ["/etc/pam.d/secret", "/var/lib/appvault"]
        let findings = fake.findings()
        #expect(findings.contains { $0.name == "secret" && $0.state == .unseen })
        #expect(fake.found(.state).map(\.state) == [.unseen])
        #expect(!findings.contains { $0.state == .broken })
    }

    @Test("services that say the same share a line, programs get one each")
    func view() {
        var fake = FakeMachine()
        fake.files["/etc/pam.d/sshd"] = "@include common-auth\n@include common-session\n"
        let view = DoctorView(findings: fake.findings(), isRoot: true)
        let fields = String(decoding: view.fields, as: UTF8.self)
        #expect(fields.contains("ok\tpam\tlogin\t(a)") && fields.contains("ok\tpam\tsshd\t(a)"))
        #expect(view.findings.count { $0.link == .pam } == 2)
    }
}

extension String {
    fileprivate mutating func replace(_ old: String, with new: String) {
        self = replacing(old, with: new)
    }
}
