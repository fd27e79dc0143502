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
        let lost = try consequence(of: name, target, run)
        try run.agree(Self.entry.name, lost, byTyping: name)
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

    /// What goes with the store is named before.
    private func consequence(
        of name: [UInt8], _ target: Target, _ run: Run
    ) throws(ClientError) -> [UInt8] {
        if case .given = run.settings.agreement { return run.words(.agreeReset) }
        // Its member key opens what is shared with its owner.
        let isDefault = name == Array("default".utf8)
        let followers = try run.connect().stores(of: target.subject, all: false).filter {
            $0.kind == .follows && $0.parent == name || $0.kind == .shared && isDefault
        }
        guard !followers.isEmpty else { return run.words(.agreeReset) }
        let names = followers.map { Printable.escaped($0.name) }
        return run.words(.agreeResetWith, Array(names.joined(separator: Array(", ".utf8))))
    }
}
