import Posix
import Wire

struct PeoplePictureCommand: Command {
    static let entry = VerbEntry(
        words: ["people", "picture"], group: .people, operands: ["NAME", "PICTURE"],
        summary: "choose the picture of somebody in the list",
        text: [
            "PICTURE is `letter`, the first letter of the name, or `person`, `people`, `key`, `lock`, `paper`, `organisation` or "
                + "`vault`. The window shows it; nothing else depends on it. It is kept with your other settings, in "
                + "appvault/pictures, and whoever uses this account can change it."
        ],
        examples: [.init(command: "appvault people picture work organisation", meaning: "a house")])
    static let offer = RecoveryOffer.never

    var name: [UInt8]
    var picture: Portraits.Picture

    static func parse(_ arguments: Arguments) throws(UsageError) -> PeoplePictureCommand {
        let word = String(decoding: arguments.operands[1], as: UTF8.self)
        guard let picture = Portraits.Picture(rawValue: word) else {
            throw UsageError(
                Text(Printable.escaped(arguments.operands[1]), " is no picture"),
                hint: Text(
                    "it is one of ",
                    Portraits.Picture.allCases.map(\.rawValue).joined(separator: ", ")))
        }
        return PeoplePictureCommand(
            name: try Arguments.store(arguments.operands[0], "people picture"), picture: picture)
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        let people = try run.connect().people().map(\.name)
        guard people.contains(name) else {
            throw .refused(
                Refused(.doesNotExist, run.words(.pictureNobody, Printable.escaped(name))))
        }
        guard let path = Portraits.path(run.environment.variable) else {
            throw .refused(Refused(.doesNotExist, run.words(.pictureNoFolder)))
        }
        var portraits = Portraits(run.environment.variable)
        portraits.keep(only: people)
        portraits.choose(picture, for: name)
        do throws(PosixError) {
            try portraits.write(to: path)
        } catch {
            throw .refused(
                Refused(
                    .storageFailed,
                    run.words(
                        .pictureNotKept, Printable.escaped(Array(path.utf8)), ToolIO.reason(error)))
            )
        }
        run.report(Self.entry.name, run.words(.pictureChosen, Printable.escaped(name)))
        return .success
    }
}
