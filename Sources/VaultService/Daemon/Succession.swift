internal import CSystemd
import KeySlots
import Policy
import Posix
import StoreKeeping
import Words

/// Whether open stores survive a restart: the daemon that ends leaves them to systemd in secret
/// memory, and systemd gives them to the next one. A daemon cannot tell a restart from a stop; at a
/// stop systemd drops what it was given.
enum Succession {
    case possible
    /// Not a daemon of systemd's.
    case none
    case noSecretMemory

    /// What systemd calls the descriptor.
    static let name = "open-stores"

    static func here() -> Succession {
        // SAFETY: no code changes the environment any more.
        guard unsafe getenv("NOTIFY_SOCKET") != nil, Boot.id != .none else { return .none }
        return SecretArea.isAvailable ? .possible : .noSecretMemory
    }

    /// For systemd, and for the package, which restarts the daemon if it finds the first of these.
    var status: String {
        switch self {
        case .possible: "\nSTATUS=Open stores survive a restart (layout \(HandOver.version))."
        case .none: ""
        case .noSecretMemory:
            "\nSTATUS=A restart locks open stores: the kernel has no secret memory."
        }
    }

    enum Failure: Error {
        case tooMuch
        case noMemory(SecretArea.Refusal)
        case notSent

        var words: String {
            switch self {
            case .tooMuch: "there is too much of it"
            case .noMemory(.foreign): "the kernel's secret memory is not ours"
            case .noMemory(.posix(let error)): error.description
            case .notSent: "systemd does not take it"
            }
        }
    }

    /// Returns when systemd has it. systemd takes nothing from a process that has ended.
    static func leave(_ left: HandOver) throws(Failure) {
        let size = left.size
        guard size <= SecretArea.most else { throw .tooMuch }
        var area: SecretArea
        do throws(SecretArea.Refusal) {
            area = try SecretArea(count: size)
        } catch {
            throw .noMemory(error)
        }
        area.withMutableBytes { left.encode(boot: Boot.id, into: &$0) }
        var number = area.descriptor
        // SAFETY: libsystemd reads a terminated text and one descriptor.
        let sent = unsafe sd_pid_notify_with_fds(0, 0, "FDSTORE=1\nFDNAME=\(name)", &number, 1)
        guard sent > 0 else { throw .notSent }
        area.leave()
        _ = sd_notify_barrier(0, barrierWait)
    }

    /// Microseconds. If systemd is as busy as that, the stores are locked.
    private static let barrierWait: UInt64 = 3_000_000
}

extension House {
    /// Milliseconds for the requests that are under way.
    private static let lastRequests: UInt64 = 400

    /// Leaves what is open to the next daemon, and locks it here.
    func leave() async {
        closeDoors()
        await crowd.dismiss(until: Clock.bootMilliseconds() + Self.lastRequests)
        let stores = await desk.vault.leaveAll()
        // From here to the end of the process nothing else runs: what somebody has locked meanwhile
        // stays locked. Before a sleep nothing is left.
        guard !upkeep.sleep.isComing else { return }
        var left = HandOver(slept: Clock.sleptMilliseconds())
        left.stores = stores.filter(\.stands).map(\.store)
        left.residents = desk.vault.all.compactMap(\.leavingResident)
        left.sessions = sessions.left
        let owners = Set(
            left.stores.map(\.id).compactMap { desk.vault.host($0)?.identity.uid }
                + left.residents.map(\.id).compactMap { desk.vault.host($0)?.identity.uid })
        left.inFront = owners.filter { upkeep.screens.isInFront($0) }
        guard !left.isEmpty else { return }
        do throws(Succession.Failure) {
            try Succession.leave(left)
            desk.audit.note(
                .stop,
                "left to the next daemon: \(left.stores.count) open stores,"
                    + " and what a finger opens of \(left.residents.count)")
        } catch {
            desk.audit.note(
                .fault, "all is locked: nothing could be left to the next daemon: \(error.words)")
        }
    }

    /// Opens what the daemon before this one had open, unless something that shuts a store has
    /// happened in between. Nobody is let in before this has ended.
    func takeOver(_ left: Inherited.Left) async {
        switch left {
        case .nothing: return
        case .refused(let why):
            desk.audit.note(
                .fault, "all is locked: what was left for this daemon is of no use: \(why)")
        case .taken(let left):
            let end = Clock.bootMilliseconds() + Self.longest
            let done = First<Void>()
            EventLoop.shared.task {
                await self.takeOver(left, until: end)
                done.settle(())
            }
            let timer = EventLoop.shared.at(end) { EventLoop.shared.task { done.settle(()) } }
            await done.value()
            EventLoop.shared.cancel(timer)
        }
    }

    /// Milliseconds. What is not open again by then stays locked: logins wait at the door.
    private static let longest: UInt64 = 5_000

