import Bus
import Client
import Posix
import Wire

/// Everything put together: the bus, what the agent does on it, and how long it stays.
@LoopActor
final class Agent {
    static let name = "org.appvault.Agent1"
    static let path = "/org/appvault/Agent1"

    let bus: Bus
    private let relay: LockerRelay
    private let watch: DaemonWatch
    private let notices: Notices
    private let manager: UserManager
    private let questions: Questions
    /// What a notice asks for: it does not wait behind the questions of programs.
    private let runner: ToolRunner
    private var opening: Set<String> = []
    /// Nil if the person has no runtime folder.
    private let apps: AppKeeper?
    private let options: AgentOptions
    private let ending: Ending
    private var idleness = Idleness()
    private var timer: UInt64?
    /// Not before every locker was looked for.
    private var hasBegun = false
    private var isLeaving = false
    private var hadDesktop = false
    private var lastLook: UInt64 = 0
    private var isRestDue = false

    init(
        _ bus: Bus, _ signals: HeldSignals, _ core: ToolIO.CoreLimit, _ options: AgentOptions,
        _ ending: Ending
    ) {
        self.bus = bus
        self.ending = ending
        self.options = options
        let language = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap(ToolIO.variable).first
        watch = DaemonWatch(path: options.socket, language: language ?? [])
        notices = Notices(bus, socket: options.socket, language: language ?? []) {
            ToolIO.isExecutable(Array(options.window.utf8))
        }
        manager = UserManager(bus)
        runner = ToolRunner(manager, signals, core)
        questions = Questions(bus, ToolRunner(manager, signals, core), tool: options.tool)
        // Of its own: dialogs that are open for long must not keep an application from being locked.
        let hiding = ToolRunner(manager, signals, core)
        let windows = Windows(hiding, program: options.windows)
        apps = AppFiles().map { [manager, watch] in AppKeeper(manager, watch, $0, windows) }
        let folder = ToolIO.variable("XDG_RUNTIME_DIR").map { String(decoding: $0, as: UTF8.self) }
        relay = LockerRelay(
            bus, SettingsReader(bus, signals, core), SessionScreen(runtimeFolder: folder))
        // The bus holds the agent, and lives as long as the process.
        relay.whenChanged = { self.look() }
        watch.whenChanged = { self.look() }
        watch.heard = { event in
            self.apps?.hear(event)
            self.notices.hear(event)
            self.look()
        }
        apps?.whenChanged = {
            self.showLocked()
            self.look()
        }
        notices.wantsOpen = { app in EventLoop.shared.task { await self.open(app) } }
        notices.wantsWindow = { press in EventLoop.shared.task { await self.openWindow(press) } }
        bus.whenCalled = { self.look() }
        // The session is over.
        bus.whenGone = { ending.end(0) }
    }

    func begin(until deadline: UInt64) async throws(BusError) -> Bus.Ownership {
        // Before the name is ours: a call may come with it.
        bus.serve(
            BusObject(
                path: Self.path, interface: Self.name,
                methods: [
                    BusMethod("Needs", gives: [BusMethod.Argument("needs", "as")]) { _ in
                        // The call itself is one.
                        .values([.strings(self.needs.subtracting([.call]).map(\.word).sorted())])
                    },
                    startMethod, goOnMethod, unlockMethod, eraseMethod,
                    makeMethod, withdrawMethod,
                ]))
        // Whoever sees the name may rely on it that lockers are heard.
        try await relay.listen(until: deadline)
        let ownership = try await bus.own(Self.name, until: deadline)
        guard ownership == .owner else { return ownership }
        relay.begin()
        watch.begin()
        // A session without the person's own systemd, or without a server for notices, has the rest.
        do throws(BusError) { try await apps?.begin() } catch {
            Self.complain("systemd of this person cannot be used", error)
        }
        hadDesktop = await manager.hasDesktop()
        do throws(BusError) { try await notices.begin() } catch {
            Self.complain("notices cannot be shown", error)
        }
        hasBegun = true
        look()
        // From here on it mostly waits.
        ThisProcess.giveBackCode()
        return ownership
    }

    /// A session that has no such service is none to complain of. Whoever needs one that does not
    /// answer hears so.
    private static func complain(_ what: String, _ error: BusError) {
        if error.isNobody || error == .gone || error == .silent { return }
        Complaint.say("\(what): \(error)")
    }

    private var needs: Set<Need> {
        var needs: Set<Need> = hasBegun ? [] : [.beginning]
        if relay.isNeeded { needs.insert(.locker) }
        if bus.callsUnderWay > 0 { needs.insert(.call) }
        if watch.isConnected, !watch.stores.isEmpty { needs.insert(.watch) }
        if apps?.isNeeded == true { needs.insert(.application) }
        return needs
    }

