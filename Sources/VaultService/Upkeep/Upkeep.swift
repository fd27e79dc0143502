import KeySlots
import Policy
import Posix
import StoreKeeping
import WorkerLinks

/// Takes care of stores while no request uses them: locks them when they are idle or the machine
/// sleeps, follows changes of the policy, and keeps room on the disk.
@LoopActor
final class Upkeep {
    let desk: Desk
    let readers: Readers
    let failedTokens: FailedTokens
    let transactions: Transactions
    let onboarding: Onboarding
    let sessions: LoginSessions
    let ticker: Ticker
    let curfew: Curfew
    let isStoppedBeforeHibernation: Bool
    let residents = Residents()
    let watchers = Watchers()
    private(set) lazy var logind = LoginWatch(self)
    private(set) lazy var sleep = Sleep(self)
    private(set) lazy var screens = Screens(self)
    private(set) lazy var timedLocks = TimedLocks { [unowned self] host in await lockDue(host) }
    var isKeepingReserve = false
    /// Rings when another day without contact is over.
    var dayTimer: UInt64?
    /// Called when something ended: perhaps there is nothing left to do.
    var whenLess: () -> Void = {}

    init(
        desk: Desk, readers: Readers, failedTokens: FailedTokens, transactions: Transactions,
        onboarding: Onboarding, sessions: LoginSessions, ticker: Ticker, curfew: Curfew,
        isStoppedBeforeHibernation: Bool
    ) {
        self.desk = desk
        self.readers = readers
        self.failedTokens = failedTokens
        self.transactions = transactions
        self.onboarding = onboarding
        self.sessions = sessions
        self.ticker = ticker
        self.curfew = curfew
        self.isStoppedBeforeHibernation = isStoppedBeforeHibernation
    }

    /// Loads what an earlier daemon left. Returns the reason if the stores could not all be read.
    func begin() async -> String? {
        desk.vault.prepare = { host in self.follow(host) }
        readers.fingerSeat.whenTaken = { self.sleep.look() }
        sessions.whenBegun = { uid in
            self.cameBack(uid, .session)
            self.followTimes(of: uid)
        }
        sessions.whenLastEnded = { uid, service in
            let locks = self.left(uid, .sessionEnd, service: service)
            self.followTimes(of: uid)
            for lock in locks { await lock.value }
        }
        let failure = await desk.vault.open { event, text, store in
            self.desk.audit.note(event, text, store: store)
        }
        if let failure { return failure }
        await endWithoutFingers()
        failedTokens.load(desk.vault.all)
        desk.vault.reserve.follow { EventLoop.shared.task { await self.reserveWasGivenUp() } }
        EventLoop.shared.task { await self.keepReserve() }
        notePolicy()
        if let problem = desk.orders.problem {
            desk.audit.note(.fault, "an organisation's orders cannot be read: \(problem)")
        }
        // What they want of a store keeps it shut already; what is to be wiped may take longer.
        EventLoop.shared.task { await self.obeyOrders() }
        logind.connect()
        await screens.isReady()
        return nil
    }

    /// A daemon before this one was ended after it had deleted a finger's print from a chip, and
    /// before the new one was there.
    private func endWithoutFingers() async {
        for host in desk.vault.all where host.isUsable && host.fingerprintIsOn {
            await readers.endWithoutFinger(host)
        }
    }

    private func notePolicy() {
        switch desk.policies.standing {
        case .good: break
        case .lastGood(let problem):
            desk.audit.note(
                .policy, "\(problem); the last good policy stays in force", code: .policyBroken)
        case .broken(let problem):
            desk.audit.note(
                .policy, "\(problem); nothing can be created or changed", code: .policyBroken)
        }
    }

    /// From now on, the store reports here what happens to it.
    func follow(_ host: StoreHost) {
        host.whenOpened = { host in
            self.watchers.note(host, .opened)
            // All that is done before these are opened takes a moment, and one may be locked in it.
            let followers = self.desk.vault.followers(of: host).map { follower in
                let closings = follower.records.closings
                follower.closingsBeforeParent = closings
                return (host: follower, closings: closings)
            }
            EventLoop.shared.task { await self.opened(host, followers) }
        }
        host.whenHappens = { host, happening in
            switch happening {
            case .locked:
                self.watchers.note(host, .locked)
                self.lockShared()
            case .changed: self.watchers.note(host, .changed)
            case .fingerAdded: self.watchers.note(host, .fingerAdded)
            case .members:
                self.watchers.note(host, .members)
                self.lockShared()
            case .records: self.watchers.note(host, .records)
            case .removed: self.watchers.note(host, .removed)
            }
        }
        host.whenUnneeded = { self.lockShared() }
        host.whenTimesChange = { host in
            self.timedLocks.follow(host)
            self.residents.follow(host)
        }
        host.whenLogWasDamaged = { host, log in
            let text: String
            switch log {
            case .whole: return
            case .repaired: text = "damaged records were repaired; nothing is missing"
            case .lost(let commits):
                text =
                    "changes that were stored last are missing: \(commits) commits or more;"
                    + " what is left of the log is kept in \(host.folder.path)"
            }
            self.desk.audit.note(
                .fault, text, store: host.id.description, person: host.owner)
        }
        host.whenResident = { host in
            EventLoop.shared.task {
                self.sleep.look()
                if self.sleep.wipesResidents { host.wipeResident() }
                await self.followResident(host)
                self.whenLess()
            }
        }
        host.whenErased = { host in self.failedTokens.forget(host) }
        host.whenFingersGo = { [id = host.id] in self.readers.fingerSeat.withdraw(of: id) }
        host.forgetOnChips = { [id = host.id] in self.readers.forgetOnChips($0, of: id) }
    }

    /// Failed tokens keep the daemon running: either because the next daemon would not know them,
    /// or because their hashes must be wiped before a hibernation, and no daemon would be there to
    /// do it.
    var isHeldByTokens: Bool {
        guard failedTokens.outlivesDaemon else { return !failedTokens.isEmpty }
        return failedTokens.hasHashes && !isStoppedBeforeHibernation
    }
}
