import Policy
import Posix
import ToolTexts
import Wire

/// Checks every link between a login and a store, and changes nothing.
struct Doctor {
    /// The daemon's answers. What it did not answer is nil or empty.
    struct Daemon {
        /// Why the daemon could not be asked.
        var failure: ClientError?
        var software: [UInt8] = []
        var health: Health?
        var policy: PolicyValues?
        var store: Wire.State?
        var stores: [KnownStore]?
    }

    let machine: Machine
    let daemon: Daemon
    let desktop: Desktop
    let socket: String
    let pamFolder: String?

    static let standardSocket = String(decoding: Connection.defaultPath, as: UTF8.self)

    var isRoot: Bool { machine.uid == 0 }
    /// Whether the daemon is a private one, which was started by hand with a socket of its own.
    var isPrivate: Bool { socket != Self.standardSocket }

    func findings() -> [Finding] {
        socketFindings() + daemonFindings() + userFindings() + stateFindings() + keyFindings()
            + policyFindings() + pamFindings() + presenceFindings() + screenFindings()
            + readerFindings()
            + ruleFindings() + sandboxFindings() + memoryFindings() + clockFindings()
            + storeFindings() + sharedFindings() + secretFindings()
    }

    // MARK: socket, daemon

    private func socketFindings() -> [Finding] {
        switch machine.facts(socket) {
        case .found(let facts):
            guard facts.kind == .socket else {
                return [Finding(.socket, .broken, "\(socket) is not a socket", mend: startCommand)]
            }
            if !isPrivate, facts.mode & 0o666 != 0o666 {
                return [
                    Finding(
                        .socket, .broken,
                        "\(socket) has mode \(octal(facts.mode)): not everybody can connect",
                        mend:
                            "`systemctl restart appvaultd.socket`; `systemctl cat appvaultd.socket` shows who changed it"
                    )
                ]
            }
            return [Finding(.socket, .ok, socket)] + (isPrivate ? [] : rootsSocketFindings())
        case .missing:
            return [Finding(.socket, .broken, "\(socket) is not there", mend: startCommand)]
        case .denied:
            return [Finding(.socket, .broken, "\(socket) cannot be seen", mend: startCommand)]
        case .failed(let error):
            return [Finding(.socket, .broken, error.description, mend: startCommand)]
        }
    }

    /// Logins work without root's socket, but then they wait in the same line as everybody else.
    private func rootsSocketFindings() -> [Finding] {
        let own = String(decoding: Connection.rootPath, as: UTF8.self)
        let mend = "`systemctl restart appvaultd.socket`, which shuts open stores"
        switch machine.facts(own) {
        case .found(let facts) where facts.kind == .socket && facts.mode & 0o077 == 0:
            return [Finding(.socket, .ok, own)]
        case .found(let facts):
            return [
                Finding(
                    .socket, .warning,
                    "\(own) has mode \(octal(facts.mode)): others can stand in the line of logins",
                    mend: mend)
            ]
        case .missing, .denied, .failed:
            return [
                Finding(
                    .socket, .warning,
                    "\(own) is not there: logins stand in one line with everybody who connects",
                    mend: mend)
            ]
        }
    }

    private var startCommand: String {
        guard !isPrivate else { return "is --socket right?" }
        guard machine.exists("/run/systemd/system") else {
            return
                "there is no systemd here: `appvaultd --socket PATH` as a user of its own serves without it"
        }
        let unit = "appvaultd.socket"
        let folders = [
            "/etc/systemd/system", "/run/systemd/system", "/usr/lib/systemd/system",
            "/lib/systemd/system",
        ]
        let found = folders.lazy.compactMap { machine.facts("\($0)/\(unit)").value }.first
        return switch found?.kind {
        case nil: "`apt install appvault`"
        case .other: "it is masked: `systemctl unmask \(unit) && systemctl enable --now \(unit)`"
        case .regular, .link, .folder, .socket:
            "`systemctl enable --now \(unit)`; `systemctl status \(unit)` says why it is not up"
        }
    }

