import Fleet
import Posix
import Wire
import Words

struct FleetReportCommand: Command {
    static let entry = VerbEntry(
        words: ["fleet", "report"], group: .fleet,
        operands: ["JOURNAL-FOLDER", "[MACHINE]..."], options: [.join, .bundle, .days],
        summary: "show what an organisation's machines report",
        text: [
            "JOURNAL-FOLDER is where systemd-journal-remote(8) keeps what they send. It shows the last report of each: the "
                + "versions in force there, how many stores there are, and how many of them wait for a new passcode, have "
                + "reached the limit of tries, or are locked or wiped by an order. On a terminal it is a table, in a pipe "
                + "lines of fields with tabs between them, in the order of --json.",
            "MACHINE is machine:ID or list:FILE; each line of FILE is machine:ID and what you call it. With --join, machines are "
                + "shown by these names, and those that never reported are missing. With --bundle, a machine is behind that "
                + "has an older version than this bundle of its kind.",
            "A report proves nothing: whoever is root on a machine can send what they like, but only about one machine at a "
                + "time, and no report changes what is shown of another one.",
        ],
        json: [
            .init("machines[].machine", "what you call it; otherwise what orders call it"),
            .init(
                "machines[].state",
                "ok, or all that is so: missing behind absent ahead nonsense problem"),
            .init("machines[].at", "when its last report came, in seconds since 1970; 0: never"),
        ]
            + FleetReportView.numbers.map { .init("machines[].\($0.name)", $0.meaning) }
            + [
                .init("machines[].release", "of AppVault there"),
                .init("machines[].problem", "what it says that does not go well"),
                .init("strays", "reports of other organisations, or of no machine"),
                .init("tooMany", "reports of more machines than are counted"),
            ],
        examples: [
            .init(
                command:
                    "appvault fleet report /var/log/journal/remote --bundle fleet.bundle",
                meaning: "who is behind or absent")
        ])
    static let offer = RecoveryOffer.never
    private static let usualDays: UInt64 = 7

    var folder: [UInt8]
    var machines: [FleetOperand]
    var join: FileOperand?
    var bundles: [FileOperand]
    var days: UInt64

    static func parse(_ arguments: Arguments) throws(UsageError) -> FleetReportCommand {
        var days = usualDays
        if let text = arguments.options[.days] {
            guard let number = NumberOperand.read(text), number < 1 << 20 else {
                throw UsageError(
                    Text("--days ", Printable.escaped(text), " cannot be"),
                    hint: Text("a number of days, as in --days 7"))
            }
            days = number
        }
        let machines = try FleetOperand.all(arguments.operands.dropFirst())
        guard machines.isEmpty || arguments.has(.join) else {
            throw UsageError(
                Text("--join is missing"),
                hint: Text(
                    "--join FILE names what machines join with: it has the key of their names"))
        }
        return FleetReportCommand(
            folder: arguments.operands[0], machines: machines,
            join: arguments.options[.join].map { FileOperand($0) },
            bundles: (arguments.repeated[.bundle] ?? []).map { FileOperand($0) }, days: days)
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        let now = Clock.wallSeconds()
        let join: Join? = if let join { try run.join(join) } else { nil }
        let listed = try run.targets(machines)
        for listed in listed {
            guard case .machine = listed.target else {
                throw .refused(
                    Refused(
                        .invalidArgument,
                        run.words(.reportNoMachine, Printable.escaped(listed.target.text))))
            }
        }
        var published: [Manifest.Kind: UInt64] = [:]
        for file in bundles {
            let manifest = try Bundle.read(try run.text(of: file).1).manifest
            published[manifest.bundle.kind] = manifest.version
        }
        let reports = try reports(of: join, now, run)
        let named = zip(try join?.orderTargets(listed.map(\.target)) ?? [], listed).map {
            (machine: $0, name: $1.label.isEmpty ? $1.target.text : $1.label)
        }
        let view = FleetReportView(
            reports, named: named, published: published, absentSince: now - min(now, days * 86_400))
        switch run.settings.form {
        case .json: run.voice.print(view.json())
        case .plain where run.environment.output.isTerminal:
            run.voice.print(view.table(run.voice, run.words))
        case .plain: run.voice.print(view.lines())
        }
        return .success
    }

    private func reports(
        of join: Join?, _ now: UInt64, _ run: Run
    ) throws(ClientError) -> MachineReports {
        guard ToolIO.kind(of: folder) == .folder else {
            throw .refused(
                Refused(.doesNotExist, run.words(.reportNoFolder, Printable.escaped(folder))))
        }
        guard let journalctl = ToolIO.program("journalctl") else {
            throw .refused(Refused(.serviceUnavailable, run.words(.reportNoTool)))
        }
        var export = JournalExport(Set(MachineReport.fields))
        var reports = MachineReports(of: join?.organisation, now: now)
        let words = [
            "--no-pager", "--quiet", "--output=export",
            "--output-fields=" + MachineReport.fields.joined(separator: ","),
            "MESSAGE_ID=" + MachineReport.messageID, "--directory",
        ].map { Array($0.utf8) }
        do throws(PosixError) {
            let status = try ToolIO.output(of: [journalctl] + words + [folder]) { bytes in
                export.take(bytes) { reports.take($0) }
            }
            guard status == 0 else { throw PosixError(call: "journalctl", number: 0) }
        } catch {
            throw .refused(
                Refused(
                    .serviceUnavailable, run.words(.reportUnread, Printable.escaped(folder)),
                    hint: run.words(.reportUnreadHint)))
        }
        return reports
    }
}
