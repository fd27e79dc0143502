import Fleet
import ToolTexts
import Wire
import Words

struct FleetInviteCommand: Command {
    static let entry = VerbEntry(
        words: ["fleet", "invite"], group: .fleet, operands: ["FILE|-", "HOST[:PORT]"],
        summary: "print a link by which machines join",
        text: [
            "FILE is the join file. The link says which file it is, and has a token that is new each time; it also says at which "
                + "address of HOST you put the file. Whoever has the link can fetch the file, in which the key of targets is. No "
                + "daemon is needed.",
            "A file of that one line at https://DOMAIN/.well-known/appvault lets people join by their e-mail address there.",
        ],
        json: [
            .init("link", "what machines are given"),
            .init("address", "where the join file belongs"),
            .init("fingerprint", "its SHA-256, for people to compare"),
        ],
        examples: [
            .init(
                command:
                    "appvault fleet invite example.join fleet.example.org | qrencode -o link.png",
                meaning: "a code for paper")
        ])
    static let offer = RecoveryOffer.never

    var file: FileOperand
    var host: JoinHost

    static func parse(_ arguments: Arguments) throws(UsageError) -> FleetInviteCommand {
        guard let host = JoinHost(arguments.operands[1]) else {
            throw UsageError(
                Text(Printable.escaped(arguments.operands[1]), " is no name of a server"),
                hint: Text("as in fleet.example.org, or fleet.example.org:8443"))
        }
        return FleetInviteCommand(file: FileOperand(arguments.operands[0]), host: host)
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        let (name, text) = try run.text(of: file)
        do throws(PlainSections.Fault) {
            _ = try Join(text)
        } catch {
            throw ClientError(
                Words.Refusal.bundle(.join(line: error.line, wrong: error.wrong)))
        }
        guard let link = try? JoinLink(to: text, at: host) else {
            throw ClientError(Words.Refusal.outOfMemory)
        }
        switch run.settings.form {
        case .json:
            var json = JSON()
            json.field("link", Array(link.text.utf8))
            json.field("address", Array(link.url.utf8))
            json.field("fingerprint", Array(link.hexFingerprint.utf8))
            run.voice.print(json.finish())
        case .plain:
            run.voice.print(Array("\(link.text)\n".utf8))
            run.voice.info(run.words(.invitePlace, Printable.escaped(name), Array(link.url.utf8)))
        }
        return .success
    }
}
