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
                + "passcode at the locker opens it again, if the locker's PAM service is one of PasscodeServices.",
            "The exit status of COMMAND is passed on; 126 means that it could not be run, 127 that it was not found. "
                + "If systemd-logind cannot be told, the store is locked at once, as by `appvault lock`. If a signal ends "
                + "COMMAND, so that nobody has unlocked the screen, the store is locked as well.",
            "With --detach it returns once COMMAND has gone to the background, at the latest after 5 seconds. For "
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
        case waiting
        case detached
    }

    var words: [[UInt8]]
    var way: Way

    /// How long a locker may take to lock and to go to the background, in milliseconds: as long as
    /// logind lets a sleep wait.
    private static let patience: Int32 = 5_000

    static func parse(_ arguments: Arguments) throws(UsageError) -> ScreenCommand {
        guard !arguments.has(.json) else {
            throw UsageError(
                Text("--json does not go with screen"),
                hint: Text("what COMMAND writes is all that is written"))
        }
        return ScreenCommand(
            words: arguments.operands, way: arguments.has(.detach) ? .detached : .waiting)
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        do throws(PosixError) {
            switch way {
            case .waiting: return try runLocker(run, nil)
            case .detached:
                switch try Background.split() {
                case .front(let front):
                    return ExitStatus(rawValue: front.status() ?? ExitStatus.unavailable.rawValue)
                case .behind(let behind):
                    ToolIO.exit(try runLocker(run, behind).rawValue)
                }
            }
        } catch {
            throw .refused(Refused(.busy, run.words(.screenNoProcess, ToolIO.reason(error))))
        }
    }

    /// First the locker, then logind, and only then lines that somebody has to read: nothing that
    /// hangs or is gone keeps the screen from being locked. `behind` is nil if the person waits for
    /// the command itself.
    private func runLocker(
        _ run: Run, _ behind: consuming Background.Behind?
    ) throws(PosixError) -> ExitStatus {
        let sleepDescriptor = Self.sleepDescriptor(run)
        let signals = try HeldSignals()
        let core = run.environment.core
        var locker: StartedCommand
        do throws(PosixError) {
            locker = try StartedCommand(words, signals, core: core)
        } catch {
            guard error.call == "execvp" else { throw error }
            let status = error.isMissing ? ExitStatus.notFound : .notExecutable
            run.voice.error(run.words(.screenNoLocker, words[0], ToolIO.reason(error)))
            behind.take()?.release(status.rawValue)
            return status
        }
        if let sleepDescriptor { ToolIO.close(sleepDescriptor) }
        let screen = LoginScreen(signals: signals, core: core)
        let told = tell(screen, run)
        let ending = wait(for: &locker, &behind)
        behind.take()?.release(ending.status)
        // Nobody has unlocked the screen: it may be locked still, or open to everybody.
        if ending.isBySignal { lockStore(run) }
        if let told { end(told, screen, run) }
        return ExitStatus(rawValue: ending.status)
    }

    private func wait(
        for locker: inout StartedCommand, _ behind: inout Background.Behind?
    ) -> StartedCommand.Ending {
        var patience: Int32 = -1
        if behind != nil { patience = Self.patience }
        while true {
            switch locker.next(patience) {
            case .leftRunning(let ending): behind.take()?.release(ending.status)
            case .late: behind.take()?.release(ExitStatus.success.rawValue)
            case .ended(let ending): return ending
            }
            patience = -1
        }
    }

    // MARK: logind

    /// Held while a locker runs for a session that was told to be locked.
    private struct Told: ~Copyable {
        /// nil if this person has no folder for it.
        let mark: SharedMark?

        /// Whether another locker ran for the session already.
        var isAnother: Bool {
            switch mark {
            case .some(let mark): mark.wasHeld
            case .none: false
            }
        }

        /// Nobody else says any more that the screen is locked.
        var isLast: Bool {
            switch mark {
            case .some(let mark): mark.isLast()
            case .none: true
            }
        }
    }

    /// Returns nil if logind was not told anything.
    private func tell(_ screen: LoginScreen, _ run: Run) -> Told? {
        var session: LoginScreen.Session
        do throws(LoginScreen.Failure) {
            session = try screen.session()
        } catch {
            lockInstead(error, run)
            return nil
        }
        let told = Told(mark: Self.mark(of: session, run))
        do throws(LoginScreen.Failure) {
            // The other one may have said its last word meanwhile.
            if told.isAnother { session = try screen.session() }
            // It has been told, and not taken back by a locker that was killed: nobody would hear
            // the same again.
            if session.isLocked, !told.isAnother { try screen.tell(isLocked: false) }
            if !session.isLocked || !told.isAnother { try screen.tell(isLocked: true) }
        } catch {
            lockInstead(error, run)
        }
        return told
    }

    private func lockInstead(_ failure: LoginScreen.Failure, _ run: Run) {
        let reason =
            switch failure {
            case .noBus: run.words(.screenNoBus)
            case .silent: run.words(.screenSilent)
            case .noScreen: run.words(.screenNone)
            case .refused(let answer): answer
            }
        if lockStore(run) { run.voice.info(run.words(.screenUntold, reason)) }
    }

    /// Another locker may run for the same session; the last one says that it is not locked any
    /// more.
    private func end(_ told: consuming Told, _ screen: LoginScreen, _ run: Run) {
        guard told.isLast else { return }
        do throws(LoginScreen.Failure) {
            try screen.tell(isLocked: false)
        } catch {
            run.voice.info(run.words(.screenStillTold))
        }
    }

    private static func mark(of session: LoginScreen.Session, _ run: Run) -> SharedMark? {
        guard let folder = run.environment.variable("XDG_RUNTIME_DIR"), folder.first == 0x2F else {
            return nil
        }
        return try? SharedMark(at: folder + Array("/appvault-screen-\(session.id)".utf8))
    }

    /// False if it may be open still; then a line says why.
    @discardableResult
    private func lockStore(_ run: Run) -> Bool {
        // The locker may run for hours, and a connection is a place that others may need.
        defer { run.disconnect() }
        do throws(ClientError) {
            _ = try run.conversation().finish(.lock, try run.target())
            return true
        } catch {
            // Without a daemon or a store nothing is open.
            let isNothingOpen =
                error == .unavailable(.notRunning) || error.refusal.known == .doesNotExist
            if !isNothingOpen { run.voice.refusal(error.refusal, run.words) }
            return isNothingOpen
        }
    }

    /// xss-lock waits with the machine's sleep until everybody has closed this descriptor. The
    /// locker has its own. To be asked before we open anything: then the number is nobody else's.
    private static func sleepDescriptor(_ run: Run) -> Int32? {
        guard let number = run.environment.variable("XSS_SLEEP_LOCK_FD"),
            let descriptor = Int32(String(decoding: number, as: UTF8.self)), descriptor > 2,
            ToolIO.isOpen(descriptor)
        else { return nil }
        return descriptor
    }
}