    private func daemonFindings() -> [Finding] {
        if let failure = daemon.failure {
            let refused = failure.refusal.complete(.english)
            let mend: String
            if socketFindings().contains(where: { $0.state == .broken }) {
                // The socket has to be mended first.
                mend = ""
            } else if failure == .unavailable(.notRunning) {
                mend = startCommand
            } else {
                mend = String(decoding: refused.hint, as: UTF8.self)
            }
            return [
                Finding(
                    .daemon, .broken, String(decoding: refused.message, as: UTF8.self), mend: mend)
            ]
        }
        let version = String(decoding: daemon.software, as: UTF8.self)
        let restart = "`systemctl restart appvaultd`, which may shut open stores"
        if version != ThisRelease.text {
            return [
                Finding(
                    .daemon, .warning,
                    "appvaultd \(version) answers, and this is appvault \(ThisRelease.text)",
                    mend: restart)
            ]
        }
        guard let health = daemon.health else {
            return [
                Finding(
                    .daemon, .warning,
                    "appvaultd \(version) answers, but tells nothing of itself: it is an older one",
                    mend: restart)
            ]
        }
        return [
            Finding(
                .daemon, .ok,
                "appvaultd \(version), process \(health.pid), protocol \(Limits.version)")
        ]
    }

    // MARK: users, state, key

    private static let daemonUser = "_appvault"
    private static let workerUser = "_appvault-fingerprint"
    private static let worker = "/usr/libexec/appvault/appvault-fingerprint"

    private func userFindings() -> [Finding] {
        if isPrivate {
            let uid = daemon.health.map { "uid \($0.uid)" } ?? "whoever started it"
            return [Finding(.users, .unseen, "a private daemon, run by \(uid)")]
        }
        var users = [(Self.daemonUser, "appvault", true)]
        users.append((Self.workerUser, "appvault-fingerprint", machine.exists(Self.worker)))
        return users.filter(\.2).map { user, package, _ in
            switch machine.account(user) {
            case .uid(0):
                Finding(.users, .broken, "\(user) is root", mend: "`dpkg-reconfigure \(package)`")
            case .uid(let uid): Finding(.users, .ok, "\(user), uid \(uid)")
            case .missing:
                Finding(
                    .users, .broken, "there is no account \(user)",
                    mend: machine.exists("/usr/lib/sysusers.d/\(package).conf")
                        ? "`systemd-sysusers`, then `systemctl restart appvaultd.socket`"
                        : "`apt install \(package)`")
            case .unknown(let error):
                Finding(.users, .warning, "\(user) cannot be looked up: \(error.description)")
            }
        }
    }

    private var stateFolder: String {
        daemon.health.map { String(decoding: $0.stateFolder, as: UTF8.self) } ?? "/var/lib/appvault"
    }

    /// The uid to which the daemon's state must belong.
    private var keeper: UInt32? {
        if let health = daemon.health { return health.uid }
        if case .uid(let uid) = machine.account(Self.daemonUser) { return uid }
        return nil
    }

    private static let leastRoom: UInt64 = 16 << 20
    private static let littleRoom: UInt64 = 128 << 20

