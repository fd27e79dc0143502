import Policy
import Posix
import ToolTexts
import Wire

/// Asks, and then becomes the command: the terminal, the signals and the exit status are its own.
struct RunCommand: Command {
    static let entry = VerbEntry(
        words: ["run"], group: .apps, operands: ["-- COMMAND", "[ARGUMENT]..."],
        options: [.app, .require, .onLock, .variable, .file],
        summary: "run an application that is locked with its store",
        text: [
            "Before COMMAND starts, you show what the application demands: its store is open (if not, it is opened), or "
                + "with --require a finger or the passcode, also while the store is open. The policy may demand more, in "
                + "its section [App ID].",
            "While COMMAND runs and its store is locked, all of its processes are frozen, and on X11 its windows are not "
                + "shown. They go on when the store is open again; with --require finger or passcode, only after "
                + "`appvault app open ID`, or when you start the application once more. --on-lock quit ends it instead; "
                + "--on-lock stay does nothing. On Wayland a frozen window stays as it is.",
            "--file gives a record to COMMAND as a file that exists only in memory, and its path in the variable; "
                + "APPVAULT_CREDENTIALS has all of these paths, each with its name. --env puts the record itself into "
                + "the variable, where every program of yours can read it.",
            "This protects against somebody who uses your desk while you are away. It does not protect against other "
                + "programs of yours: they can start COMMAND themselves, let it go on, or read its memory.",
            "The exit status is COMMAND's; 126 means that it could not be run, 127 that it was not found.",
        ],
        json: [],
        examples: [
            .init(command: "appvault run -- evolution", meaning: "a mail program"),
            .init(
                command:
                    "appvault run --file TOKEN=github -- sh -c 'gh auth login --with-token <$TOKEN'",
                meaning: "a token, for this program alone"),
        ])
    static let offer = RecoveryOffer.never

    struct Secret: Equatable {
        enum Way { case variable, file }

        var way: Way
        var name: [UInt8]
        var record: [UInt8]
    }

    var words: [[UInt8]]
    var id: String
    var lock: AppLock
    var secrets: [Secret]

    static func parse(_ arguments: Arguments) throws(UsageError) -> RunCommand {
        guard !arguments.has(.json) else {
            throw UsageError(
                Text("--json does not go with run"),
                hint: Text("what COMMAND writes is all that is written"))
        }
        let lock = AppLock(
            require: try arguments.word(.require, AppLock.Opener.self),
            onLock: try arguments.word(.onLock, AppLock.OnLock.self))
        return RunCommand(
            words: arguments.operands, id: try id(arguments), lock: lock,
            secrets: try secrets(.variable, .variable, arguments)
                + secrets(.file, .file, arguments))
    }

    /// Without --app, the command's own name.
    private static func id(_ arguments: Arguments) throws(UsageError) -> String {
        let given = arguments.options[.app]
        let bytes = given ?? Array(arguments.operands[0].split(separator: 0x2F).last ?? [])
        guard AppRules.isID(bytes) else {
            throw UsageError(
                Text(Printable.escaped(bytes), " is not the id of an application"),
                hint: Text("--app ID: letters, digits, points, hyphens and underscores"))
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func secrets(
        _ option: Option, _ way: Secret.Way, _ arguments: Arguments
    ) throws(UsageError) -> [Secret] {
        var secrets: [Secret] = []
        for given in arguments.repeated[option] ?? [] {
            let name = given.prefix { $0 != 0x3D }
            let record = given.dropFirst(name.count + 1)
            guard isVariable(name), !record.isEmpty, record.count <= Limits.name else {
                throw UsageError(
                    Text(option.entry.flag, " ", Printable.escaped(given), " cannot be"),
                    hint: Text(
                        option.entry.usage, ", as in ", option.entry.flag, " TOKEN=github"))
            }
            secrets.append(Secret(way: way, name: Array(name), record: Array(record)))
        }
        return secrets
    }

    private static func isVariable(_ name: ArraySlice<UInt8>) -> Bool {
        guard let first = name.first, !(0x30...0x39 ~= first) else { return false }
        return name.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x5F, 0x61...0x7A: true
            default: false
            }
        }
    }

