import Fleet
import Policy
import Posix
import Wire
import Words

struct FleetCheckCommand: Command {
    static let entry = VerbEntry(
        words: ["fleet", "check"], group: .fleet,
        operands: ["BUNDLE-FILE|-", "[JOIN-FILE]", "[TARGET]..."],
        summary: "see whether a machine would take a bundle, and its orders",
        text: [
            "JOIN-FILE is what machines join with: then the bundle is checked as a machine would that has taken none yet. "
                + "Without it, the keys count that the bundle names itself, and nothing shows whose these are. Its policy is "
                + "looked through as by `policy lint`.",
            "With JOIN-FILE, which has the key of targets, it says for each TARGET what is ordered. A target is written as for "
                + "`fleet lock`.",
        ],
        json: [
            .init("organisation", "its name"),
            .init("version", "of the bundle"),
            .init("signed[].name", "who has signed it, as the keys are called"),
            .init("needed", "how many of them it takes"),
            .init("problems[].severity", "of its policy: `error` or `warning`"),
            .init("problems[].file", "`policy`"),
            .init("problems[].line", "counted from 1"),
            .init("problems[].key", "may be empty"),
            .init("problems[].wrong", "what is wrong"),
            .init("problems[].right", "what would be right"),
            .init("locks", "for how many targets a lock is ordered"),
            .init("wipes", "for how many a wipe"),
            .init("resets", "for how many a reset"),
        ] + FleetOrderView.fields,
        examples: [
            .init(
                command: "appvault fleet check fleet.bundle example.join alice",
                meaning: "before it is published")
        ])
    static let offer = RecoveryOffer.never

    var bundle: FileOperand
    var join: FileOperand?
    var targets: [FleetOperand]

    static func parse(_ arguments: Arguments) throws(UsageError) -> FleetCheckCommand {
        FleetCheckCommand(
            bundle: FileOperand(arguments.operands[0]),
            join: arguments.operands.count > 1 ? FileOperand(arguments.operands[1]) : nil,
            targets: try FleetOperand.all(arguments.operands.dropFirst(2)))
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        let bundle = try Bundle.read(try run.text(of: bundle).1)
        let join: Join? = if let join { try run.join(join) } else { nil }
        let trust = try trust(join, bundle)
        do throws(Trust.Refusal) {
            _ = try trust.judge(bundle, now: Clock.wallSeconds())
        } catch {
            throw ClientError(Words.Refusal(error))
        }
        let signers =
            switch bundle.manifest.bundle {
            case .policy: trust.charter.signers
            case .orders: trust.charter.ordersSigners ?? trust.charter.signers
            }
        let names = try bundle.signed(by: signers)
        let problems = bundle.parts[.policy].map { text in
            PolicyLint.problems(in: [PolicyFile(name: "policy", text: text)], texts: .all)
        }
        let orders = bundle.orders ?? .none
        let listed = try run.targets(targets)
        let found = try join?.orderTargets(listed.map(\.target)) ?? []
        let view = FleetOrderView(
            orders, zip(listed, found).map { ($0.target.text, $1) },
            showsOffline: bundle.orders != nil)
        switch run.settings.form {
        case .plain:
            run.voice.done(
                run.words(
                    .fleetWhole, Printable.escaped(Array(bundle.manifest.organisation.utf8)),
                    Text(bundle.manifest.version).bytes, names.joined(separator: ", "),
                    signers.threshold))
            run.voice.print((problems ?? []).flatMap { run.line($0) })
            if bundle.orders != nil {
                run.voice.done(
                    run.words(.fleetOrdersCount, orders.locks, orders.wiping, orders.resets))
            }
            run.voice.print(view.lines(run.words))
        case .json:
            var json = JSON()
            json.field("organisation", bundle.manifest.organisation)
            json.field("version", bundle.manifest.version)
            json.objects("signed", names) { json, name in json.field("name", name) }
            json.field("needed", signers.threshold)
            json.problems(problems ?? [])
            json.field("locks", orders.locks)
            json.field("wipes", orders.wiping)
            json.field("resets", orders.resets)
            view.write(to: &json)
            run.voice.print(json.finish())
        }
        return problems?.contains { $0.severity == .error } == true ? .refused : .success
    }

    private func trust(_ join: Join?, _ bundle: Bundle) throws(ClientError) -> Trust {
        if let join { return join.trust }
        guard case .policy(let charter) = bundle.manifest.bundle else {
            throw ClientError(Words.Refusal.bundle(.noOrdersApart))
        }
        return Trust(organisation: bundle.manifest.organisation, charter: charter)
    }
}

extension Orders {
    fileprivate var locks: Int { orders.values.count { $0.locks } }
    fileprivate var wiping: Int { orders.values.count { $0.wipesBefore > 0 } }
    fileprivate var resets: Int { orders.values.count { $0.resetsBefore > 0 } }
}
