import Posix
import Wire

/// The agent of this person's session, called over the session bus by systemd's busctl. The bus
/// starts it where it does not run.
struct AgentLink {
    enum Failure: Error, Equatable {
        /// There is no bus, or no busctl.
        case noBus
        /// In the words of the agent, or of busctl.
        case refused([UInt8])
    }

    let signals: HeldSignals
    let core: ToolIO.CoreLimit

    /// Milliseconds. The agent may have to be started.
    private static let patience: Int32 = 20_000

    /// Puts this process into a scope of its own, which is locked as `app` says. Empty: it runs
    /// already, was locked, and goes on.
    func start(_ app: RunningApp, _ process: UInt32) throws(Failure) -> [UInt8] {
        let values = [app.demand.rawValue, app.onLock.rawValue, app.background.rawValue]
        let words =
            ["ussuuuu", "\(process)", app.id, app.store]
            + values.map { "\($0)" } + ["\(app.timeout)"]
        return try text(call("Start", words))
    }

    /// How many of it were locked with this store, demand no more than this, and go on now.
    func goOn(_ id: String, _ store: String, _ shown: AppDemand) throws(Failure) -> Int {
        let answer = try call("GoOn", ["ssu", id, store, "\(shown.rawValue)"])
        // u 1
        return Int(String(decoding: answer.dropFirst(2), as: UTF8.self)) ?? 0
    }

    /// As busctl shows a text: s "app-appvault-..."
    private func text(_ answer: [UInt8]) -> [UInt8] {
        Array(answer.dropFirst(3).dropLast())
    }

    private func call(_ member: String, _ arguments: [String]) throws(Failure) -> [UInt8] {
        let words =
            ["/usr/bin/busctl", "--user", "--timeout=15", "call", "--"] + [
                "org.appvault.Agent1", "/org/appvault/Agent1", "org.appvault.Agent1", member,
            ] + arguments
        let ended: StartedCommand.Output
        do throws(PosixError) {
            ended = try StartedCommand.output(
                of: words.map { Array($0.utf8) }, signals, core: core, milliseconds: Self.patience)
        } catch {
            throw .noBus
        }
        guard ended.status == 0, let answer = ended.lines.last else {
            throw .refused(ended.lines.last.map(Self.reason) ?? [])
        }
        return answer
    }

    /// Without the words that busctl puts in front.
    private static func reason(_ line: [UInt8]) -> [UInt8] {
        let prefix = Array("Call failed: ".utf8)
        return line.starts(with: prefix) ? Array(line.dropFirst(prefix.count)) : line
    }
}
