import Posix

/// Programs that the agent starts: they have no terminal, and the environment of this session.
@LoopActor
final class ToolRunner {
    struct Result: Sendable {
        var status: Int32
        var lines: [[UInt8]]
    }

    private let manager: UserManager
    private let signals: HeldSignals
    private let core: ToolIO.CoreLimit
    private let pool = WorkerPool(name: "tools", threads: 4)

    init(_ manager: UserManager, _ signals: HeldSignals, _ core: ToolIO.CoreLimit) {
        (self.manager, self.signals, self.core) = (manager, signals, core)
    }

    /// What a dialog needs, and nothing that could be a secret: for a moment everybody can read the
    /// arguments of `env`.
    private static let names: Set<Substring> = [
        "APPVAULT_PINENTRY", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "LANG", "LANGUAGE", "LC_ALL",
        "LC_CTYPE", "LC_MESSAGES", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_CURRENT_DESKTOP",
        "XDG_RUNTIME_DIR", "XDG_SESSION_TYPE",
    ]

    private static func isNeeded(_ word: String) -> Bool {
        guard let equals = word.firstIndex(of: "=") else { return false }
        return names.contains(word[..<equals])
    }

    /// Nil if it could not be started.
    func run(
        _ words: [String], milliseconds: Int32, lifeline: Lifeline? = nil
    ) async -> Result? {
        // `env` sets what the person's systemd knows, and not what was true when the agent began.
        let environment = await manager.environment().filter(Self.isNeeded)
        let command = (["/usr/bin/env"] + environment + words).map { Array($0.utf8) }
        let (signals, core) = (signals, core)
        return await pool.run {
            guard
                let output = try? StartedCommand.output(
                    of: command, signals, core: core, milliseconds: milliseconds,
                    lifeline: lifeline)
            else { return nil }
            return Result(status: output.status, lines: output.lines)
        }
    }
}
