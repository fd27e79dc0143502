import KeySlots
import Policy
import Posix
import StoreKeeping

/// Follows who is in front at this machine, by what logind says. When a person leaves, their open
/// stores are locked as their policy says. Nothing here ever opens a store.
@LoopActor
final class Screens {
    private unowned let upkeep: Upkeep
    private var inFront = InFront()
    private var answersDue = 0
    /// From the moment at which the bus is asked until logind has said how things are.
    var isAsking = false
    private var waiting: [First<Void>] = []
    private var failures = 0
    private var isWatching = false

    /// Milliseconds. A bus that hangs delays the daemon's start by no more.
    private static let patience: UInt64 = 300
    /// logind's files are read this long after they have changed, and not for each change.
    private static let pause: UInt64 = 50
    /// A busy machine may be slow, but where they cannot be read at all, nothing is gained by
    /// looking for ever.
    private static let retryWaits: [UInt64] = [1_000, 2_000, 4_000, 8_000]

    init(_ upkeep: Upkeep) {
        self.upkeep = upkeep
    }

    func isInFront(_ uid: UInt32) -> Bool { inFront.isInFront(uid) }

    func isSurelyInFront(_ uid: UInt32) -> Bool { inFront.isSurelyInFront(uid) }

    /// Without a screen, no signal will ever say that the person is back.
    func hasScreen(_ uid: UInt32) -> Bool { inFront.hasScreen(uid) }

    /// Until logind has said who is in front, for a moment at most.
    func isReady() async {
        guard isAsking else { return }
        let answer = First<Void>()
        waiting.append(answer)
        let timer = EventLoop.shared.at(Clock.bootMilliseconds() + Self.patience) {
            EventLoop.shared.task { answer.settle(()) }
        }
        await answer.value()
        EventLoop.shared.cancel(timer)
    }

    private func ready() {
        isAsking = false
        for answer in waiting { answer.settle(()) }
        waiting = []
    }

    func isLost() {
        answersDue = 0
        ready()
    }

    func hear(_ news: LoginBus.News, from bus: LoginBus) async {
        if news.isLogindNew {
            await look(at: bus)
            watchFiles()
        } else if news.hasAnswered {
            ready()
        }
        for piece in news.seats {
            switch piece {
            case .began(let id): await know(id, bus)
            case .news(let news):
                // It was not there, or could not be read, when it was announced.
                if let id = news.session, !inFront.knows(id) { await know(id, bus) }
                take(news)
            }
        }
        answersDue -= min(answersDue, news.answers)
        if isAsking, answersDue == 0, news.answers > 0 { ready() }
    }

    private func know(_ id: String, _ bus: LoginBus) async {
        guard let session = await upkeep.desk.directory.seatSession(id) else { return }
        take(.began(session))
        // It may have been locked before anybody could hear it.
        if session.hasScreen { _ = bus.look(at: id) }
    }

    /// Looks at everything anew. The files of logind say it all but for the screens: each session
    /// is asked for its own.
    private func look(at bus: LoginBus) async {
        guard let view = await upkeep.desk.directory.seatView() else {
            ready()
            return lookLater()
        }
        failures = 0
        take(view)
        answersDue = inFront.withScreen.count { bus.look(at: $0) }
        if answersDue == 0 { ready() }
    }

    private func lookLater() {
        guard failures < Self.retryWaits.count else {
            return upkeep.desk.audit.note(
                .fault, "logind's sessions cannot be read: no store is locked with the screen")
        }
        let wait = Self.retryWaits[failures]
        failures += 1
        _ = EventLoop.shared.at(Clock.bootMilliseconds() + wait) {
            EventLoop.shared.task {
                guard let bus = self.upkeep.logind.bus else { return }
                await self.look(at: bus)
            }
        }
    }

    func take(_ news: SeatNews) {
        for coming in inFront.hear(news) {
            switch coming {
            case .left(let uid, let leave): upkeep.left(uid, leave)
            case .cameBack(let uid, let absence): upkeep.cameBack(uid, absence)
            }
        }
    }

    // MARK: sessions that end in silence

