import Posix

/// Says to logind whether the screen of this session is locked. The daemon hears it from there, as
/// it does of lockers that say it themselves. logind takes it from the session's owner alone.
struct LoginScreen {
    enum Failure: Error, Equatable {
        /// systemd's busctl is not installed.
        case noBus
        /// logind, or the bus, has given no answer in time.
        case silent
        /// In the words of busctl.
        case refused([UInt8])
        /// The session has no screen that could be locked, or is over.
        case noScreen
    }

    let signals: HeldSignals
    let core: ToolIO.CoreLimit

    /// What logind says of this session.
    struct Session {
        var id: String
        var isLocked: Bool
    }

    /// Milliseconds for each of two or three calls. Until then the screen is locked and the store
    /// is not.
    private static let patience: Int32 = 3_000

    func session() throws(Failure) -> Session {
        let lines = try call(
            ["get-property"], ["Id", "LockedHint", "State", "Type", "Seat"], lines: 5)
        // As busctl shows them: s "c2", b true, (so) "seat0" "/org/...".
        let values = lines.map { line in
            String(decoding: line, as: UTF8.self).split(separator: " ").dropFirst().map {
                $0.filter { $0 != "\"" }
            }
        }
        let isDrawn = ["x11", "wayland", "mir"].contains(values[3].first ?? "")
        let hasSeat = values[4].first?.isEmpty == false
        guard let id = values[0].first, isDrawn || hasSeat, values[2].first != "closing" else {
            throw .noScreen
        }
        return Session(id: id, isLocked: values[1].first == "true")
    }

    func tell(isLocked: Bool) throws(Failure) {
        _ = try call(["call"], ["SetLockedHint", "b", isLocked ? "true" : "false"], lines: 0)
    }

    private func call(
        _ verb: [String], _ member: [String], lines: Int
    ) throws(Failure) -> [[UInt8]] {
        // `auto` is this process's session or, for a program of systemd's user manager, the one on
        // the screen.
        let words =
            ["/usr/bin/busctl", "--system", "--timeout=3"] + verb + [
                "org.freedesktop.login1", "/org/freedesktop/login1/session/auto",
                "org.freedesktop.login1.Session",
            ] + member
        let ended: StartedCommand.Output
        do throws(PosixError) {
            ended = try StartedCommand.output(
                of: words.map { Array($0.utf8) }, signals, core: core, milliseconds: Self.patience)
        } catch {
            throw .noBus
        }
        // With systemd's debugging on, other lines come before these.
        guard ended.status == 0, ended.lines.count >= lines else {
            guard let reason = ended.lines.last else { throw .silent }
            throw .refused(reason)
        }
        return ended.lines.suffix(lines)
    }
}
