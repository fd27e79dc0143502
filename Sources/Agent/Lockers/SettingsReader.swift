import Bus
import Posix

/// Reads what a locker's own settings say. Each time anew: the person may have changed them.
@LoopActor
final class SettingsReader {
    /// Milliseconds. A locker locks meanwhile.
    private static let patience: UInt64 = 3_000

    private let bus: Bus
    private let signals: HeldSignals
    private let core: ToolIO.CoreLimit
    private lazy var pool = WorkerPool(name: "settings", threads: 1)

    init(_ bus: Bus, _ signals: HeldSignals, _ core: ToolIO.CoreLimit) {
        (self.bus, self.signals, self.core) = (bus, signals, core)
    }

    func rule(of locker: Locker) async -> LockRule {
        switch locker.settings {
        case .none: return .usual
        case .xfconf: return await xfconf()
        case .gsettings(let schema, let unit): return await gsettings(schema, unit)
        }
    }

    private func xfconf() async -> LockRule {
        do throws(BusError) {
            let answer = try await bus.call(
                "org.xfce.Xfconf", "/org/xfce/Xfconf", "org.xfce.Xfconf", "GetAllProperties",
                [.string("xfce4-screensaver"), .string("/lock")],
                until: Clock.bootMilliseconds() + Self.patience)
            return LockRule(xfconf: try answer.dictionary())
        } catch {
            // Also where nothing was ever set: then there is no such channel.
            return .usual
        }
    }

    /// No library of ours reads dconf's files, and the bus does not tell what is in them.
    private func gsettings(_ schema: String, _ unit: UInt64) async -> LockRule {
        let command = ["gsettings", "list-recursively", schema].map { Array($0.utf8) }
        let (signals, core, patience) = (signals, core, Int32(Self.patience))
        return await pool.run {
            let output = try? StartedCommand.output(
                of: command, signals, core: core, milliseconds: patience)
            guard let output, output.status == 0 else { return .usual }
            return LockRule(gsettings: output.lines, schema: schema, delayUnit: unit)
        }
    }
}