    /// Nothing wakes the agent while it is needed.
    private func look() {
        guard hasBegun, !isLeaving else { return }
        let now = Clock.bootMilliseconds()
        rest(after: now)
        let stay = idleness.stay(needs, now: now)
        guard stay != .needed || timer != nil else { return }
        if let timer { EventLoop.shared.cancel(timer) }
        timer = nil
        switch stay {
        case .needed: break
        case .until(let moment):
            timer = EventLoop.shared.at(moment) { [unowned self] in
                LoopActor.assumed {
                    timer = nil
                    look()
                }
            }
        case .leaves:
            isLeaving = true
            EventLoop.shared.task { await self.leave() }
        }
    }

    /// Some time after the last thing that happened, code that is not needed any more is given back:
    /// an agent is in every session, all day.
    private func rest(after moment: UInt64) {
        lastLook = moment
        guard !isRestDue else { return }
        isRestDue = true
        EventLoop.shared.task {
            while true {
                let end = self.lastLook + Self.wakefulness
                await EventLoop.sleep(until: end)
                if self.lastLook + Self.wakefulness <= Clock.bootMilliseconds() { break }
            }
            self.isRestDue = false
            ThisProcess.giveBackCode()
        }
    }

    private static let wakefulness: UInt64 = 10_000

    /// First without the name: whoever calls from then on gets a new agent, and calls that came
    /// before are answered.
    private func leave() async {
        let deadline = Clock.bootMilliseconds() + 5_000
        do throws(BusError) {
            try await bus.release(Self.name, until: deadline)
            if needs.isEmpty { return ending.end(0) }
            // Another agent may have begun meanwhile.
            guard try await bus.own(Self.name, until: deadline) == .owner else {
                return answerLast()
            }
        } catch {
            return ending.end(1)
        }
        isLeaving = false
        look()
    }

    private func answerLast() {
        bus.whenCalled = { if self.bus.callsUnderWay == 0 { self.ending.end(0) } }
        if bus.callsUnderWay == 0 { ending.end(0) }
    }
}

// MARK: applications

extension Agent {
    private var startMethod: BusMethod {
        BusMethod(
            "Start",
            takes: [
                .init("process", "u"), .init("app", "s"), .init("store", "s"),
                .init("demand", "u"), .init("onLock", "u"), .init("background", "u"),
                .init("timeout", "u"),
            ],
            gives: [.init("scope", "s")]
        ) { call in await self.start(call.message) }
    }

    private func start(_ call: BusMessage) async -> BusAnswer {
        guard let apps else { return .refused(.failed("there is no XDG_RUNTIME_DIR")) }
        let process: UInt32
        let app: RunningApp
        do throws(BusError) {
            process = try call.uint32()
            let id = try call.string()
            let store = try call.string()
            guard let demand = AppDemand(rawValue: UInt8(clamping: try call.uint32())),
                let onLock = AppPolicy.OnLock(rawValue: UInt8(clamping: try call.uint32())),
                let background = AppPolicy.Background(
                    rawValue: UInt8(clamping: try call.uint32()))
            else { return .refused(.failed("this cannot be an application")) }
            app = RunningApp(
                scope: RunningApp.scope(of: id, process), id: id, store: store, demand: demand,
                onLock: onLock, background: background, timeout: try call.uint32())
            // 0 would be this process as well.
            guard app.isSound, process != 0, process != UInt32(bitPattern: ThisProcess.pid) else {
                return .refused(.failed("this cannot be an application"))
            }
        } catch {
            return .refused(.failed("the call is not understood"))
        }
        // Only now is it sure to be there: this agent may be a part of what the desktop starts with.
        if !hadDesktop { hadDesktop = await manager.hasDesktop() }
        do throws(AppKeeper.Refusal) {
            switch try await apps.start(process, app) {
            case .scope(let scope): return .values([.string(scope)])
            case .goesOn: return .values([.string("")])
            }
        } catch {
            return .refused(.failed(error.text))
        }
    }

    /// What the application demands was shown just now.
    private var goOnMethod: BusMethod {
        BusMethod(
            "GoOn", takes: [.init("app", "s"), .init("store", "s"), .init("demand", "u")],
            gives: [.init("count", "u")]
        ) { call in
            guard let id = try? call.message.string(), let store = try? call.message.string(),
                let number = try? call.message.uint32(),
                let shown = AppDemand(rawValue: UInt8(clamping: number))
            else { return .refused(.failed("the call is not understood")) }
            let count = self.apps?.goOn(id, with: RunningApp.name(of: store), shown) ?? 0
            return .values([.uint32(UInt32(clamping: count))])
        }
    }

