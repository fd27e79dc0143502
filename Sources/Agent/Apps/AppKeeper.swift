import Bus
import Client
import Posix
import Wire

/// An application that this agent keeps.
@LoopActor
final class KeptApp {
    var record: RunningApp
    /// What is to be; `record.isLocked` is what is.
    var wantsLocked: Bool
    var isBusy = false
    /// Attempts in a row that systemd has refused.
    var failures = 0
    /// It is locked when this rings, if the person is not back before.
    var timer: UInt64?

    init(_ record: RunningApp) {
        self.record = record
        wantsLocked = record.isLocked
    }
}

/// Locks applications with their stores: freezes them, or ends them, and lets them go on.
@LoopActor
final class AppKeeper {
    private let manager: UserManager
    private let watch: DaemonWatch
    private let files: AppFiles
    private let windows: Windows
    private var apps: [String: KeptApp] = [:]
    private var isEnding = false
    private var starting: Set<String> = []
    /// Called when an application has come or gone, or was locked or let go on.
    var whenChanged: (@LoopActor () -> Void)?

    init(_ manager: UserManager, _ watch: DaemonWatch, _ files: AppFiles, _ windows: Windows) {
        self.manager = manager
        self.watch = watch
        self.files = files
        self.windows = windows
    }

    var isNeeded: Bool { !apps.isEmpty }
    var locked: [RunningApp] {
        apps.values.map(\.record).filter(\.isLocked).sorted { $0.scope < $1.scope }
    }

    /// Takes over what an agent before this one has kept.
    func begin() async throws(BusError) {
        for record in files.all() {
            let app = KeptApp(record)
            apps[record.scope] = app
            // It may have died before all of it was done. Doing it again changes nothing else.
            if record.isLocked, record.onLock == .freeze {
                app.record.isLocked = false
                want(app, isLocked: true)
            }
        }
        try await manager.whenRemoved { [unowned self] in forget($0) }
        for scope in apps.keys where !(await manager.isThere(scope)) { forget(scope) }
    }

    private func forget(_ scope: String) {
        guard let app = apps.removeValue(forKey: scope) else { return }
        if let timer = app.timer { EventLoop.shared.cancel(timer) }
        files.remove(scope)
        whenChanged?()
    }

    // MARK: start

    enum Launch {
        case scope(String)
        /// It runs already, was locked, and goes on now.
        case goesOn
    }

    enum Refusal: Error, Equatable {
        /// The daemon cannot be heard, so nothing would lock the application.
        case noDaemon
        case noFile(PosixError)
        case noScope(BusError)
        /// The process that was to be locked has ended meanwhile.
        case hasEnded
        /// One of the same name is kept, whose first process has ended: the kernel gives numbers
        /// again.
        case isThere
        case cannotFreeze
    }

    /// Waits until the daemon has said how the stores are.
    private static let patience: UInt64 = 5_000

    /// The person has just shown what the application demands.
    func start(_ process: UInt32, _ wanted: RunningApp) async throws(Refusal) -> Launch {
        guard await watch.isReady(until: Clock.bootMilliseconds() + Self.patience) else {
            throw .noDaemon
        }
        if goOn(wanted.id, with: wanted.storeName, wanted.demand) > 0 { return .goesOn }
        guard let began = ProcessFacts.beginning(of: Int32(bitPattern: process)) else {
            throw .hasEnded
        }
        guard apps[wanted.scope] == nil, !starting.contains(wanted.scope) else { throw .isThere }
        do throws(PosixError) { try files.write(wanted) } catch { throw .noFile(error) }
        starting.insert(wanted.scope)
        defer { starting.remove(wanted.scope) }
        do throws(BusError) {
            try await manager.startScope(
                wanted.scope, with: process, "\(wanted.id), locked by AppVault")
        } catch {
            files.remove(wanted.scope)
            throw .noScope(error)
        }
        // The kernel gives numbers again: what has the number now may be something else.
        guard ProcessFacts.beginning(of: Int32(bitPattern: process)) == began else {
            files.remove(wanted.scope)
            throw .hasEnded
        }
        // Not before: what is not there yet cannot be locked.
        let app = KeptApp(wanted)
        apps[wanted.scope] = app
        let canFreeze: Bool
        do throws(BusError) {
            // It also tells whether the scope is over already.
            canFreeze = try await manager.canFreeze(wanted.scope)
        } catch {
            forget(wanted.scope)
            throw .noScope(error)
        }
        guard canFreeze || wanted.onLock != .freeze else {
            forget(wanted.scope)
            throw .cannotFreeze
        }
        whenChanged?()
        // What has happened since.
        if watch.isAway { act(app.record.atLeave, on: app) }
        if !watch.isOpen(wanted.store) { locked(app) }
        return .scope(wanted.scope)
    }

