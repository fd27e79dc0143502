import Posix

/// Says to logind whether the screen of this session is locked. The daemon hears it from there, as
/// it does of lockers that say it themselves. logind takes it from the session's owner alone.
struct LoginScreen {
    enum Failure: Error, Equatable {
        /// systemd's busctl is not installed.
        case noBus
        /// logind's answer, in its own words.
        case refused([UInt8])
    }

    let core: ToolIO.CoreLimit

    /// Whether the screen counts as locked already.
    func isLocked() throws(Failure) -> Bool {
        try call(["get-property"], "LockedHint") == Array("b true".utf8)
    }

    func tell(isLocked: Bool) throws(Failure) {
        _ = try call(["call"], "SetLockedHint", "b", isLocked ? "true" : "false")
    }

    private func call(_ verb: [String], _ member: String...) throws(Failure) -> [UInt8] {
        // `auto` is this process's session or, for a program of systemd's user manager, the one on
        // the screen.
        let words =
            ["/usr/bin/busctl", "--system", "--timeout=3"] + verb + [
                "org.freedesktop.login1", "/org/freedesktop/login1/session/auto",
                "org.freedesktop.login1.Session",
            ] + member
        let ended: (status: Int32, output: [UInt8])
        do throws(PosixError) {
            ended = try StartedCommand.output(of: words.map { Array($0.utf8) }, core: core)
        } catch {
            throw .noBus
        }
        guard ended.status == 0 else { throw .refused(ended.output) }
        return ended.output
    }
}
