import Fleet
import Posix
import Wire
import Words

struct FleetManifestCommand: Command {
    static let entry = VerbEntry(
        words: ["fleet", "manifest"], group: .fleet, operands: ["DRAFT-FILE|-", "[PART=FILE]..."],
        summary: "write what an organisation's people are to sign",
        text: [
            "DRAFT-FILE has [Manifest] with Organisation=, Bundle=policy or orders, Version=, Expires= (a time such as "
                + "2027-02-26T00:00:00Z), Contact=, Threshold= and Final=yes or no, and [Keys] with a line NAME=KEY "
                + "for each who signs: a key of minisign or signify (RW...), or ssh-ed25519 AAAA... (a security key too). "
                + "PART is policy, orders, terms or signin.",
            "The manifest is printed, with the time and the hash of each part. Sign it, each with their tool: `minisign -S`, "
                + "`signify -S` or `ssh-keygen -Y sign -n appvault-fleet`. Then `fleet pack` makes the bundle.",
        ],
        json: [.init("manifest", "the text that is to be signed")],
        examples: [
            .init(
                command: "appvault fleet manifest draft policy=policy.conf > manifest",
                meaning: "the first of three steps"),
            .init(command: "minisign -S -m manifest", meaning: "the second, by each who signs"),
        ])
    static let offer = RecoveryOffer.never

    var draft: FileOperand
    var parts: [FleetPart]

    static func parse(_ arguments: Arguments) throws(UsageError) -> FleetManifestCommand {
        let parts = arguments.operands.dropFirst().map { FleetPart($0) }
        for case .signature in parts {
            throw UsageError(
                Text("a part is policy=FILE, orders=FILE, terms=FILE or signin=FILE"),
                hint: Text("signatures come later, with `fleet pack`"))
        }
        return FleetManifestCommand(
            draft: FileOperand(arguments.operands[0]), parts: Array(parts))
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        let draft = try run.text(of: draft).1
        let parts = try run.parts(of: parts)
        let manifest: Manifest
        let hashes = try Self.hashes(parts)
        do throws(PlainSections.Fault) {
            manifest = try Manifest(draft: draft, hashes: hashes, signed: Clock.wallSeconds())
        } catch {
            throw ClientError(error)
        }
        // Before people sign what no machine takes.
        do throws(Bundle.Fault) {
            _ = try Bundle.orders(of: manifest, parts)
            _ = try Bundle.consents(parts)
            _ = try Bundle.signIn(parts)
        } catch {
            throw ClientError(Words.Refusal(error))
        }
        switch run.settings.form {
        case .plain: run.voice.print(manifest.render())
        case .json:
            var json = JSON()
            json.field("manifest", manifest.render())
            run.voice.print(json.finish())
        }
        return .success
    }

    private static func hashes(
        _ parts: [Manifest.Part: [UInt8]]
    ) throws(ClientError) -> [Manifest.Part: [UInt8]] {
        var hashes: [Manifest.Part: [UInt8]] = [:]
        for (part, text) in parts {
            do throws(Bundle.Fault) {
                hashes[part] = try Bundle.hash(text)
            } catch {
                throw ClientError(Words.Refusal(error))
            }
        }
        return hashes
    }
}