    private func takeOver(_ left: HandOver, until end: UInt64) async {
        // Before anything else: what logind says from here on comes on top of it.
        for store in left.stores { desk.vault.host(store.id)?.take(store.times) }
        for resident in left.residents { desk.vault.host(resident.id)?.take(resident.times) }
        var isSleepNear = false
        let asking = EventLoop.shared.task {
            isSleepNear = await self.desk.directory.sleepIsNear()
        }
        sessions.take(left.sessions)
        // A bus that is slow must not make it look as if everybody had left.
        for _ in 0..<Self.patience where upkeep.screens.isAsking { await upkeep.screens.isReady() }
        await asking.value
        let hasSlept = isSleepNear || Clock.sleptMilliseconds() > left.slept + Self.noSleep
        let mayKeep = !hasSlept || upkeep.isStoppedBeforeHibernation
        let hosts = (left.stores.map(\.id) + left.residents.map(\.id))
            .compactMap { desk.vault.host($0) }
        var leaves: [UInt32: Leave] = [:]
        for uid in Set(hosts.map(\.identity.uid)) {
            leaves[uid] = hasSlept ? .sleep : await leave(of: uid, left)
        }
        await inTurns(mayKeep ? left.residents : []) { [leaves] resident in
            guard let host = self.desk.vault.host(resident.id) else { return }
            await self.take(resident, host, leaves[host.identity.uid], until: end)
        }
        await inTurns(left.stores) { [leaves] store in
            guard let host = self.desk.vault.host(store.id) else { return }
            guard mayKeep else { return self.stays(store, Self.words(.sleep)) }
            await self.reopen(store, host, leaves[host.identity.uid], until: end)
        }
        // Their members' stores may have stayed locked.
        upkeep.lockShared()
        desk.audit.note(
            .start,
            "open stores that were taken over: \(desk.vault.openStores.count)"
                + " of \(left.stores.count)")
        guard hasSlept, !isSleepNear else { return }
        // The sleep is over already.
        for uid in leaves.keys
        where upkeep.screens.isInFront(uid) || !upkeep.screens.hasScreen(uid) {
            upkeep.cameBack(uid, .sleep)
        }
    }

    /// How a person has left between the two daemons; nil if they are where they were.
    private func leave(of uid: UInt32, _ left: HandOver) async -> Leave? {
        if left.sessions.contains(where: { $0.uid == uid }), await !sessions.hasSession(uid) {
            return .sessionEnd
        }
        // A session that does not say whether its screen is locked may be locked.
        return left.inFront.contains(uid) && !upkeep.screens.isSurelyInFront(uid)
            ? .anotherInFront : nil
    }

    private static func words(_ leave: Leave) -> String {
        switch leave {
        case .screenLock, .screenLockByIdleness: "the screen was locked"
        case .anotherInFront: "its owner is not in front any more"
        case .sessionEnd: "the last session ended"
        case .sleep: "the machine went to sleep"
        }
    }

    /// How often the daemon waits until logind has said who is in front.
    private static let patience = 10
    /// The clocks are read one after the other.
    private static let noSleep: UInt64 = 100
    /// The directory service is not asked about more people at once than it takes.
    private static let openings = 16

    private func inTurns<Each: Sendable>(
        _ all: [Each], _ body: @escaping @LoopActor @Sendable (Each) async -> Void
    ) async {
        let tasks = (0..<min(Self.openings, all.count)).map { first in
            EventLoop.shared.task {
                for index in stride(from: first, to: all.count, by: Self.openings) {
                    await body(all[index])
                }
            }
        }
        for task in tasks { await task.value }
    }

    private func take(
        _ resident: HandOver.Resident, _ host: StoreHost, _ leave: Leave?, until end: UInt64
    ) async {
        guard let inForce = try? await desk.policy(for: host.owner, host),
            Clock.bootMilliseconds() < end
        else { return }
        host.leavingRules = inForce.policy.leaving
        if let leave { host.ownerLeft(leave) }
        host.takeResident(resident)
        await upkeep.followResident(host)
    }

    private func reopen(
        _ store: HandOver.Store, _ host: StoreHost, _ leave: Leave?, until end: UInt64
    ) async {
        let owner = host.owner
        if let shutAt = store.shutAt, shutAt <= Clock.bootMilliseconds(),
            await !sessions.hasSession(owner.uid)
        {
            return stays(store, "no session followed the login")
        }
        do throws(Refusal) {
            // Its owner's policy says for how long: without one it does not open.
            let policy = try await desk.policy(for: owner, host).policy
            guard Clock.bootMilliseconds() < end else { return stays(store, "that took too long") }
            // A try that was under way may have been the last.
            guard !host.isRetryLocked(policy) else { throw host.limitReached(policy) }
            host.leavingRules = policy.leaving
            host.limitHold(to: policy.holdMax)
            if let leave { host.ownerLeft(leave) }
            if host.isAway { return stays(store, host.lockingLeave.map(Self.words)) }
            try await host.reopen(store)
        } catch {
            return stays(store, error.message.english)
        }
        await upkeep.followTimes(host)
        if host.isIdle || host.isAway { return await upkeep.lockDue(host) }
        if let shutAt = store.shutAt {
            await sessions.shutUnlessFollowed(host, owner, at: shutAt)
        }
    }

    private func stays(_ store: HandOver.Store, _ why: String?) {
        desk.audit.note(
            .lock, "a store stays locked after the restart: \(why ?? "its time is over")",
            store: store.id.description, person: desk.vault.host(store.id)?.owner)
    }
}
