import Fleet
import Posix
import Wire
import Words

struct FleetPackCommand: Command {
    static let entry = VerbEntry(
        words: ["fleet", "pack"], group: .fleet,
        operands: ["MANIFEST-FILE", "[PART=FILE|SIGNATURE]..."],
        summary: "make an organisation's bundle from what was signed",
        text: [
            "MANIFEST-FILE is what `fleet manifest` printed, word by word, and SIGNATURE each file that a tool wrote for it. The "
                + "bundle goes to standard output. It is one file, for any web server, or a stick.",
            "It says how many of the keys that it names have signed it. A machine counts the keys that it believes.",
        ],
        json: [.init("bundle", "the file")],
        examples: [
            .init(
                command:
                    "appvault fleet pack manifest policy=p.conf manifest.minisig > fleet.bundle",
                meaning: "the last of three steps")
        ])
    static let offer = RecoveryOffer.never

    var manifest: FileOperand
    var rest: [FleetPart]

    static func parse(_ arguments: Arguments) -> FleetPackCommand {
        FleetPackCommand(
            manifest: FileOperand(arguments.operands[0]),
            rest: arguments.operands.dropFirst().map { FleetPart($0) })
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        let bytes = Bundle.render(
            manifest: try run.text(of: manifest).1, parts: try run.parts(of: rest),
            signatures: try run.signatures(of: rest))
        let bundle = try Bundle.read(bytes)
        switch run.settings.form {
        case .plain:
            run.voice.print(bytes)
            if case .policy(let charter) = bundle.manifest.bundle {
                let count = try bundle.signed(by: charter.signers).count
                run.voice.info(run.words(.fleetPacked, count, charter.signers.threshold))
            }
        case .json:
            var json = JSON()
            json.field("bundle", bytes)
            run.voice.print(json.finish())
        }
        return .success
    }
}

extension Bundle {
    static func read(_ bytes: [UInt8]) throws(ClientError) -> Bundle {
        do throws(Bundle.Fault) {
            return try Bundle(bytes)
        } catch {
            throw ClientError(Words.Refusal(error))
        }
    }

    /// The names of those who have signed it.
    func signed(by signers: Signers) throws(ClientError) -> [String] {
        do {
            return try signers.keys.filter { signer in
                try signatures.contains { try $0.verifies(manifestText, by: signer.key) }
            }.map(\.name)
        } catch {
            throw ClientError(Words.Refusal.outOfMemory)
        }
    }
}
