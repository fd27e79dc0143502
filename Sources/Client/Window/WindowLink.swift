import DesktopEntries
import PamStacks
import Posix
import ToolTexts
import Wire

/// The daemon, as the window's own thread talks to it. Not for any other thread.
package final class WindowLink {
    let run: Run
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
    func connect() throws(ClientError) -> Connection {
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

    // MARK: What is wrong

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

    /// What the person is asked here is answered before there is a connection, however long they take.
    private func carryOut(_ request: WindowRequest) throws(ClientError) -> [[UInt8]] {
        func target(_ store: [UInt8]) -> Target { Target(store: store) }
        func talk() throws(ClientError) -> WindowTalk { try self.talk(request) }
        let asking = WindowQuestions(
            words: words, title: title(request), inbox: inbox, show: show)
        switch request {
        case .welcome:
            let way: Create.Way =
                switch run.wiring {
                case .followsLogin: .guidedFollowLogin
                case .ownPasscode, .none: .guidedOwnPasscode
                }
            let talk = try talk()
            let isOld = talk.connection.version < Limits.versionWithScreens
            let usual: Create.Way =
                way == .guidedFollowLogin ? .usuallyFollowLogin : .usuallyOwnPasscode
            return try talk.finish(
                .create, Create(target: Target(), way: isOld ? usual : way, openExisting: false))
        case .unlock(let store): return try talk().finish(.openStore, target(store))
        case .lock(let store): return try talk().finish(.lock, target(store))
        case .change(let store):
            return try talk().finish(.passcode, Passcode(target: target(store), change: .change))
        case .enrol(let store):
            let known = try connect().ask(
                .fingerprintList, target(store), for: .fingerprintState, FingerprintState.self)
            let finger = try asking.finger(known: known.fingers.map(\.finger))
            return try talk().finish(
                .fingerprintEnroll,
                FingerRequest(subject: Subject(), store: store, finger: finger))
        case .deleteFinger(let store, let finger):
            try asking.agree(.finger, .windowFingerDelete)
            // `unnamed` would be all of them.
            guard finger != .unnamed else { throw .refused(Refused(.cancelled, [])) }
            return try talk().finish(
                .fingerprintDelete,
                FingerRequest(subject: Subject(), store: store, finger: finger))
        case .newRecoveryKey(let store): return try talk().finish(.recoveryNew, target(store))
        case .recover(let store): return try talk().finish(.recover, target(store))
        case .consents: return try talk().finish(.consentAsk, ConsentAsk(again: true))
        case .people: return try talk().finish(.switchStore, SwitchStore(store: [], act: .ask))
        case .newStore:
            let (name, way) = try asking.newStore()
            return try talk().finish(
                .create, Create(target: target(name), way: way, openExisting: false))
        case .share(let store):
            let (whom, role) = try asking.member()
            return try talk().finish(
                .share,
                ShareStore(target: target(store), kind: whom.kind, name: whom.name, role: role))
        case .unshare(let store, let member):
            try asking.agree(.people, .windowUnshare)
            return try talk().finish(
                .unshare,
                UnshareStore(target: target(store), kind: member.kind, name: member.name))
        case .freeApp(let name):
            try asking.agree(.lock, .windowFree)
            return [try free(name)]
        case .join(let invitation):
            return try talk().finish(.joinAsk, JoinAsk(invitation: try text(of: invitation)))
        }
    }

    private func talk(_ request: WindowRequest) throws(ClientError) -> WindowTalk {
        WindowTalk(
            connection: try connect(), words: words, title: title(request), inbox: inbox,
            show: show,
            prove: run.accountName().map { user in
                { [folder = run.settings.pamFolder] typed in
                    LoginProof.check(user: user, password: &typed, folder: folder)
                }
            })
    }

    private func free(_ name: [UInt8]) throws(ClientError) -> [UInt8] {
        guard let id = ApplicationID(name) else {
            throw .refused(
                Refused(.doesNotExist, words(.appMissing, Printable.escaped(name))))
        }
        do throws(LockedApps.Failure) {
            _ = try LockedApps(run.environment).remove(id)
        } catch {
            throw .refused(error.refusal(id, words))
        }
        return words(.appRemoved, id.name)
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
        let facts = request.facts
        guard let name = facts.name, !name.isEmpty, let named = facts.named else {
            return words(facts.title)
        }
        return words(named, name)
    }
}

extension WindowRequest {
    fileprivate struct Facts {
        /// What stands above the questions that are no screens.
        let title: ToolText
        /// The same with the name of what it is about.
        var named: ToolText?
        var name: [UInt8]?
        /// The store whose passcode is asked for, if it is one.
        var passcodeOf: [UInt8]?
    }

    fileprivate var passcodeOf: [UInt8]? { facts.passcodeOf }

    fileprivate var facts: Facts {
        switch self {
        case .welcome: Facts(title: .windowBegin)
        case .unlock(let store):
            Facts(
                title: .windowUnlock, named: .windowUnlockNamed, name: Printable.escaped(store),
                passcodeOf: store)
        case .lock: Facts(title: .windowLock)
        case .change(let store): Facts(title: .windowChange, passcodeOf: store)
        case .enrol(let store): Facts(title: .windowFinger, passcodeOf: store)
        case .deleteFinger(let store, _): Facts(title: .windowFingerDelete, passcodeOf: store)
        case .newRecoveryKey(let store): Facts(title: .windowRecovery, passcodeOf: store)
        case .recover(let store):
            Facts(
                title: .windowRecover, named: .windowRecoverNamed, name: Printable.escaped(store))
        case .consents: Facts(title: .windowConsents)
        case .people: Facts(title: .windowPeople)
        case .newStore: Facts(title: .windowNewStore)
        case .share(let store):
            Facts(
                title: .windowShare, named: .windowShareNamed, name: Printable.escaped(store),
                passcodeOf: [])
        case .unshare(_, let member):
            Facts(
                title: .windowUnshare, named: .windowUnshareNamed, name: member.text,
                passcodeOf: [])
        case .freeApp(let name): Facts(title: .windowFree, named: .windowFreeNamed, name: name)
        case .join: Facts(title: .windowJoin)
        }
    }
}
