import PamStacks
import Posix
import ToolTexts
import Wire

/// The daemon, as the window's own thread talks to it. Not for any other thread.
package final class WindowLink {
    private let run: Run
    private let socket: [UInt8]
    private let inbox: Inbox
    private let show: @Sendable (WindowShow) -> Void
    private var held: Connection?
    private(set) var words = OwnWords.english

    package init(
        socket: [UInt8], pamFolder: [UInt8]?, inbox: Inbox,
        show: @escaping @Sendable (WindowShow) -> Void
    ) {
        var settings = Settings()
        settings.socket = socket
        settings.pamFolder = pamFolder
        let environment = Environment.ofThisProcess(core: ToolIO.leaveNoCore())
        run = Run(environment, settings, Voice(environment), verb: "appvault-desktop")
        self.socket = socket
        self.inbox = inbox
        self.show = show
    }

    // MARK: The connection

    /// One that is idle for five minutes is ended by the daemon, so each thing that somebody begins gets a new one.
    private func connect() throws(ClientError) -> Connection {
        // A recovery key may be shown here: a person reads it, and has asked for it.
        var hello = Hello(frontEnd: .terminal, realUID: ToolIO.realUID)
        hello.service = Array("appvault-desktop".utf8)
        hello.language = run.environment.language
        hello.version = Limits.versionWithScreens
        do throws(ClientError) {
            return try Connection(path: socket, hello: hello)
        } catch .refused(let refused) where refused.code == Code.serviceUnavailable.rawValue {
            // A daemon of a former release, until it is started anew: it asks line by line.
            hello.version = Limits.version
            return try Connection(path: socket, hello: hello)
        }
    }

    /// The window's own texts in the person's language, with the administrator's replacements.
    package func texts() throws(ClientError) -> [[UInt8]: [UInt8]] {
        let texts = OwnWords.texts(try connect().texts())
        words = OwnWords { texts }
        return texts
    }

    /// Why nothing can be done, in words.
    package func refusal(_ error: ClientError) -> WindowEnd {
        let refused = error.refusal.complete(words)
        return refused.known == .cancelled
            ? .cancelled(message: refused.message, hint: refused.hint)
            : .refused(message: refused.message, hint: refused.hint)
    }

    // MARK: What there is

    package func state() throws(ClientError) -> WindowState {
        let connection = try connect()
        var state = WindowState()
        state.stores = try connection.stores(of: Subject(), all: false).map { entry in
            WindowState.Store(
                id: entry.store, name: entry.name, lock: entry.lock,
                text: entry.kind == .follows && !entry.parent.isEmpty
                    ? words(
                        .windowFollows, words(StatusView.text(entry.lock).0),
                        Printable.escaped(entry.parent))
                    : words(
                        .windowState, words(StatusView.text(entry.lock).0),
                        StoreListView.way(entry, words)),
                isFollowing: entry.kind != .own)
        }
        let fleet = try? connection.ask(.fleetStatus, Empty(), for: .fleetState, FleetState.self)
        state.mayJoin = fleet.map { $0.organisation.isEmpty && $0.problem.isEmpty } ?? false
        guard !state.stores.isEmpty else { return state }
        let first = try connection.status(Target())
        state.advice = first.advice
        let list = try connection.ask(.actions, Target(), for: .actionList, ActionList.self)
        state.actions = WindowState.Action.Name.allCases.compactMap { name in
            list.actions.first { $0.name == Array(name.rawValue.utf8) }.map {
                WindowState.Action(name: name, isAllowed: $0.allowed, reason: $0.reason)
            }
        }
        let fingers = try? connection.ask(
            .fingerprintList, Target(), for: .fingerprintState, FingerprintState.self)
        state.hasReader = fingers.map { !$0.readers.isEmpty } ?? false
        let consents = try? connection.ask(
            .consents, Empty(), for: .consentList, ConsentList.self)
        state.hasConsents = consents.map { !$0.items.isEmpty } ?? false
        return state
    }

    /// What `doctor` finds, the bad first.
    package func findings() -> [(text: [UInt8], mend: [UInt8], isBroken: Bool)] {
        DoctorCommand.findings(run) { Doctor.Desktop() }.filter { finding in
            switch finding.state {
            case .warning, .broken: finding.link != .secrets
            case .ok, .unseen: false
            }
        }.map { finding in
            (
                Text(words(finding.link.title), ": ", finding.text).bytes,
                Array(finding.mend.utf8), finding.state == .broken
            )
        }
    }

    // MARK: What somebody starts

    package func perform(_ request: WindowRequest) -> WindowEnd {
        do throws(ClientError) {
            return .done(try carryOut(request))
        } catch {
            if error.refusal.known == .resetRequested, let store = request.passcodeOf,
                (try? connect().status(Target(store: store)))?.hasRecoveryKey == true
            {
                return perform(.recover(store: store))
            }
            return refusal(error)
        }
    }

    private func carryOut(_ request: WindowRequest) throws(ClientError) -> [[UInt8]] {
        func target(_ store: [UInt8]) -> Target { Target(store: store) }
        let talk = WindowTalk(
            connection: try connect(), words: words, title: title(request), inbox: inbox,
            show: show,
            prove: run.accountName().map { user in
                { [folder = run.settings.pamFolder] typed in
                    LoginProof.check(user: user, password: &typed, folder: folder)
                }
            })
        switch request {
        case .welcome:
            let way: Create.Way =
                switch run.wiring {
                case .followsLogin: .guidedFollowLogin
                case .ownPasscode, .none: .guidedOwnPasscode
                }
            let isOld = talk.connection.version < Limits.versionWithScreens
            let usual: Create.Way =
                way == .guidedFollowLogin ? .usuallyFollowLogin : .usuallyOwnPasscode
            return try talk.finish(
                .create, Create(target: Target(), way: isOld ? usual : way, openExisting: false))
        case .unlock(let store): return try talk.finish(.openStore, target(store))
        case .lock(let store): return try talk.finish(.lock, target(store))
        case .change(let store):
            return try talk.finish(.passcode, Passcode(target: target(store), change: .change))
        case .enrol(let store):
            let known = try talk.connection.ask(
                .fingerprintList, target(store), for: .fingerprintState, FingerprintState.self)
            let finger = try talk.finger(known: known.fingers.map(\.finger))
            return try talk.finish(
                .fingerprintEnroll,
                FingerRequest(subject: Subject(), store: store, finger: finger))
        case .newRecoveryKey(let store): return try talk.finish(.recoveryNew, target(store))
        case .recover(let store): return try talk.finish(.recover, target(store))
        case .consents: return try talk.finish(.consentAsk, ConsentAsk(again: true))
        case .people: return try talk.finish(.switchStore, SwitchStore(store: [], act: .ask))
        case .join(let invitation):
            return try talk.finish(.joinAsk, JoinAsk(invitation: try text(of: invitation)))
        }
    }

    /// What stands in a picture is read by another program.
    private func text(of invitation: [UInt8]) throws(ClientError) -> [UInt8] {
        guard !invitation.isEmpty else { return [] }
        let operand: InvitationOperand
        do throws(UsageError) {
            operand = try InvitationOperand(invitation)
        } catch {
            throw .refused(
                Refused(.invalidArgument, error.message.bytes, hint: error.hint.bytes))
        }
        return try run.text(of: operand)
    }
}