    // MARK: run

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        let target = try run.target()
        // One that is locked goes on instead, and what it has demanded at its start holds for that.
        let others = RunningApp.all(run.environment).filter { $0.id == id && $0.isLocked }
        let demands = others.map(\.demand) + [(lock.require ?? .open).wire]
        let app = App(
            target: target, id: Array(id.utf8),
            demand: demands.max { $0.rawValue < $1.rawValue } ?? .open)
        let policy = try run.connect().ask(.appRules, app, for: .appPolicy, AppPolicy.self)
        let kept = try kept(policy, run)
        if case .stay = kept.onLock {} else { try AgentReach.require(run) }
        _ = try run.conversation().finish(.appOpen, app)
        run.disconnect()
        let signals: HeldSignals
        do throws(PosixError) { signals = try HeldSignals() } catch {
            throw .refused(
                Refused(.busy, run.words(.runNoCommand, words[0], ToolIO.reason(error))))
        }
        switch kept.onLock {
        case .stay: break
        case .freeze, .quit:
            guard try start(kept, signals, run) else { return .success }
        }
        // Last, for this process alone: what it has started until here has seen none of it.
        try give(policy.store, run)
        run.disconnect()
        if let descriptor = run.settings.passcodeDescriptor { BecomingCommand.keep(descriptor) }
        let failure = BecomingCommand.become(words, signals, core: run.environment.core)
        run.voice.error(run.words(.runNoCommand, words[0], ToolIO.reason(failure)))
        return failure.isMissing ? .notFound : .notExecutable
    }

    /// What the policy writes, the person does not choose.
    private func kept(_ policy: AppPolicy, _ run: Run) throws(ClientError) -> RunningApp {
        let wanted = lock.onLock?.wire ?? policy.onLock
        guard wanted == policy.onLock || !policy.onLockIsWritten else {
            throw .refused(
                Refused(
                    .policyDenies,
                    run.words(.runOnLock, id, AppLock.OnLock(policy.onLock).rawValue),
                    parameters: [.init(name: Array("key".utf8), value: Array("OnLock".utf8))]))
        }
        let process = UInt32(bitPattern: ThisProcess.pid)
        return RunningApp(
            scope: RunningApp.scope(of: id, process), id: id,
            store: String(decoding: policy.store, as: UTF8.self), demand: policy.demand,
            onLock: wanted, background: policy.background, timeout: policy.timeout)
    }

    /// False if the application runs already and goes on.
    private func start(
        _ app: RunningApp, _ signals: HeldSignals, _ run: Run
    ) throws(ClientError) -> Bool {
        let link = AgentLink(signals: signals, core: run.environment.core)
        let scope: [UInt8]
        do throws(AgentLink.Failure) {
            scope = try link.start(app, UInt32(bitPattern: ThisProcess.pid))
        } catch {
            throw error.refused(run)
        }
        guard !scope.isEmpty else {
            run.voice.done(run.words(.runGoesOn, id))
            return false
        }
        // By the kernel's word, not by the agent's: another user's agent could not do it.
        let end = ToolIO.milliseconds + 10_000
        while BecomingCommand.controlGroup?.hasSuffix(scope) != true {
            guard ToolIO.milliseconds < end else {
                throw .refused(
                    Refused(
                        .serviceUnavailable, run.words(.runNoAgent, run.words(.runNotMoved)),
                        hint: run.words(.runHint)))
            }
            ToolIO.wait(milliseconds: 1)
        }
        return true
    }

    // MARK: what the command gets

    private func give(_ store: [UInt8], _ run: Run) throws(ClientError) {
        var paths: [[UInt8]] = []
        for secret in secrets {
            var value = SecretBuffer()
            try run.connect().get(secret.record, store: store, into: &value)
            switch secret.way {
            case .variable:
                guard !value.contains(0x00) else {
                    throw .refused(
                        Refused(
                            .dataType, run.words(.runBadValue, Printable.escaped(secret.record)),
                            hint: run.words(.runBadValueHint)))
                }
                try set(secret.name, value, run)
            case .file:
                let path: [UInt8]
                do throws(PosixError) { path = try SealedFile(value).leave() } catch {
                    throw .refused(
                        Refused(
                            .outOfMemory,
                            run.words(.runNoSecret, secret.name, ToolIO.reason(error))))
                }
                paths.append(secret.name + [0x3D] + path)
                var shown = SecretBuffer()
                shown.append(path)
                try set(secret.name, shown, run)
            }
        }
        guard !paths.isEmpty else { return }
        var all = SecretBuffer()
        all.append(Array(paths.joined(separator: [0x20])))
        try set(Array("APPVAULT_CREDENTIALS".utf8), all, run)
    }

    private func set(
        _ name: [UInt8], _ value: borrowing SecretBuffer, _ run: Run
    ) throws(ClientError) {
        guard BecomingCommand.set(name, to: value) else {
            throw .refused(
                Refused(.outOfMemory, run.words(.runNoSecret, name, Array("setenv".utf8))))
        }
    }
}

/// Before anything is asked: whether an agent could be reached at all.
enum AgentReach {
    static func require(_ run: Run) throws(ClientError) {
        guard run.environment.variable("XDG_RUNTIME_DIR")?.first == 0x2F else {
            throw .refused(
                Refused(
                    .serviceUnavailable, run.words(.runNoFolder), hint: run.words(.runHint)))
        }
    }
}

extension AgentLink.Failure {
    func refused(_ run: Run) -> ClientError {
        let reason =
            switch self {
            case .noBus: run.words(.runNoBus)
            case .refused(let line): line.isEmpty ? run.words(.runNoBus) : Printable.escaped(line)
            }
        return .refused(
            Refused(
                .serviceUnavailable, run.words(.runNoAgent, reason), hint: run.words(.runHint)))
    }
}

extension [UInt8] {
    fileprivate func hasSuffix(_ other: [UInt8]) -> Bool {
        count >= other.count && suffix(other.count).elementsEqual(other)
    }
}

extension AppLock.Opener {
    var wire: AppDemand {
        switch self {
        case .open: .open
        case .finger: .finger
        case .passcode: .passcode
        }
    }
}

extension AppLock.OnLock {
    var wire: AppPolicy.OnLock {
        switch self {
        case .freeze: .freeze
        case .quit: .quit
        case .stay: .stay
        }
    }

    init(_ wire: AppPolicy.OnLock) {
        self =
            switch wire {
            case .freeze: .freeze
            case .quit: .quit
            case .stay: .stay
            }
    }
}
