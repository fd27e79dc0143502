import Posix
import Wire

struct ResetCommand: PlainCommand {
    static let entry = VerbEntry(
        words: ["reset"], group: .mending, operands: [], options: [.user],
        summary: "erase the store and everything in it",
        text: [
            "If you sit at this machine, polkit asks for your login password (its action is org.appvault.reset); the "
                + "administrator may have changed that. Otherwise `reset` asks for your passcode. Root needs neither.",
            "Backups and worn flash may still hold copies. Only the passcode protects those.",
        ])
    static let offer = RecoveryOffer.never

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        let target = try run.target()
        let name = target.store.isEmpty ? Array("default".utf8) : target.store
        try run.agree(Self.entry.name, run.words(.agreeReset), byTyping: name)
        let isOwn = run.settings.user.isEmpty
        // A desktop has an agent of its own, which goes before this one.
        let agent = isOwn && run.isAtTerminal && run.environment.uid != 0 ? PolkitAgent() : nil
        defer { extendLifetime(agent) }
        let status = try run.act(Self.entry.name, .reset, target)
        if run.settings.form == .plain, isOwn, run.answers.kind == .terminal {
            run.voice.hint(run.words(.resetHint))
        }
        return status
    }
}
