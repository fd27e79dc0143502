import KeySlots
import Policy
import Posix
import StoreKeeping
import WorkerLinks

/// Before the machine sleeps, locks stores and lets go of readers; afterwards looks for the readers
/// again. A sleep waits for the daemon only while there is something that must not be open during
/// it.
@LoopActor
final class Sleep {
    private unowned let upkeep: Upkeep
    private var hibernation: First<Bool>?
    private var isRefusalNoted = false
    /// True from logind's signal that a sleep comes until its signal that the sleep is over.
    private(set) var isComing = false
    /// In this sleep, memory may go to the disk.
    private(set) var wipesResidents = false
    private var sleeps: UInt64 = 0

    /// Milliseconds. logind waits for 5 s at most, by default.
    private static let longest: UInt64 = 4_000
    private static let answerWait: UInt64 = 1_000
    /// If the machine is awake for this long and no signal has said that the sleep is over, it is
    /// over.
    private static let forgotten: UInt64 = 30_000

    init(_ upkeep: Upkeep) {
        self.upkeep = upkeep
    }

    private var bus: LoginBus? { upkeep.logind.bus }

    var isNeeded: Bool {
        upkeep.desk.vault.hasOpenStores || upkeep.desk.vault.hasResidents
            || upkeep.readers.fingerSeat.isTaken
            || (upkeep.failedTokens.hasHashes && !upkeep.isStoppedBeforeHibernation)
    }

    /// Called when something was opened, or when the last thing was closed.
    func look() {
        guard !isComing else { return }
        guard isNeeded else { return bus?.release() ?? () }
        upkeep.logind.connect()
        bus?.delay()
    }

    func hear(_ news: LoginBus.News) {
        if news.isRefused, news.isLogindThere { noteRefusal() }
        if let may = news.mayHibernate { hibernation?.settle(may) }
        if news.begins { begin() }
        if news.ends { end() }
    }

    func isLost() {
        end()
    }

    private func noteRefusal() {
        guard !isRefusalNoted else { return }
        isRefusalNoted = true
        upkeep.desk.audit.note(
            .fault, "logind lets no sleep wait for us: stores are locked as it begins")
    }

    // MARK: to sleep

    private func begin() {
        guard !isComing else { return }
        isComing = true
        upkeep.curfew.isOn = true
        sleeps += 1
        let now = sleeps
        EventLoop.shared.task {
            await self.prepare()
            self.bus?.release()
            // The sleep may have been called off meanwhile.
            self.look()
        }
        _ = EventLoop.shared.at(Clock.bootMilliseconds() + Self.longest) {
            EventLoop.shared.task { if self.isComing, self.sleeps == now { self.bus?.release() } }
        }
        _ = EventLoop.shared.at(Clock.bootMilliseconds() + Self.forgotten) {
            EventLoop.shared.task {
                guard self.sleeps == now else { return }
                self.end()
                self.look()
            }
        }
    }

    /// Wipes the store keys first; what takes longer comes after.
    private func prepare() async {
        upkeep.readers.fingerprints.beginSleep()
        let wiped = EventLoop.shared.task { await self.wipeResidents() }
        await upkeep.lockForSleep()
        await wiped.value
        // Memory may go to the disk: then no policy keeps a store open.
        if wipesResidents { await upkeep.lockAllForSleep() }
        await upkeep.readers.fingerprints.letGo()
    }

    /// Before a possible hibernation. A suspend to RAM could leave the resident slots, but logind
    /// does not say which of the two it will be.
    private func wipeResidents() async {
        guard await mayHibernate() else { return }
        wipesResidents = isComing
        upkeep.stopFingers(wiping: true)
        upkeep.failedTokens.forgetAll()
    }

    private func mayHibernate() async -> Bool {
        if upkeep.isStoppedBeforeHibernation { return false }
        let answer = First<Bool>()
        hibernation = answer
        defer { hibernation = nil }
        guard let bus, bus.askForHibernation() else { return true }
        let timer = EventLoop.shared.at(Clock.bootMilliseconds() + Self.answerWait) {
            EventLoop.shared.task { answer.settle(true) }
        }
        defer { EventLoop.shared.cancel(timer) }
        return await answer.value()
    }

    private func end() {
        guard isComing else { return }
        isComing = false
        wipesResidents = false
        upkeep.curfew.isOn = false
        upkeep.awake()
        upkeep.readers.fingerprints.wakeUp()
    }
}

extension Upkeep {
    /// After this, nothing that opens a store is left in memory, except what a finger opens and
    /// stores that their owner's policy keeps open.
    func lockForSleep() async {
        stopFingers(wiping: false)
        ticker.endQuestions()
        transactions.forgetKeys()
        onboarding.forgetPlans()
        // Also of stores that stay open: an application may be locked without its store.
        for uid in Set(desk.vault.all.map(\.identity.uid)) { watchers.note(uid, isAway: true) }
        let locks = desk.vault.all.compactMap { host -> Task<Void, Never>? in
            if let lock = ownerLeft(host, .sleep) { return lock }
            // Its screen was locked a moment ago: sleep waits for that, too.
            return host.isBeingLocked ? EventLoop.shared.task { await host.lock() } : nil
        }
        for lock in locks { await lock.value }
        for lock in lockShared() { await lock.value }
    }

    /// The sleep is over. A person whose screen is not locked is back, and so is one without a
    /// screen.
    func awake() {
        for uid in Set(desk.vault.all.map(\.identity.uid))
        where screens.isInFront(uid) || !screens.hasScreen(uid) { cameBack(uid, .sleep) }
    }

    func lockAllForSleep() async {
        for host in desk.vault.withKeys {
            desk.audit.note(
                .lock, "a store was locked: the machine goes to sleep", store: host.id.description,
                person: Person(uid: host.identity.uid, name: host.identity.account))
        }
        await desk.vault.lockAll()
    }

    /// Those that cannot be opened now are opened when they are asked for, and refused then.
    private func open(_ followers: [(host: StoreHost, closings: UInt64)]) {
        for follower in followers where follower.host.isUsable {
            EventLoop.shared.task { try? await follower.host.openAlong(since: follower.closings) }
        }
    }

    func opened(_ host: StoreHost, _ followers: [(host: StoreHost, closings: UInt64)]) async {
        sleep.look()
        // It was opened too late, when a sleep is coming already: lock it again.
        if sleep.isComing { return await host.lock() }
        if host.isAway { await lockLeft(host) }
        await followTimes(host)
        open(followers)
        openShared(with: host)
        await desk.followQuota(of: host.owner)
    }
}
