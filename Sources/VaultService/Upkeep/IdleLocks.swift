import KeySlots
import Policy
import Posix
import StoreKeeping

/// Locks stores that were not used for a time, even while their owner's session is in front. There
/// is one alarm for all of them, set for the first that may be due and not moved by each request;
/// there is none while no store is open.
@LoopActor
final class IdleLocks {
    private var open: [StoreID: StoreHost] = [:]
    private var alarm: BootAlarm?
    private var setFor: UInt64?
    private let lock: @LoopActor (StoreHost) async -> Void

    init(lock: @escaping @LoopActor (StoreHost) async -> Void) {
        self.lock = lock
    }

    /// Follows the owner's policy, when the store was opened or the policy changed; 0 means never.
    func follow(_ host: StoreHost, seconds: UInt32) {
        host.idleLimit = seconds > 0 ? UInt64(seconds) * 1000 : nil
        open[host.id] = seconds > 0 ? host : nil
        setAlarm()
    }

    private func setAlarm() {
        let next = open.values.compactMap { $0.idleEnd }.min()
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
        for (id, host) in open where host.isIdle || !host.isOpen {
            open[id] = nil
            if host.isIdle { await lock(host) }
        }
    }
}

extension Upkeep {
    /// The owner's policy says how long an open store may lie idle, and so does whether the owner
    /// has a session whose end would lock it.
    func followIdle(_ host: StoreHost) async {
        guard let inForce = try? await desk.policy(for: host.owner, host) else { return }
        let hasSession = await sessions.hasSession(host.owner.uid)
        let seconds = inForce.policy.idleSeconds(ownerHasSession: hasSession)
        idleLocks.follow(host, seconds: host.isOpen ? seconds : 0)
    }

    /// Does this for the open stores of one person.
    func followIdle(of uid: UInt32) {
        for host in desk.vault.stores(of: uid) where host.isOpen {
            EventLoop.shared.task { await self.followIdle(host) }
        }
    }

    /// Does this for all open stores, after the policy changed.
    func followIdleAgain() {
        for host in desk.vault.openStores {
            EventLoop.shared.task {
                await self.followIdle(host)
                await self.desk.followQuota(of: host.owner)
            }
        }
    }

    func lockIdle(_ host: StoreHost) async {
        await host.lock()
        transactions.forgetKeys(of: host.id)
        desk.audit.note(
            .lock, "a store was locked: nobody has used it for its idle time",
            store: host.id.description,
            person: Person(uid: host.identity.uid, name: host.identity.account))
        whenLess()
    }
}
