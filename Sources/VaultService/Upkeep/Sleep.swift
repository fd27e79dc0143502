import KeySlots
import Policy
import Posix
import StoreKeeping
import WorkerLinks

/// Before the machine sleeps, locks stores and lets go of readers; afterwards looks for the readers
/// again. The daemon listens to logind only while there is something that must not be open during a
/// sleep.
@LoopActor
final class Sleep {
    private unowned let upkeep: Upkeep
    private var bus: SleepBus?
    private var hibernation: First<Bool>?
    private var isRefusalNoted = false
    private var retryWait: UInt64?
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
    private static let firstRetry: UInt64 = 250
    private static let lastRetry: UInt64 = 30_000

    init(_ upkeep: Upkeep) {
        self.upkeep = upkeep
    }

    private var isNeeded: Bool {
        upkeep.desk.vault.hasOpenStores || upkeep.desk.vault.hasResidents
            || upkeep.readers.fingerSeat.isTaken
            || (upkeep.failedTokens.hasHashes && !upkeep.isStoppedBeforeHibernation)
    }

    /// Called when something was opened, or when the last thing was closed.
    func look() {
        guard isNeeded else {
            // During a sleep, go on listening for its end.
            if !isComing { leave() }
            return
        }
        if bus == nil { connect() }
        if !isComing { bus?.delay() }
    }

    private func leave() {
        bus?.close()
        bus = nil
    }

    /// Without a bus the daemon learns of no sleep. It tries to connect again when something else
    /// is opened.
    private func connect() {
        guard let made = SleepBus() else { return }
        bus = made
        EventLoop.shared.task { await self.listen(to: made) }
    }

    private func listen(to made: SleepBus) async {
        // A bus that was left in the meantime has been closed.
        while await made.wait(), bus === made {
            guard let news = made.news() else { return lost() }
            if news.isLogindThere { retryWait = nil }
            if news.isRefused, news.isLogindThere { noteRefusal() }
            if let may = news.mayHibernate { hibernation?.settle(may) }
            if news.begins { begin() }
            if news.ends { end() }
            // Lets go of a delay that was granted after it was no longer needed.
            look()
        }
    }

    /// The bus is gone. When it comes back, no signal will say what happened meanwhile.
    private func lost() {
        leave()
        end()
        retry()
    }

    private func retry() {
        guard isNeeded else { return retryWait = nil }
        let wait = retryWait ?? Self.firstRetry
        retryWait = min(wait * 2, Self.lastRetry)
        _ = EventLoop.shared.at(Clock.bootMilliseconds() + wait) {
            EventLoop.shared.task {
                guard self.bus == nil else { return }
                self.look()
                if self.bus == nil { self.retry() }
            }
        }
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
        await upkeep.readers.fingerprints.letGo()
        await wiped.value
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
        upkeep.readers.fingerprints.wakeUp()
    }
}

extension Upkeep {
    /// After this, nothing that opens a store is left in memory, except what a finger opens.
    func lockForSleep() async {
        stopFingers(wiping: false)
        ticker.endQuestions()
        transactions.forgetKeys()
        onboarding.forgetPlans()
        for host in desk.vault.withKeys {
            desk.audit.note(
                .lock, "a store was locked: the machine goes to sleep", store: host.id.description,
                person: Person(uid: host.identity.uid, name: host.identity.account))
        }
        await desk.vault.lockAll()
    }

    func opened(_ host: StoreHost) async {
        sleep.look()
        // It was opened too late, when a sleep is coming already: lock it again.
        if sleep.isComing { return await host.lock() }
        await followIdle(host)
        await desk.followQuota(of: host.owner)
    }
}
