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

    /// `env` takes whatever else for an option or for the command.
    private static func isAssignment(_ word: String) -> Bool {
        let name = word.utf8.prefix { $0 != 0x3D }
        guard name.count < word.utf8.count, let first = name.first, !(0x30...0x39 ~= first) else {
            return false
        }
        return name.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x5F, 0x61...0x7A: true
            default: false
            }
        }
    }

    /// Nil if it could not be started.
    func run(_ words: [String], milliseconds: Int32) async -> Result? {
        // `env` sets what the person's systemd knows, and not what was true when the agent began.
        let environment = await manager.environment().filter(Self.isAssignment)
        let command = (["/usr/bin/env"] + environment + words).map { Array($0.utf8) }
        let (signals, core) = (signals, core)
        return await pool.run {
            guard
                let output = try? StartedCommand.output(
                    of: command, signals, core: core, milliseconds: milliseconds)
            else { return nil }
            return Result(status: output.status, lines: output.lines)
        }
    }
}
