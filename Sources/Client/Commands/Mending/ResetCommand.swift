import Posix
import Wire

struct ResetCommand: PlainCommand {
    static let entry = VerbEntry(
        words: ["reset"], group: .mending, operands: [], options: [.user],
        summary: "erase the store and everything in it",
        text: [
            "It first names what is lost with it: stores that follow it, stores that are shared with you and need another "
                + "member to let you in again, and the people whom it is shared with; with --yes, too.",
            "If you sit at this machine, polkit asks for your login password (its action is org.appvault.reset); the "
                + "administrator may have changed that. Otherwise `reset` asks for your passcode. Root needs neither.",
            "Backups and worn flash may still hold copies. Only the passcode protects those.",
        ])
    static let offer = RecoveryOffer.never

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        let isOwn = run.settings.user.isEmpty
        let status = try Self.reset(try run.target(), Self.entry.name, run)
        if run.settings.form == .plain, isOwn, run.answers.kind == .terminal {
            run.voice.hint(run.words(.resetHint))
        }
        return status
    }

    /// For every verb that erases a store: there is no other way.
    static func reset(
        _ target: Target, _ verb: String, _ run: Run
    ) throws(ClientError) -> ExitStatus {
        let name = target.store.isEmpty ? Array("default".utf8) : target.store
        for line in try lost(with: name, target, run) { tell(line, run) }
        try run.agree(verb, run.words(.agreeReset), byTyping: name)
        let isOwn = run.settings.user.isEmpty
        // A desktop has an agent of its own, which goes before this one.
        let agent = isOwn && run.isAtTerminal && run.environment.uid != 0 ? PolkitAgent() : nil
        defer { extendLifetime(agent) }
        return try run.act(verb, .reset, target)
    }

    /// Where nobody is asked, whoever reads the log finds it.
    private static func tell(_ line: [UInt8], _ run: Run) {
        guard case .ask = run.settings.agreement, let dialogs = run.answers.dialogs else {
            return run.voice.info(line)
        }
        dialogs.note(line, .info)
    }

    /// What goes with the store, a line for each kind.
    private static func lost(
        with name: [UInt8], _ target: Target, _ run: Run
    ) throws(ClientError) -> [[UInt8]] {
        let connection = try run.connect()
        let stores = try connection.stores(of: target.subject, all: false)
        var shut = stores.filter { $0.kind == .follows && $0.parent == name }
        var waiting: [StoreList.Entry] = []
        // Its member key opens what is shared with its owner.
        let isDefault = name == Array("default".utf8)
        for store in stores where isDefault && store.kind == .shared {
            if try isOpenToOthers(store, target.subject, connection) {
                waiting.append(store)
            } else {
                shut.append(store)
            }
        }
        var lines: [[UInt8]] = []
        if !shut.isEmpty { lines.append(run.words(.resetShut, names(shut))) }
        if !waiting.isEmpty { lines.append(run.words(.resetWaiting, names(waiting))) }
        let itself = stores.first { $0.role == .owner && $0.name == name }
        if let itself, itself.records > 0 {
            lines.append(run.words(.resetValues, Int(clamping: itself.records)))
        }
        if let itself, itself.members > 1 {
            let members = try connection.members(of: itself, target.subject).members
            let others = members.filter { $0.role != .owner }.map {
                MembersCommand.text($0, run.words)
            }
            lines.append(run.words(.resetMembers, Array(others.joined(separator: Self.comma))))
        }
        return lines
    }

    /// Who may write lets a member in again who comes back with another store.
    private static func isOpenToOthers(
        _ store: StoreList.Entry, _ subject: Subject, _ connection: Connection
    ) throws(ClientError) -> Bool {
        guard store.role == .owner else { return true }
        return try connection.members(of: store, subject).members.contains {
            $0.kind == .person && $0.role == .writer && !$0.isPending
        }
    }

    private static func names(_ stores: [StoreList.Entry]) -> [UInt8] {
        Array(stores.map { StoreListView.name($0) }.joined(separator: Self.comma))
    }

    private static let comma = Array(", ".utf8)
}