    private func showLocked() {
        notices.show(locked: Array(Set(apps?.locked.map(\.id) ?? [])).sorted())
    }

    /// One dialog for each, however often it is clicked on.
    private func open(_ app: String) async {
        guard opening.insert(app).inserted else { return }
        _ = await runner.run([options.tool, "app", "open", app], milliseconds: Questions.patience)
        opening.remove(app)
    }

    /// By systemd, and not as a child: it stays when the agent leaves.
    private func openWindow(_ press: WindowPress) async {
        do throws(BusError) {
            try await manager.start(
                // Another server begins its numbers anew.
                "app-org.appvault.Desktop-\(press.number)-\(Clock.bootMilliseconds()).service",
                [options.window] + press.errand.words, token: press.token)
        } catch {
            Complaint.say("the window cannot be started: \(error)")
        }
    }

    /// The agent ends. An update starts the next one, which finds what is locked; at a logout nobody
    /// would let it go on.
    func finish() async {
        guard let apps, apps.isNeeded else { return }
        let isManagerStopping = await manager.isStopping()
        let desktopEnds = hadDesktop ? await !manager.hasDesktop() : false
        if isManagerStopping || desktopEnds {
            await apps.end(isManagerStopping: isManagerStopping)
        }
    }
}

// MARK: questions

extension Agent {
    /// For programs that cannot ask themselves: the person is asked in a dialog, and whoever has
    /// called hears how it ended. No secret goes over the bus.
    private var unlockMethod: BusMethod {
        BusMethod(
            "Unlock", takes: [.init("store", "s")],
            gives: [.init("status", "i"), .init("message", "s")]
        ) { call in
            guard let store = Self.store(call.message) else { return Self.isNotUnderstood }
            return await self.ask(.unlock(store), call)
        }
    }

    /// The person is told what goes with it, and shows what opens it.
    private var eraseMethod: BusMethod {
        BusMethod(
            "Erase", takes: [.init("store", "s")],
            gives: [.init("status", "i"), .init("message", "s")]
        ) { call in
            guard let store = Self.store(call.message) else { return Self.isNotUnderstood }
            return await self.ask(.erase(store), call)
        }
    }

    /// The status is 3 where the person wants no passcode, and no store was made.
    private var makeMethod: BusMethod {
        BusMethod(
            "Make", takes: [.init("store", "s"), .init("id", "s")],
            gives: [.init("status", "i"), .init("message", "s")]
        ) { call in
            guard let store = Self.store(call.message), let id = try? call.message.string(),
                id.utf8.count == 36, id.utf8.allSatisfy({ $0 == 0x2D || Self.isHex($0) })
            else { return Self.isNotUnderstood }
            return await self.ask(.make(store, id: id), call)
        }
    }

    private static func isHex(_ digit: UInt8) -> Bool {
        (0x30...0x39).contains(digit) || (0x61...0x66).contains(digit)
    }

    private static let isNotUnderstood = BusAnswer.refused(.failed("the call is not understood"))

    private static func store(_ message: BusMessage) -> String? {
        guard let store = try? message.string(), !store.contains("\0"),
            store.utf8.count <= Limits.storeText
        else { return nil }
        return RunningApp.name(of: store)
    }

    private func ask(_ matter: Questions.Matter, _ call: BusCall) async -> BusAnswer {
        let result = await questions.ask(matter, for: call.message.sender)
        guard let result else { return .refused(.failed("the dialog could not be started")) }
        let text = result.lines.map { String(decoding: $0, as: UTF8.self) }
        return .values([.int32(result.status), .string(text.joined(separator: "\n"))])
    }

    /// For the same programs: the dialog goes, unless others wait for it. Their `Unlock` is answered.
    private var withdrawMethod: BusMethod {
        BusMethod("Withdraw", takes: [.init("store", "s")]) { call in
            guard let store = try? call.message.string() else {
                return .refused(.failed("the call is not understood"))
            }
            self.questions.withdraw(RunningApp.name(of: store), for: call.message.sender)
            return .values([])
        }
    }
}

extension AppKeeper.Refusal {
    fileprivate var text: String {
        switch self {
        case .noDaemon: "appvaultd does not answer, or there is no store"
        case .noFile(let error): "\(error)"
        case .hasEnded: "the process has ended"
        case .isThere: "it runs under the same number already; start it once more"
        case .cannotFreeze:
            "this machine cannot freeze applications; --on-lock quit ends it instead"
        case .noScope(.refused(_, let text)): text
        case .noScope(.silent), .noScope(.gone), .noScope(.malformed), .noScope(.unsent):
            "systemd of this person does not answer"
        }
    }
}
