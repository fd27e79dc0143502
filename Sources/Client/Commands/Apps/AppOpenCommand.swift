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
        let wanted = String(decoding: run.settings.store, as: UTF8.self)
        let all = RunningApp.all(run.environment).filter {
            $0.id == id && $0.isLocked
                && (wanted.isEmpty || $0.storeName == RunningApp.name(of: wanted))
        }
        // It may run with several stores: what is shown for one says nothing of another.
        let stores = Dictionary(grouping: all, by: \.storeName).sorted { $0.key < $1.key }
        var shown: [(store: String, demand: AppDemand)] = []
        for (store, apps) in stores {
            var target = try run.target()
            target.store = Array(store.utf8)
            let demand = apps.map(\.demand).max { $0.rawValue < $1.rawValue } ?? .open
            _ = try run.conversation().finish(
                .appOpen, App(target: target, id: Array(id.utf8), demand: demand))
            shown.append((store, demand))
        }
        run.disconnect()
        let signals: HeldSignals
        do throws(PosixError) { signals = try HeldSignals() } catch {
            throw .refused(Refused(.busy, run.words(.runNoAgent, ToolIO.reason(error))))
        }
        let link = AgentLink(signals: signals, core: run.environment.core)
        var count = 0
        do throws(AgentLink.Failure) {
            for each in shown { count += try link.goOn(id, each.store, each.demand) }
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
