import Posix
import Wire

struct DoctorCommand: PlainCommand {
    static let entry = VerbEntry(
        words: ["doctor"], group: .mending, operands: [],
        summary: "look at every link between a login and your store",
        text: [
            "It looks at the socket, daemon, users, state folder, machine key, policy, PAM services, screen lock, "
                + "reader, rules worker, sandbox, memory, clock, your own store, stores that another store or other people "
                + "open (root: everybody's), and at who keeps the secrets of your desktop's programs. For each it says whether it is fine, a warning or broken, and what to do. It changes nothing. Anybody may run it, also without a "
                + "daemon; some things only root can see.",
            "For each PAM service it follows every way that libpam could take through the service's files. If nobody "
                + "could log in there without AppVault, that is broken where AppVault alone authenticates, and a "
                + "warning where it is a required step beside another module. It also shows which ways to open the "
                + "store a service has: (a) the login password, (b) a passcode that AppVault asks for, (c) a finger.",
            "The exit status is 1 if something is broken, else 0. A pipe gets one line for each finding: state, link, "
                + "service, text and what to do, with tabs between them.",
        ],
        json: [
            .init("broken", "how many findings are broken"),
            .init("warnings", "how many are warnings"),
            .init(
                "checks[].state",
                "`ok`, `warning`, `broken`, or `unseen` where it cannot be told from here"),
            .init(
                "checks[].link",
                "`socket`, `daemon`, `users`, `state`, `key`, `policy`, `pam`, `presence`, `screen`, `reader`, "
                    + "`rules`, `sandbox`, `memory`, `clock`, `store`, `stores` or `secrets`"),
            .init("checks[].service", "the PAM service, where it is about one"),
            .init("checks[].text", "what was found"),
            .init("checks[].mend", "what to do"),
            .init("checks[].paste", "lines to add to files"),
        ],
        examples: [
            .init(command: "sudo appvault doctor", meaning: "why does a login not open the store?")
        ])
    static let offer = RecoveryOffer.never

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        let findings = Self.findings(run) { askSession(run) }
        let view = DoctorView(findings: findings, isRoot: run.environment.uid == 0)
        switch (run.settings.form, run.environment.output.isTerminal) {
        case (.json, _):
            var json = JSON()
            view.write(to: &json)
            run.voice.print(json.finish())
        case (.plain, true):
            run.voice.print(view.text(run.voice, run.environment.marks, run.columns, run.words))
        case (.plain, false): run.voice.print(view.fields)
        }
        return view.exitStatus
    }

    /// The session is asked last: from then on signals are held.
    static func findings(_ run: Run, session: () -> Doctor.Desktop) -> [Finding] {
        let folder = run.settings.pamFolder.map { String(decoding: $0, as: UTF8.self) }
        return Doctor(
            machine: .this(run.environment), daemon: askDaemon(run), desktop: session(),
            socket: String(decoding: run.settings.socket, as: UTF8.self), pamFolder: folder
        ).findings()
    }

    /// Asks each question separately, because one may be answered even if another fails.
    private static func askDaemon(_ run: Run) -> Doctor.Daemon {
        var daemon = Doctor.Daemon()
        do throws(ClientError) {
            daemon.software = try run.connect().software
        } catch {
            daemon.failure = error
            return daemon
        }
        daemon.policy = ask(run) { connection throws(ClientError) in try connection.policy(Target())
        }
        daemon.store = ask(run) { connection throws(ClientError) in try connection.status(Target())
        }
        // Asked last, because an older daemon ends the connection at this request.
        daemon.health = ask(run) { connection throws(ClientError) in
            try connection.ask(.health, Empty(), for: .healthReport, Health.self)
        }
        let isRoot = run.environment.uid == 0
        let stores = ask(run) { connection throws(ClientError) in
            try connection.stores(of: Subject(), all: isRoot)
        }
        daemon.stores = stores?.map { entry in
            guard entry.members > 0 else { return Doctor.KnownStore(entry: entry) }
            let members = ask(run) { connection throws(ClientError) in
                try connection.members(of: entry, isRoot ? entry.owner : Subject())
            }
            return Doctor.KnownStore(entry: entry, members: members)
        }
        return daemon
    }

    /// Comes last: from here on the signals that come are held. Each question is a short one.
    private func askSession(_ run: Run) -> Doctor.Desktop {
        let variable = run.environment.variable
        var desktop = Doctor.Desktop()
        let home = variable("XDG_DATA_HOME") ?? variable("HOME").map { $0 + "/.local/share".utf8 }
        desktop.dataHome = String(decoding: home ?? [], as: UTF8.self)
        guard let signals = try? HeldSignals() else { return desktop }
        let names = SessionNames(signals: signals, core: run.environment.core)
        desktop.owners = names.owners(of: Doctor.secretsName)
        if desktop.owners == .processes([]) {
            desktop.unit = names.state(ofUnit: Doctor.secretsUnit)
        }
        return desktop
    }

    private static func ask<Answer>(
        _ run: Run, _ question: (Connection) throws(ClientError) -> Answer
    ) -> Answer? {
        guard let connection = try? run.connect() else { return nil }
        return try? question(connection)
    }
}
