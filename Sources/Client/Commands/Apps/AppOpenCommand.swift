import Policy
import Posix
import ToolTexts
import Wire

struct AppOpenCommand: Command {
    static let entry = VerbEntry(
        words: ["app", "open"], group: .apps, operands: ["ID"],
        summary: "let a locked application go on",
        text: [
            "It asks what the application demands, as at its start. The application goes on where it was."
        ],
        examples: [.init(command: "appvault app open org.gnome.Evolution", meaning: "mail again")])
    static let offer = RecoveryOffer.never

    var id: String

    static func parse(_ arguments: Arguments) throws(UsageError) -> AppOpenCommand {
        AppOpenCommand(id: try arguments.applicationID().name)
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        try AgentReach.require(run)
        let all = RunningApp.all(run.environment).filter { $0.id == id }
        guard let first = all.first else { throw Self.notLocked(id, run) }
        let store = run.settings.store.isEmpty ? Array(first.store.utf8) : run.settings.store
        var target = try run.target()
        target.store = store
        let demand = all.map(\.demand).max { $0.rawValue < $1.rawValue } ?? .open
        _ = try run.conversation().finish(
            .appOpen, App(target: target, id: Array(id.utf8), demand: demand))
        run.disconnect()
        let signals: HeldSignals
        do throws(PosixError) { signals = try HeldSignals() } catch {
            throw .refused(Refused(.busy, run.words(.runNoAgent, ToolIO.reason(error))))
        }
        let count: Int
        do throws(AgentLink.Failure) {
            count = try AgentLink(signals: signals, core: run.environment.core).goOn(id)
        } catch {
            throw error.refused(run)
        }
        guard count > 0 else { throw Self.notLocked(id, run) }
        run.report(Self.entry.name, run.words(.runGoesOn, id))
        return .success
    }

    private static func notLocked(_ id: String, _ run: Run) -> ClientError {
        .refused(
            Refused(
                .doesNotExist, run.words(.runNoApp, id), hint: run.words(.runNoAppHint)))
    }
}