extension WindowLink {
    private func title(_ request: WindowRequest) -> [UInt8] {
        switch request {
        case .unlock(let store) where !store.isEmpty:
            words(.windowUnlockNamed, Printable.escaped(store))
        case .recover(let store) where !store.isEmpty:
            words(.windowRecoverNamed, Printable.escaped(store))
        case .welcome, .unlock, .lock, .change, .enrol, .newRecoveryKey, .recover, .consents,
            .people, .join:
            words(request.title)
        }
    }
}

extension WindowRequest {
    /// What stands above the questions that are no screens.
    fileprivate var title: ToolText {
        switch self {
        case .welcome: .windowBegin
        case .unlock: .windowUnlock
        case .lock: .windowLock
        case .change: .windowChange
        case .enrol: .windowFinger
        case .newRecoveryKey: .windowRecovery
        case .recover: .windowRecover
        case .consents: .windowConsents
        case .people: .windowPeople
        case .join: .windowJoin
        }
    }

    /// The store whose passcode is asked for, if it is one.
    fileprivate var passcodeOf: [UInt8]? {
        switch self {
        case .unlock(let store), .change(let store), .enrol(let store),
            .newRecoveryKey(let store):
            store
        case .welcome, .lock, .recover, .consents, .people, .join: nil
        }
    }
}
