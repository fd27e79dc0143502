import Wire

/// Who keeps the secrets of a desktop's programs. These ask for `org.freedesktop.secrets` on the
/// session bus, and one program has that name: AppVault's, gnome-keyring, KWallet or another one.
extension Doctor {
    /// What only this person's session tells.
    struct Desktop {
        var owners = SessionNames.Owners.noBus
        /// What systemd says of our unit.
        var unit = ""
        /// Their own folder of data, where D-Bus looks before it looks elsewhere.
        var dataHome = ""
    }

    static let secretsName = "org.freedesktop.secrets"
    static let secretsUnit = "appvault-secrets.service"
    private static let secrets = "/usr/libexec/appvault/appvault-secrets"
    private static let start = "`systemctl --user start \(secretsUnit)`"

    func secretFindings() -> [Finding] {
        guard machine.exists(Self.secrets) || owners.contains(where: isOurs) else {
            return [
                Finding(
                    .secrets, .unseen,
                    "a desktop's programs keep their secrets elsewhere: appvault-secret-service is not installed"
                )
            ]
        }
        return [ownerFinding] + waitingFindings + serviceFileFindings + placeFindings
            + importFindings
    }

    private var owners: [UInt32] {
        switch desktop.owners {
        case .noBus: []
        case .processes(let processes): processes
        }
    }

    // MARK: who has the name

    private var ownerFinding: Finding {
        if case .noBus = desktop.owners {
            return Finding(
                .secrets, .unseen, "there is no session bus here",
                mend: isRoot ? "`appvault doctor` in a person's session, without sudo" : "")
        }
        guard let owner = owners.first else {
            let why = "`journalctl --user -u \(Self.secretsUnit)` says why it is not up"
            return Finding(
                .secrets, .broken,
                "nobody has \(Self.secretsName): programs find no secrets"
                    + (desktop.unit.isEmpty ? "" : " (\(Self.secretsUnit) is \(desktop.unit))"),
                mend: "\(Self.start); \(why)")
        }
        if isOurs(owner) {
            return Finding(
                .secrets, .ok, "AppVault keeps those of this desktop's programs, process \(owner)")
        }
        let isWaiting = owners.dropFirst().contains(where: isOurs)
        return Finding(
            .secrets, .broken,
            "\(program(owner)), process \(owner), has \(Self.secretsName): programs keep their secrets there",
            mend: mend(owner) + (isWaiting ? "" : ", then \(Self.start)"))
    }

    /// Whoever waits gets the name when our program dies, and never gives it back.
    private var waitingFindings: [Finding] {
        guard let owner = owners.first, isOurs(owner) else { return [] }
        return owners.dropFirst().filter { !isOurs($0) }.map { process in
            Finding(
                .secrets, .warning,
                "\(program(process)), process \(process), waits for \(Self.secretsName), and would keep it once it has it",
                mend: mend(process))
        }
    }

    private func mend(_ process: UInt32) -> String {
        let end = "`kill \(process)`"
        switch program(process) {
        case "gnome-keyring-daemon":
            let unit = "gnome-keyring-daemon.service"
            let group = machine.text("/proc/\(process)/cgroup") ?? ""
            return group.contains("/\(unit)") ? "`systemctl --user restart \(unit)`" : end
        case "kwalletd5", "kwalletd6", "ksecretd":
            let settings = machine.text("/etc/xdg/kwalletrc") ?? ""
            guard !settings.contains("apiEnabled=false") else { return end }
            return "add what /usr/share/appvault/kwalletrc says to /etc/xdg/kwalletrc, then \(end)"
        default: return "\(end), and in its settings leave \(Self.secretsName) to others"
        }
    }

    private func isOurs(_ process: UInt32) -> Bool { program(process) == "appvault-secrets" }

    private func program(_ process: UInt32) -> String {
        let words = machine.text("/proc/\(process)/cmdline")?.split(separator: "\0")
        return words?.first?.split(separator: "/").last.map(String.init) ?? "another program"
    }

    // MARK: whom D-Bus starts

