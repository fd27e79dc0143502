import Posix

/// Asks this person's session bus and their systemd, by systemd's own programs. Each question ends
/// after three seconds.
struct SessionNames {
    /// Whose a name is on the session bus.
    enum Owners: Equatable {
        /// There is no session bus, or it has not answered.
        case noBus
        /// The process that has the name, then those that wait for it. Without any nobody has it.
        case processes([UInt32])
    }

    let signals: HeldSignals
    let core: ToolIO.CoreLimit

    private static let patience: Int32 = 3_000
    /// Nobody needs to know of more.
    private static let most = 8

    func owners(of name: String) -> Owners {
        // As busctl shows them: b true, as 2 ":1.4" ":1.9", u 812.
        guard let isOwned = ask("NameHasOwner", name)?.last else { return .noBus }
        guard isOwned == "true" else { return .processes([]) }
        guard let names = ask("ListQueuedOwners", name)?.dropFirst(2) else { return .noBus }
        return .processes(
            names.prefix(Self.most).compactMap { owner in
                let unquoted = String(owner.filter { $0 != "\"" })
                return ask("GetConnectionUnixProcessID", unquoted)?.last.flatMap { UInt32($0) }
            })
    }

    /// What systemd says of a unit of the person's: `active`, `inactive`, `failed`. Empty where it
    /// says nothing.
    func state(ofUnit unit: String) -> String {
        let words = [
            "/usr/bin/systemctl", "--user", "show", "--property=ActiveState", "--value", unit,
        ]
        guard let line = run(words)?.last else { return "" }
        return String(decoding: line, as: UTF8.self)
    }

    private func ask(_ member: String, _ name: String) -> [String]? {
        let bus = "org.freedesktop.DBus"
        let words =
            ["/usr/bin/busctl", "--user", "--timeout=3", "call", "--"] + [
                bus, "/org/freedesktop/DBus", bus, member, "s", name,
            ]
        guard let line = run(words)?.last else { return nil }
        return String(decoding: line, as: UTF8.self).split(separator: " ").map(String.init)
    }

    private func run(_ words: [String]) -> [[UInt8]]? {
        let ended = try? StartedCommand.output(
            of: words.map { Array($0.utf8) }, signals, core: core, milliseconds: Self.patience)
        guard let ended, ended.status == 0 else { return nil }
        return ended.lines
    }
}
