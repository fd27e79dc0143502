import KeySlots
import Policy
import Posix
import StoreKeeping

/// Locks stores whose time is over: nobody has used them, or their owner has left and did not come
/// back. There is one alarm for all of them, set for the first that may be due and not moved by each
/// request; there is none while no store is open.
@LoopActor
final class TimedLocks {
    private var open: [StoreID: StoreHost] = [:]
    private var alarm: BootAlarm?
    private var setFor: UInt64?
    private let lock: @LoopActor (StoreHost) async -> Void

    init(lock: @escaping @LoopActor (StoreHost) async -> Void) {
        self.lock = lock
    }

    /// Follows the store's times, when it was opened or one of them changed.
    func follow(_ host: StoreHost) {
        open[host.id] = host.records.isOpen && host.end != nil ? host : nil
        setAlarm()
    }

    private func setAlarm() {
        let next = open.values.compactMap { $0.end }.min()
        // An alarm that rings too early sets the next one itself.
        if let next, let setFor, setFor <= next { return }
        guard next != setFor else { return }
        if alarm == nil { start() }
        setFor = next
        alarm?.set(next)
    }

    private func start() {
        // Even without an alarm, a store is closed for all requests when its time is over.
        guard let made = try? BootAlarm() else { return }
        alarm = made
        EventLoop.shared.task {
            while true {
                await made.rings()
                self.setFor = nil
                await self.lockDue()
                self.setAlarm()
            }
        }
    }

    private func lockDue() async {
        for (id, host) in open where host.isIdle || host.isAway || !host.records.isOpen {
            open[id] = nil
            if host.records.isOpen { await lock(host) }
        }
    }
}

extension Upkeep {
    /// The owner's policy says how long an open store may lie idle, and so does whether the owner
    /// has a session whose end would lock it. It also says what happens when the owner leaves.
    func followTimes(_ host: StoreHost) async {
        // It locks with the last of its members' stores.
        guard !host.isShared else { return }
        guard let inForce = try? await desk.policy(for: host.owner, host) else { return }
        host.leavingRules = inForce.policy.leaving
        host.timekeeper.limitHold(to: inForce.policy.holdMax)
        // It holds for an owner who is away already, too.
        if host.isAway, host.records.isOpen { return await lockLeft(host) }
        let hasSession = await sessions.hasSession(host.owner.uid)
        let seconds = inForce.policy.idleSeconds(ownerHasSession: hasSession)
        host.idleLimit = seconds > 0 ? UInt64(seconds) * 1000 : nil
        timedLocks.follow(host)
    }

    /// Does this for the open stores of one person.
    func followTimes(of uid: UInt32) {
        for host in desk.vault.stores(of: uid) where host.isOpen {
            EventLoop.shared.task { await self.followTimes(host) }
        }
    }

    /// Does this for all open stores, after the policy changed.
    func followTimesAgain() {
        let open = desk.vault.openStores
        // A locked store says when those that follow it are locked at the latest.
        for host in open.compactMap(\.parent).filter({ !$0.isOpen }) + open {
            EventLoop.shared.task {
                await self.followTimes(host)
                await self.desk.followQuota(of: host.owner)
            }
        }
    }

    func lockDue(_ host: StoreHost) async {
        if host.isAway { return await lockLeft(host) }
        await host.lock(.ofOnePolicy)
        transactions.forgetKeys(of: host.id)
        desk.audit.note(
            .lock, "a store was locked: nobody has used it for its idle time",
            store: host.id.description,
            person: Person(uid: host.identity.uid, name: host.identity.account))
        whenLess()
    }
}