    /// D-Bus takes the first of these files, and starts what it names where nobody has the name.
    private var serviceFileFindings: [Finding] {
        let folders = [desktop.dataHome, "/usr/local/share", "/usr/share"].filter { !$0.isEmpty }
        let paths = folders.map { "\($0)/dbus-1/services/\(Self.secretsName).service" }
        let again = "`apt install --reinstall appvault-secret-service`"
        guard let path = paths.first(where: machine.exists), let text = machine.text(path) else {
            return [
                Finding(
                    .secrets, .warning, "D-Bus has no file that starts AppVault's program",
                    mend: again)
            ]
        }
        let command = text.split(separator: "\n").first { $0.hasPrefix("Exec=") }?.dropFirst(5)
        let started = command?.split(separator: " ").first.map(String.init) ?? "nothing"
        guard started != Self.secrets else { return [] }
        return [
            Finding(
                .secrets, .warning, "\(path) has D-Bus start \(started) for \(Self.secretsName)",
                mend: path.hasPrefix("/usr/share/") ? again : "`rm \(path)`")
        ]
    }

    // MARK: where they are kept

    /// The program makes the store `secrets` itself, which opens with the person's own.
    private var placeFindings: [Finding] {
        guard !isRoot, let stores = daemon.stores,
            !stores.contains(where: { isMine($0, named: "default") })
        else { return [] }
        return [
            Finding(
                .secrets, .warning,
                "you have no store, so programs have no place for their secrets",
                mend: "`appvault create`")
        ]
    }

    private func isMine(_ store: KnownStore, named name: String) -> Bool {
        store.entry.name == Array(name.utf8) && store.entry.owner.uid == machine.uid
    }

    // MARK: what another keyring still has

    /// Until something is in the store that AppVault keeps them in.
    private var importFindings: [Finding] {
        guard !isRoot, let stores = daemon.stores else { return [] }
        let store = stores.first { isMine($0, named: Self.secretsStore) }
        // Of a locked one nobody says how much it has.
        if let store, store.entry.lock != .unlocked || store.entry.records > 0 { return [] }
        let folder = desktop.dataHome + "/keyrings"
        let count = machine.names(folder).filter { $0.hasSuffix(".keyring") }.reduce(0) {
            $0 + (machine.contents("\(folder)/\($1)").value.map(KeyringCount.items) ?? 0)
        }
        guard count > 0 else { return [] }
        return [
            Finding(
                .secrets, .warning,
                "what GNOME's keyring has kept so far is still there alone, and programs do not find it: \(count)",
                mend: "`appvault import keyring`, once; with `--dry-run` it says what would come")
        ]
    }

    private static let secretsStore = "secrets"
}

/// A file of gnome-keyring's, as far as it can be read without its password.
enum KeyringCount {
    private static let magic = Array("GnomeKeyring\n\r\0\n".utf8)
    /// Versions and algorithms.
    private static let kinds = 4
    /// Two times, flags, a timeout, rounds, salt, four reserved numbers.
    private static let fixed = 8 + 8 + 4 + 4 + 4 + 8 + 16

    /// How many items it has; zero if it is not such a file.
    static func items(_ file: [UInt8]) -> Int {
        guard file.starts(with: magic) else { return lines(file) }
        let name = magic.count + kinds
        guard let length = number(file, at: name) else { return 0 }
        // All ones: it has no name.
        let skipped = length == Int(UInt32.max) ? 0 : length
        return number(file, at: name + 4 + skipped + fixed) ?? 0
    }

    /// One without a password is text, with a heading for each item: [1], [2:attribute0].
    private static func lines(_ file: [UInt8]) -> Int {
        guard file.starts(with: Array("[keyring]".utf8)) else { return 0 }
        return file.split(separator: 0x0A).count { line in
            line.count > 2 && line.first == 0x5B && line.last == 0x5D
                && line.dropFirst().dropLast().allSatisfy { (0x30...0x39).contains($0) }
        }
    }

    private static func number(_ file: [UInt8], at place: Int) -> Int? {
        guard place <= file.count - 4 else { return nil }
        return file[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
    }
}
