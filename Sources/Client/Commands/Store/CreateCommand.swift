import PamStacks
import Posix
import Wire

struct CreateCommand: Command {
    static let entry = VerbEntry(
        words: ["create"], group: .store, operands: [],
        options: [.followLogin, .ownPasscode, .noPasscode, .openExisting, .user],
        summary: "make a store",
        text: [
            "Without an option it makes what suits this machine: if logins open stores with the login password, that opens "
                + "this store, too; otherwise the store gets a passcode of its own.",
            "It checks a login password before it uses it, so that a typing mistake cannot shut you out.",
            "On a terminal it shows a recovery key, once. Write it down: it is the only way in if you forget the passcode.",
            "With an option it makes exactly that store or refuses: if the policy asks for no passcodes, you cannot choose "
                + "one.",
        ],
        examples: [
            .init(command: "appvault create", meaning: "what suits this machine"),
            .init(
                command: "appvault create --own-passcode --passcode-fd 3 3<secret",
                meaning: "from a script"),
        ])
    static let offer = RecoveryOffer.never

    enum Existing: Equatable { case refuse, open }

    /// Nil if the person has not chosen: then it is what suits the machine and the policy.
    var way: Create.Way?
    var existing: Existing

    static func parse(_ arguments: Arguments) throws(UsageError) -> CreateCommand {
        CreateCommand(
            way: try arguments.only(of: Option.ways),
            existing: arguments.has(.openExisting) ? .open : .refuse)
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        let target = try run.target()
        let conversation = try run.conversation()
        let way = self.way ?? wayOfThisMachine(run)
        let request = Create(target: target, way: way, openExisting: existing == .open)
        do throws(ClientError) {
            run.report(Self.entry.name, try conversation.finish(.create, request))
        } catch {
            guard case .refused(let refused) = error, refused.known == .alreadyExists else {
                throw error
            }
            throw .refused(
                Refused(
                    .alreadyExists, run.words(.createExists), hint: run.words(.createExistsHint),
                    parameters: refused.parameters))
        }
        return .success
    }

    private func wayOfThisMachine(_ run: Run) -> Create.Way {
        let folder = String(
            decoding: run.settings.pamFolder ?? Array("/etc/pam.d".utf8), as: UTF8.self)
        let configuration = PamConfiguration { name in
            let path = name.hasPrefix("/") ? name : "\(folder)/\(name)"
            return ToolIO.contents(of: Array(path.utf8)).map { .init(path: path, text: $0) }
        }
        switch PamWiring.of(configuration) {
        case .followsLogin:
            run.voice.info(run.words(.createFollows))
            return .usuallyFollowLogin
        case .ownPasscode:
            run.voice.info(run.words(.createOwn))
            return .usuallyOwnPasscode
        case .none:
            run.voice.info(run.words(.createPlain))
            return .usuallyOwnPasscode
        }
    }
}