    /// Lets all of this application that is locked with this store go on, if the store is open and no
    /// more is demanded than was shown: how many there are.
    func goOn(_ id: String, with store: String, _ shown: AppDemand) -> Int {
        let those = apps.values.filter {
            $0.record.id == id && ($0.record.isLocked || $0.wantsLocked)
                && $0.record.storeName == store && $0.record.demand.rawValue <= shown.rawValue
                && watch.isOpen(store)
        }
        for app in those { want(app, isLocked: false) }
        return those.count
    }

    // MARK: what happens

    func hear(_ event: Event) {
        let name = String(decoding: event.name, as: UTF8.self)
        switch event.what {
        case .locked:
            for app in apps.values where app.record.storeName == name { locked(app) }
        case .left:
            for app in apps.values { act(app.record.atLeave, on: app) }
        case .opened, .cameBack:
            for app in apps.values {
                if event.what == .cameBack { cancel(app) }
                guard app.record.isLocked || app.wantsLocked else { continue }
                let sight = AppSight(
                    isStoreOpen: watch.isOpen(app.record.store), isAway: watch.isAway)
                act(app.record.atReturn(sight), on: app)
            }
        case .changed, .fingerAdded, .told, .members, .records, .removed: break
        }
    }

    private func locked(_ app: KeptApp) { act(app.record.atLock, on: app) }

    private func act(_ consequence: AppConsequence, on app: KeptApp) {
        switch consequence {
        case .nothing: break
        case .lock: want(app, isLocked: true)
        case .unlock: want(app, isLocked: false)
        case .lockAfter(let seconds):
            cancel(app)
            let end = Clock.bootMilliseconds() + UInt64(seconds) * 1000
            app.timer = EventLoop.shared.at(end) { [weak self] in
                LoopActor.assumed {
                    app.timer = nil
                    self?.want(app, isLocked: true)
                }
            }
        }
    }

    private func cancel(_ app: KeptApp) {
        if let timer = app.timer { EventLoop.shared.cancel(timer) }
        app.timer = nil
    }

    /// One thing at a time happens to an application, and what was wanted last counts.
    private func want(_ app: KeptApp, isLocked: Bool) {
        // The stores are locked at the same time.
        if isLocked, isEnding { return }
        app.wantsLocked = isLocked
        guard !app.isBusy else { return }
        app.isBusy = true
        EventLoop.shared.task {
            while app.wantsLocked != app.record.isLocked, self.apps[app.record.scope] === app {
                if app.wantsLocked { await self.lock(app) } else { await self.unlock(app) }
            }
            app.isBusy = false
            self.whenChanged?()
        }
    }

    private func lock(_ app: KeptApp) async {
        do throws(BusError) {
            switch app.record.onLock {
            case .freeze:
                try await freeze(app)
            case .quit:
                try await manager.stop(app.record.scope)
                app.wantsLocked = false
                return
            case .stay: break
            }
            app.record.isLocked = true
            app.failures = 0
            write(app.record, of: app)
        } catch {
            await fail(app, "be locked", error)
        }
    }

    /// Each step is on record before the next one: an agent after this one lets go on what is frozen,
    /// and shows what was hidden.
    private func freeze(_ app: KeptApp) async throws(BusError) {
        let group = try await manager.controlGroup(of: app.record.scope)
        var intended = app.record
        intended.isLocked = true
        write(intended, of: app)
        // First: a frozen program that holds a menu's grab keeps the screen from being locked, and
        // what its windows show stays readable.
        app.record.add(await windows.hide(group))
        intended.windows = app.record.windows
        write(intended, of: app)
        try await manager.freeze(app.record.scope)
        // Until then it could still show another.
        app.record.add(await windows.hide(group))
    }

