import DesktopEntries
import PamStacks
import Posix
import ToolTexts
import Wire
import Words

/// Where a window finds what it works with: for private set-ups.
package struct WindowPlaces: Sendable {
    package var socket = Connection.defaultPath
    package var pamFolder: [UInt8]?
    package var scanner: [UInt8]?
    /// Nil: the first one that there is.
    package var camera: [UInt8]?

    package init() {}
}

/// The daemon, as the window's own thread talks to it. Not for any other thread.
package final class WindowLink {
    private let run: Run
    private let socket: [UInt8]
    private let inbox: Inbox
    private let camera: [UInt8]?
    private let show: @Sendable (WindowShow) -> Void
    private var held: Connection?
    private(set) var words = OwnWords.english

    package init(
        _ places: WindowPlaces, inbox: Inbox, show: @escaping @Sendable (WindowShow) -> Void
    ) {
        let socket = places.socket
        var settings = Settings()
        if let scanner = places.scanner { settings.scanner = scanner }
        camera = places.camera
        settings.socket = socket
        settings.pamFolder = places.pamFolder
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
        let stores = try connection.stores(of: Subject(), all: false)
        state.stores = stores.map { entry in
            WindowState.Store(
                id: entry.store,
                name: entry.name.isEmpty ? Array("default".utf8) : entry.typedName,
                lock: entry.lock,
                text: entry.kind == .follows && !entry.parent.isEmpty
                    ? words(
                        .windowFollows, words(StatusView.text(entry.lock).0),
                        Printable.escaped(entry.parent))
                    : words(
                        .windowState, words(StatusView.text(entry.lock).0),
                        StoreListView.way(entry, words)),
                mayLock: !entry.isOfAnother)
        }
        let fleet = try? connection.ask(.fleetStatus, Empty(), for: .fleetState, FleetState.self)
        state.mayJoin = fleet.map { $0.organisation.isEmpty && $0.problem.isEmpty } ?? false
        let consents = try? connection.ask(
            .consents, Empty(), for: .consentList, ConsentList.self)
        let organisation = WindowSections(words: words).organisation(fleet, consents)
        guard !stores.isEmpty else {
            state.sections = organisation.map { [$0] } ?? []
            return state
        }
        let first = try connection.status(Target())
        state.isOpen = first.lock == .unlocked
        state.trouble = first.trouble
        state.advice = first.advice
        let list = try connection.ask(.actions, Target(), for: .actionList, ActionList.self)
        state.actions = WindowState.Action.Name.allCases.compactMap { name in
            list.actions.first { $0.name == Array(name.rawValue.utf8) }.map {
                WindowState.Action(name: name, isAllowed: $0.allowed, reason: $0.reason)
            }
        }
        state.sections = sections(stores, first, organisation, connection)
        return state
    }

    /// What cannot be asked for is left out: the rest is still of use.
    private func sections(
        _ stores: [StoreList.Entry], _ first: State, _ organisation: WindowSection?,
        _ connection: Connection
    ) -> [WindowSection] {
        let made = WindowSections(words: words)
        let fingers = try? connection.ask(
            .fingerprintList, Target(), for: .fingerprintState, FingerprintState.self)
        let members = stores.filter { $0.members > 0 }.compactMap { store in
            (try? connection.members(of: store, Subject())).map {
                made.members($0, of: store, uid: run.environment.uid)
            }
        }
        let apps = (try? LockedApps(run.environment)).map {
            made.applications($0.list(), RunningApp.all(run.environment))
        }
        var sections: [WindowSection] = []
        if let fingers, let section = made.fingers(fingers, of: []) { sections.append(section) }
        sections += members
        if let organisation { sections.append(organisation) }
        if let apps { sections.append(apps) }
        sections.append(made.stores(first))
        return sections
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
            if error.refusal.known == .resetRequested, let store = request.facts.passcodeOf,
                (try? connect().status(Target(store: store)))?.hasRecoveryKey == true
            {
                return perform(.recover(store: store))
            }
            return refusal(error)
        }
    }

    private func carryOut(_ request: WindowRequest) throws(ClientError) -> [[UInt8]] {
        let forms = WindowForms(
            title: request.title(words), words: words, inbox: inbox, show: show)
        try forms.confirm(request)
        func finish<B: Body>(_ type: RequestType, _ body: B) throws(ClientError) -> [[UInt8]] {
            try talk(request).finish(type, body)
        }
        func target(_ store: [UInt8]) -> Target { Target(store: store) }
        func unshare(_ store: [UInt8], _ whom: SharedWith) throws(ClientError) -> [[UInt8]] {
            try finish(
                .unshare, UnshareStore(target: target(store), kind: whom.kind, name: whom.name))
        }
        switch request {
        case .welcome: return try welcome(try talk(request))
        case .unlock(let store): return try finish(.openStore, target(store))
        case .lock(let store): return try finish(.lock, target(store))
        case .change(let store):
            return try finish(.passcode, Passcode(target: target(store), change: .change))
        case .enrol(let store):
            let known = try connect().ask(
                .fingerprintList, target(store), for: .fingerprintState, FingerprintState.self)
            let finger = try forms.finger(known: known.fingers.map(\.finger))
            return try finish(
                .fingerprintEnroll,
                FingerRequest(subject: Subject(), store: store, finger: finger))
        case .deleteFinger(let named, let store):
            return try finish(
                .fingerprintDelete,
                FingerRequest(subject: Subject(), store: store, finger: named.finger))
        case .newRecoveryKey(let store): return try finish(.recoveryNew, target(store))
        case .recover(let store): return try finish(.recover, target(store))
        case .consents: return try finish(.consentAsk, ConsentAsk(again: true))
        case .people: return try finish(.switchStore, SwitchStore(store: [], act: .ask))
        case .join(let invitation):
            return try finish(.joinAsk, JoinAsk(invitation: try text(of: invitation, forms)))
        case .share(let store):
            let (whom, role) = try forms.member()
            return try finish(
                .share,
                ShareStore(
                    target: target(store), kind: whom.kind, name: whom.name, role: role))
        case .unshare(let store, let whom): return try unshare(store, whom)
        case .leave(let store, let account): return try unshare(store, .person(account))
        case .lockApp:
            let apps = try locked(nil) { () throws(LockedApps.Failure) in
                try LockedApps(run.environment)
            }
            return try lock(try forms.application(apps.candidates()), AppLock())
        case .lockAppAgain(let id):
            // As it was locked before, as far as that can be read.
            let known = (try? LockedApps(run.environment))?.list().first { $0.id == id }
            return try lock(id, known?.lock ?? AppLock())
        case .unlockApp(let id):
            let isDone = try locked(id) { () throws(LockedApps.Failure) in
                try LockedApps(run.environment).remove(id)
            }
            // Where somebody else was quicker, it is as it was to be.
            return isDone ? [words(.appRemoved, id.name)] : []
        case .create:
            let (name, way) = try forms.further()
            return try finish(
                .create, Create(target: target(name), way: way, openExisting: false))
        case .hold(let store):
            let seconds = try forms.time()
            return try finish(.hold, Hold(target: target(store), seconds: seconds))
        case .resume(let store):
            return try finish(.hold, Hold(target: target(store), seconds: 0))
        case .keep(let store):
            let (name, value) = try forms.secret()
            if try kept(in: store, from: name).names.contains(name) {
                try forms.confirmReplacing(name)
            }
            let connection = try connect()
            try value.withSpan { span throws(ClientError) in
                try connection.set(name, store: store, span)
            }
            return [words(.setDone, Printable.escaped(name))]
        case .names(let store):
            try look(into: store, forms)
            return []
        }
    }

    // MARK: What is kept

    /// All of them are read at once, as they are sorted, and the connection ends before somebody looks.
    private func kept(
        in store: [UInt8], from prefix: [UInt8] = []
    ) throws(ClientError) -> (names: [[UInt8]], damaged: Int) {
        var damaged: [DamagedRecords.Entry] = []
        let names = try connect().listAll(prefix: prefix, store: store, damaged: &damaged)
        return (names, damaged.count)
    }

    /// After each thing that somebody does, what is there then.
    private func look(into store: [UInt8], _ forms: WindowForms) throws(ClientError) {
        var forms = forms
        let id = try connect().status(Target(store: store)).store
        forms.watch = try StoreWatch(try connect(), of: id)
        var first = 0
        while true {
            let (names, damaged) = try kept(in: store)
            if first >= names.count { first = 0 }
            let shown = Array(names[first...].prefix(Limits.screenItems))
            let hasMore = first + shown.count < names.count
            switch try forms.names(shown, damaged: damaged, hasMore: hasMore) {
            case nil: return
            case .more: first += shown.count
            case .show(let place):
                try forms.value(try value(of: shown[place], in: store), of: shown[place])
            case .remove(let place):
                let isAgreed: Void? = try forms.orLeave { () throws(ClientError) in
                    try forms.confirmRemoving(shown[place])
                }
                if isAgreed != nil { try connect().delete(shown[place], store: store) }
            }
        }
    }

    private func value(of name: [UInt8], in store: [UInt8]) throws(ClientError) -> Typed {
        var value = SecretBuffer()
        try connect().get(name, store: store, into: &value)
        let shown = Typed(capacity: value.count)
        value.withSpan { shown.append($0) }
        return shown
    }

    /// A new connection, with what the person has begun as the title of what it asks.
    private func talk(_ request: WindowRequest) throws(ClientError) -> WindowTalk {
        WindowTalk(
            connection: try connect(), words: words, title: request.title(words), inbox: inbox,
            show: show,
            prove: run.accountName().map { user in
                { [folder = run.settings.pamFolder] typed in
                    LoginProof.check(user: user, password: &typed, folder: folder)
                }
            })
    }

    private func welcome(_ talk: WindowTalk) throws(ClientError) -> [[UInt8]] {
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
    }

    // MARK: Applications, of which the daemon knows nothing

    private func lock(_ id: ApplicationID, _ lock: AppLock) throws(ClientError) -> [[UInt8]] {
        let service = try locked(id) { () throws(LockedApps.Failure) in
            try LockedApps(run.environment).add(id, lock, by: .beside("appvault"))
        }
        let added = words(.appAdded, id.name)
        return service == .some ? [added, words(.appAddedService)] : [added]
    }

    private func locked<R>(
        _ id: ApplicationID?, _ work: () throws(LockedApps.Failure) -> R
    ) throws(ClientError) -> R {
        do throws(LockedApps.Failure) {
            return try work()
        } catch {
            guard let id else { throw .refused(Refused(.doesNotExist, words(.appNoHome))) }
            throw .refused(error.refusal(id, words))
        }
    }

    /// What stands in a picture, or in front of a camera, is read by another program. Empty where the
    /// daemon is to ask for it.
    private func text(
        of invitation: [UInt8], _ forms: WindowForms
    ) throws(ClientError) -> [UInt8] {
        guard !invitation.isEmpty else {
            switch try forms.invited() {
            case .typed: return []
            case .picture: return try run.text(of: .picture(.path(try forms.picture())))
            case .camera:
                let scan = Sheet.joinScan().screen(0, .installed(for: run.environment.language))
                return try run.seen(through: camera, forms.onlooker(scan))
            }
        }
        let operand: InvitationOperand
        do throws(UsageError) {
            operand = try InvitationOperand(invitation)
        } catch {
            throw .refused(error.refusal)
        }
        return try run.text(of: operand)
    }
}
