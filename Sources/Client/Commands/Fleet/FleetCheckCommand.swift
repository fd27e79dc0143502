import Fleet
import Posix
import Wire
import Words

struct FleetCheckCommand: Command {
    static let entry = VerbEntry(
        words: ["fleet", "check"], group: .fleet, operands: ["BUNDLE|-", "[JOIN]"],
        summary: "see whether a machine would take a bundle",
        text: [
            "JOIN is what machines join with: then the bundle is checked as a machine would that has taken none yet. "
                + "Without it, the keys count that the bundle names itself, and nothing shows whose these are."
        ],
        json: [
            .init("organisation", "its name"),
            .init("version", "of the bundle"),
            .init("signed[].name", "who has signed it, as the keys are called"),
            .init("needed", "how many of them it takes"),
        ])
    static let offer = RecoveryOffer.never

    var bundle: FileOperand
    var join: FileOperand?

    static func parse(_ arguments: Arguments) -> FleetCheckCommand {
        FleetCheckCommand(
            bundle: FileOperand(arguments.operands[0]),
            join: arguments.operands.count > 1 ? FileOperand(arguments.operands[1]) : nil)
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        let bundle = try Bundle.read(try run.text(of: bundle).1)
        let trust = try trust(run, bundle)
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
        switch run.settings.form {
        case .plain:
            run.voice.done(
                run.words(
                    .fleetWhole, Printable.escaped(Array(bundle.manifest.organisation.utf8)),
                    Text(bundle.manifest.version).bytes, names.joined(separator: ", "),
                    signers.threshold))
        case .json:
            var json = JSON()
            json.field("organisation", bundle.manifest.organisation)
            json.field("version", bundle.manifest.version)
            json.objects("signed", names) { json, name in json.field("name", name) }
            json.field("needed", signers.threshold)
            run.voice.print(json.finish())
        }
        return .success
    }

    private func trust(_ run: Run, _ bundle: Bundle) throws(ClientError) -> Trust {
        guard let join else {
            guard case .policy(let charter) = bundle.manifest.bundle else {
                throw ClientError(Words.Refusal.bundle(.noOrdersApart))
            }
            return Trust(organisation: bundle.manifest.organisation, charter: charter)
        }
        let text = try run.text(of: join).1
        do throws(PlainSections.Fault) {
            return try Join(text).trust
        } catch {
            throw ClientError(error)
        }
    }
}