    /// Not of one that is over: nobody would take its file away again.
    private func write(_ record: RunningApp, of app: KeptApp) {
        guard apps[record.scope] === app else { return }
        try? files.write(record)
    }

    /// What an X server that is slow has not shown is kept for the next time.
    private func show(_ app: KeptApp) async {
        for _ in 0..<3 where !app.record.windows.isEmpty {
            if await windows.show(app.record.windows) { app.record.windows = [] }
        }
    }

    /// Milliseconds between two attempts, and how many there are.
    private static let pause: UInt64 = 200
    private static let attempts = 25

    private func unlock(_ app: KeptApp) async {
        do throws(BusError) {
            try await manager.thaw(app.record.scope)
            await manager.thawInKernel(app.record.scope)
            await show(app)
            app.record.isLocked = false
            app.failures = 0
            write(app.record, of: app)
        } catch {
            await fail(app, "go on", error)
        }
    }

    /// A scope that is just being started takes no other order: what is wanted is tried again.
    private func fail(_ app: KeptApp, _ what: String, _ error: BusError) async {
        guard await manager.isThere(app.record.scope) else { return forget(app.record.scope) }
        app.failures += 1
        if app.failures < Self.attempts {
            return await EventLoop.sleep(until: Clock.bootMilliseconds() + Self.pause)
        }
        app.failures = 0
        Complaint.say("\(app.record.id) cannot \(what) by systemd: \(error)")
        if !app.wantsLocked {
            app.record.isLocked = !(await manager.thawInKernel(app.record.scope))
        } else if app.record.onLock == .freeze {
            app.record.isLocked = await freezeWithoutSystemd(app.record.scope)
        }
        app.wantsLocked = app.record.isLocked
        if !app.record.isLocked { await show(app) }
        write(app.record, of: app)
    }

    /// A freeze of which systemd said nothing may come about later. Then it is locked all the same, and
    /// goes on with its store.
    private func freezeWithoutSystemd(_ scope: String) async -> Bool {
        if await manager.freezeInKernel(scope) { return true }
        do throws(BusError) {
            try await manager.thaw(scope)
            return false
        } catch {
            return true
        }
    }

    // MARK: the end

    /// Less than systemd gives the agent for its end.
    private static let endTime: UInt64 = 25_000
    private static let endPause: UInt64 = 50

    /// The session is over: systemd cannot end what is frozen, and what goes on can still save its
    /// documents before systemd ends it. Its windows stay hidden.
    ///
    /// If the person's own systemd is stopping, it has tried to stop each scope already. Before 257
    /// its attempt goes on, and succeeds when the processes run again; from then on it has given up,
    /// and at its own end all that is left is killed without a SIGTERM.
    func end(isManagerStopping: Bool) async {
        let deadline = Clock.bootMilliseconds() + Self.endTime
        isEnding = true
        var left = apps.values.filter { $0.record.isLocked || $0.isBusy }.map(\.record.scope)
        for app in apps.values { app.wantsLocked = false }
        while !left.isEmpty {
            for scope in left where !(await letEnd(scope, isManagerStopping)) {
                left.removeAll { $0 == scope }
            }
            if left.isEmpty || Clock.bootMilliseconds() >= deadline { return }
            await EventLoop.sleep(until: Clock.bootMilliseconds() + Self.endPause)
        }
    }

    /// Whether there is more to wait for.
    private func letEnd(_ scope: String, _ isManagerStopping: Bool) async -> Bool {
        guard apps[scope] != nil else { return false }
        do throws(BusError) {
            try await manager.thaw(scope)
            guard isManagerStopping else { return false }
            try await manager.stop(scope)
        } catch {
            guard case .refused = error else { return false }
            // systemd is about to stop it, or at it.
            await manager.thawInKernel(scope)
        }
        return true
    }
}

extension RunningApp {
    fileprivate mutating func add(_ more: [String]) {
        windows += more.filter { !windows.contains($0) }
    }
}
