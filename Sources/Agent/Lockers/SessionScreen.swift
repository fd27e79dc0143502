import Bus
import Posix

/// The session as logind knows it: says there whether the screen is locked. The daemon hears it
/// from logind, as it does of lockers that say it themselves.
@LoopActor
final class SessionScreen {
    private static let logind = "org.freedesktop.login1"
    /// This process's session or, for a program of systemd's user manager, the one on the screen.
    private static let path = "/org/freedesktop/login1/session/auto"
    private static let session = "org.freedesktop.login1.Session"
    private static let patience: UInt64 = 5_000

    /// The person's runtime folder remembers that it was we who said "locked": the next agent says
    /// "unlocked" even if this one has crashed.
    private let mark: Mark
    /// Nil until it is known.
    private var wanted: Bool?
    private var isBusy = false

    init(runtimeFolder: String?) {
        mark = Mark(folder: runtimeFolder)
    }

    /// Says it as soon as logind can be reached. What a locker has said itself stays its own.
    func show(isLocked: Bool) {
        guard wanted != isLocked else { return }
        wanted = isLocked
        guard !isBusy else { return }
        isBusy = true
        EventLoop.shared.task {
            await self.settle()
            self.isBusy = false
            // Nothing of it is needed until the next lock.
            ThisProcess.giveBackCode()
        }
    }

    private enum Told {
        case done
        /// Another attempt may succeed.
        case unheard
    }

    private func settle() async {
        var backOff = BackOff()
        while let now = wanted {
            switch await tell(isLocked: now) {
            case .done: if now == wanted { return }
            case .unheard:
                await EventLoop.sleep(until: Clock.bootMilliseconds() + backOff.milliseconds())
            }
        }
    }

    private func tell(isLocked: Bool) async -> Told {
        if !isLocked, !mark.isSet { return .done }
        do throws(BusError) {
            // For these two calls only: between them nothing of logind's matters here.
            let bus = try await Bus.open(.system, until: deadline)
            defer { bus.close() }
            if isLocked {
                // The locker has said it, or is about to, and takes it back itself.
                if try await isShownLocked(bus), !mark.isSet { return .done }
                mark.set()
            }
            _ = try await bus.call(
                Self.logind, Self.path, Self.session, "SetLockedHint", [.bool(isLocked)],
                until: deadline)
            if !isLocked { mark.clear() }
            return .done
        } catch {
            switch error {
            case .silent, .gone: return .unheard
            case .refused(_, let text):
                // No session, or one that cannot be locked: it says the same each time.
                Complaint.say("logind does not take that the screen is locked: \(text)")
            case .malformed, .unsent:
                Complaint.say("logind gives an answer that is not understood")
            }
            if isLocked { mark.clear() }
            return .done
        }
    }

    private func isShownLocked(_ bus: Bus) async throws(BusError) -> Bool {
        let answer = try await bus.call(
            Self.logind, Self.path, "org.freedesktop.DBus.Properties", "Get",
            [.string(Self.session), .string("LockedHint")], until: deadline)
        guard case .bool(let isLocked) = try answer.variant() else { throw .malformed }
        return isLocked
    }

    private var deadline: UInt64 { Clock.bootMilliseconds() + Self.patience }
}

/// A file that is there or not.
private struct Mark {
    private static let name = "appvault-agent.locked"
    let folder: String?

    var isSet: Bool { open()?.exists(Self.name) ?? false }

    func set() {
        _ = try? open()?.file(Self.name, .createOrOpen)
    }

    func clear() {
        try? open()?.remove(Self.name)
    }

    private func open() -> Folder? {
        guard let folder else { return nil }
        return try? Folder(path: folder)
    }
}