    /// logind says nothing while processes of a session are left, perhaps for ever. But its file
    /// says that the session is closing.
    private func watchFiles() {
        guard !isWatching else { return }
        isWatching = true
        let watch = FolderWatch(upkeep.sessions.sessionFolder)
        EventLoop.shared.task {
            while await watch.change(settling: Self.pause) {
                await self.endClosed()
                watch.renew()
            }
        }
    }

    private func endClosed() async {
        // One that is announced during the look is not in what was read.
        let known = inFront.all
        let view = await upkeep.desk.directory.seatView()
        guard case .view(let sessions, _)? = view else { return }
        let living = Set(sessions.map(\.id))
        for id in known where !living.contains(id) { take(.ended(session: id)) }
    }
}

extension Upkeep {
    /// A person has left: each of their stores does what the policy says. Returns the locks that
    /// are under way. Their stores are closed for requests already.
    @discardableResult
    func left(_ uid: UInt32, _ leave: Leave, service: [UInt8] = []) -> [Task<Void, Never>] {
        tellLeft(uid, leave)
        let locks = desk.vault.ownerLeft(uid, leave).compactMap {
            ownerLeft($0, leave, service: service)
        }
        // What was asked before may hold a key, or the passcode itself.
        if !locks.isEmpty { ticker.endQuestions(of: uid) }
        return locks
    }

    /// A lock that idleness brought may be taken back for a moment, as with the person's stores.
    private func tellLeft(_ uid: UInt32, _ leave: Leave) {
        let rules = desk.vault.stores(of: uid).lazy.compactMap { $0.leavingRules }.first
        let grace = (rules ?? Policy.builtIn.leaving).grace
        guard leave == .screenLockByIdleness, grace > 0 else {
            return watchers.note(uid, isAway: true)
        }
        _ = EventLoop.shared.at(Clock.bootMilliseconds() + UInt64(grace) * 1000) {
            EventLoop.shared.task {
                if !self.screens.isInFront(uid) { self.watchers.note(uid, isAway: true) }
            }
        }
    }

    func ownerLeft(
        _ host: StoreHost, _ leave: Leave, service: [UInt8] = []
    ) -> Task<Void, Never>? {
        host.ownerLeft(leave)
        timedLocks.follow(host)
        residents.follow(host)
        guard host.isAway, host.records.isOpen, !host.isBeingLocked else { return nil }
        host.isBeingLocked = true
        return EventLoop.shared.task { await self.lockLeft(host, service: service) }
    }

    /// What was not locked yet stays open.
    func cameBack(_ uid: UInt32, _ absence: Absence) {
        if absence != .session || screens.isInFront(uid) || !screens.hasScreen(uid) {
            watchers.note(uid, isAway: false)
        }
        for host in desk.vault.stores(of: uid) {
            host.ownerCameBack(absence)
            timedLocks.follow(host)
            residents.follow(host)
            guard absence == .screen, host.wasLockedAway, !host.isOpen, !host.isFollower
            else { continue }
            host.wasLockedAway = false
            desk.audit.note(
                .session, "the screen was unlocked without this store: it stays locked",
                store: host.id.description, person: host.owner)
        }
    }

    /// Locks a store whose owner has left.
    func lockLeft(_ host: StoreHost, service: [UInt8] = []) async {
        let wasOpen = host.records.isOpen
        let leave = host.lockingLeave
        // Those with a policy of their own outlast a locked screen with it, but no logout.
        await host.lock(leave == .sessionEnd ? .all : .ofOnePolicy)
        host.isBeingLocked = false
        transactions.forgetKeys(of: host.id)
        guard wasOpen, let leave else { return }
        host.wasLockedAway = true
        desk.audit.note(
            .lock, Self.text(leave), store: host.id.description, person: host.owner,
            service: service)
        whenLess()
    }

    private static func text(_ leave: Leave) -> String {
        switch leave {
        case .screenLock, .screenLockByIdleness: "a store was locked: the screen was locked"
        case .anotherInFront: "a store was locked: its owner is not in front any more"
        case .sessionEnd: "a store was locked: a session of its owner ended"
        case .sleep: "a store was locked: the machine goes to sleep"
        }
    }
}