    private func stateFindings() -> [Finding] {
        let folder = stateFolder
        let facts: FileFacts
        switch machine.facts(folder) {
        case .found(let found): facts = found
        case .missing:
            if daemon.failure == nil, daemon.health != nil {
                return [
                    Finding(
                        .state, .broken, "\(folder) is not there",
                        mend: "`systemctl restart appvaultd`")
                ]
            }
            return [
                Finding(
                    .state, .unseen,
                    "\(folder) is not there yet; it comes with the daemon's first start")
            ]
        case .denied: return [Finding(.state, .unseen, "\(folder) can be seen by root alone")]
        case .failed(let error): return [Finding(.state, .broken, error.description)]
        }
        guard facts.kind == .folder else {
            return [
                Finding(.state, .broken, "\(folder) is not a folder", mend: "`ls -ld \(folder)`")
            ]
        }
        var findings: [Finding] = []
        if let keeper, facts.owner != keeper {
            findings.append(
                Finding(
                    .state, .broken,
                    "\(folder) belongs to uid \(facts.owner), and the daemon is uid \(keeper)",
                    mend: isPrivate
                        ? "`chown -R \(keeper) \(folder)`"
                        : "`chown -R \(Self.daemonUser):\(Self.daemonUser) \(folder)`"))
        }
        if facts.mode & 0o777 != 0o700 {
            findings.append(
                Finding(
                    .state, facts.mode & 0o077 == 0 ? .broken : .warning,
                    "\(folder) has mode \(octal(facts.mode)) instead of 0700",
                    mend: "`chmod 0700 \(folder)`"))
        }
        if let space = machine.space(folder) {
            if space.isReadOnly {
                findings.append(
                    Finding(
                        .state, .broken,
                        "\(folder) lies on a file system that is read-only: no try can be counted, so that no passcode is taken",
                        mend: "`findmnt -T \(folder)`, then `mount -o remount,rw` that"))
            } else if space.bytes < Self.littleRoom {
                findings.append(
                    Finding(
                        .state, space.bytes < Self.leastRoom ? .broken : .warning,
                        "\(space.bytes >> 20) MiB are left for \(folder)",
                        mend: "`df -h \(folder)`, and make room"))
            }
        }
        guard findings.isEmpty else { return findings }
        let room = machine.space(folder).map { ", \($0.bytes >> 20) MiB free" } ?? ""
        return [Finding(.state, .ok, "\(folder), mode 0700\(room)")]
    }

    private func keyFindings() -> [Finding] {
        let path = stateFolder + "/machine.key"
        let restore =
            "put \(path) back from a backup; without one, backup.md in /usr/share/doc/appvault says how recovery keys do"
        var findings: [Finding] = []
        if case .found(let facts) = machine.facts(path), facts.mode & 0o777 != 0o400 {
            findings.append(
                Finding(
                    .key, .warning, "\(path) has mode \(octal(facts.mode)) instead of 0400",
                    mend: "`chmod 0400 \(path)`"))
        }
        switch daemon.health?.machineKey {
        case .good:
            if findings.isEmpty { findings.append(Finding(.key, .ok, "there, and read")) }
        case .none?:
            findings.append(Finding(.key, .ok, "none yet: it is made with the first store"))
        case .missing:
            findings.append(
                Finding(.key, .broken, "\(path) is missing, and there are stores", mend: restore))
        case .unreadable:
            findings.append(Finding(.key, .broken, "\(path) cannot be used", mend: restore))
        case .untold: findings.append(Finding(.key, .unseen, "shown to root only"))
        case nil: findings.append(Finding(.key, .unseen, "only the daemon can tell"))
        }
        if let health = daemon.health, health.damaged > 0 {
            findings.append(
                Finding(
                    .key, .broken,
                    "damaged in part or whole, or made under another machine's key: \(health.damaged) of \(health.stores) stores",
                    mend:
                        "`journalctl -u appvaultd` names them; `appvault status --user NAME` says what helps"
                ))
        }
        // Only root can say to whom each of them belongs.
        for store in daemon.health?.ownerless ?? [] {
            let id = StoreIDText.text(store.store)
            findings.append(
                Finding(
                    .key, .broken, "nothing tells whose the damaged store \(id) is",
                    mend:
                        "`appvault chown \(id) USER` gives it to its owner, whose `appvault status` says what helps then"
                ))
        }
        return findings
    }

    func octal(_ mode: UInt32) -> String {
        let digits = String(mode & 0o7777, radix: 8)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
