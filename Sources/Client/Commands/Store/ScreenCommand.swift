import Posix
import ToolTexts
import Wire

/// Whatever happens here, the screen gets locked: if the store cannot be, a line says so, and the
/// locker runs all the same.
struct ScreenCommand: Command {
    static let entry = VerbEntry(
        words: ["screen"], group: .store, operands: ["-- COMMAND", "[ARGUMENT]..."],
        options: [.detach],
        summary: "run a screen locker, and lock the store with it",
        text: [
            "For lockers that tell nobody that the screen is locked: swaylock, i3lock, gtklock, hyprlock, vlock and "
                + "others. While COMMAND runs, or what it has left running in the background, the session counts as "
                + "locked. So LockOnBackground and LockTimeout of the policy lock the store as with other lockers. The "
                + "passcode at the locker opens it again.",
            "The exit status of COMMAND is passed on; 127 means that it was not found. If "
                + "systemd-logind cannot be told, the store is locked at once, as by `appvault lock`.",
            "With --detach the command returns as soon as COMMAND has gone to the background, or after a second. For "
                + "swayidle and others that wait until the screen is locked, use a locker that goes to the background "
                + "once it has locked: `swaylock -f`, or `i3lock` without -n.",
        ],
        json: [],
        examples: [
            .init(command: "appvault screen -- swaylock", meaning: "lock the screen and the store"),
            .init(
                command: "swayidle -w before-sleep 'appvault screen --detach -- swaylock -f'",
                meaning: "both before the machine sleeps"),
        ])
    static let offer = RecoveryOffer.never

    enum Way: Equatable {
        case inFront
        case detached
    }

    var words: [[UInt8]]
    var way: Way

    /// How long a locker may take to lock and to go to the background, in milliseconds.
    private static let patience: Int32 = 1_000

    static func parse(_ arguments: Arguments) -> ScreenCommand {
        ScreenCommand(
            words: arguments.operands, way: arguments.has(.detach) ? .detached : .inFront)
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        switch way {
        case .inFront: return lock(run, nil)
        case .detached: return try detach(run)
        }
    }

    private func detach(_ run: Run) throws(ClientError) -> ExitStatus {
        do throws(PosixError) {
            switch try Background.split() {
            case .front(let front):
                return ExitStatus(rawValue: front.status() ?? ExitStatus.unavailable.rawValue)
            case .behind(let behind):
                ToolIO.exit(lock(run, behind).rawValue)
            }
        } catch {
            throw .refused(Refused(.outOfMemory, run.words(.screenNoProcess, ToolIO.reason(error))))
        }
    }

    /// `behind` is nil if the person waits for the command itself.
    private func lock(_ run: Run, _ behind: consuming Background.Behind?) -> ExitStatus {
        let screen = LoginScreen(core: run.environment.core)
        let isTold = tell(screen, run)
        let status: ExitStatus
        do throws(PosixError) {
            var locker = try StartedCommand(words, core: run.environment.core)
            letSleep(run)
            status = wait(for: &locker, &behind)
        } catch {
            run.voice.error(run.words(.screenNoLocker, words[0], ToolIO.reason(error)))
            status = error.isMissing ? .notFound : .notExecutable
        }
        if isTold { try? screen.tell(isLocked: false) }
        behind.take()?.release(status.rawValue)
        return status
    }

    private func wait(
        for locker: inout StartedCommand, _ behind: inout Background.Behind?
    ) -> ExitStatus {
        var patience: Int32 = -1
        if behind != nil { patience = Self.patience }
        while true {
            switch locker.next(patience) {
            case .leftRunning, .late:
                behind.take()?.release(ExitStatus.success.rawValue)
                patience = -1
            case .ended(let status): return ExitStatus(rawValue: status)
            }
        }
    }

    /// Returns whether logind was told, so that it has to be told of the end as well.
    private func tell(_ screen: LoginScreen, _ run: Run) -> Bool {
        do throws(LoginScreen.Failure) {
            // If the session counts as locked already, for whatever reason, the daemon hears of no
            // change.
            if try screen.isLocked() { lockStore(run) }
            try screen.tell(isLocked: true)
            return true
        } catch {
            let reason =
                switch error {
                case .noBus: run.words(.screenNoBus)
                case .refused(let answer): answer
                }
            run.voice.info(run.words(.screenUntold, reason))
            lockStore(run)
            return false
        }
    }

    private func lockStore(_ run: Run) {
        do throws(ClientError) {
            _ = try run.conversation().finish(.lock, try run.target())
            // The locker may run for hours, and a connection is a place that others may need.
            run.disconnect()
        } catch {
            // Without a daemon or a store nothing is open.
            if error == .unavailable(.notRunning) || error.refusal.known == .doesNotExist { return }
            run.voice.refusal(error.refusal, run.words)
        }
    }

    /// xss-lock waits with the machine's sleep until everybody has closed this descriptor. The
    /// locker has its own.
    private func letSleep(_ run: Run) {
        guard let number = run.environment.variable("XSS_SLEEP_LOCK_FD"),
            let descriptor = Int32(String(decoding: number, as: UTF8.self)), descriptor > 2
        else { return }
        ToolIO.close(descriptor)
    }
}
