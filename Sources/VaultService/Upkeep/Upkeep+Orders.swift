import Posix
import StoreKeeping
import Words

/// Brings the stores to where the orders of an organisation want them. It may be cut short at any
/// point, and done again at any time.
extension Upkeep {
    func obeyOrders() async {
        let shut = desk.vault.followOrders()
        let locks = shut.map { host in EventLoop.shared.task { await self.shut(host) } }
        for lock in locks { await lock.value }
        for host in desk.vault.all {
            if let end = desk.orders.end(of: host) { await obey(end, host) }
        }
        followDays()
        watchers.noteAll()
    }

    private func shut(_ host: StoreHost) async {
        host.wipeResident()
        await host.lock()
        transactions.forgetKeys(of: host.id)
        desk.audit.note(
            .lock, "a store was locked: its organisation wants it so",
            store: host.id.description, person: host.owner, code: .lockedByAdministrator)
    }

    /// It stays shut until it is done: each start tries again, and each time a server was asked.
    private func obey(_ end: StoreEnd, _ host: StoreHost) async {
        let (id, owner) = (host.id.description, host.owner)
        do throws(Refusal) {
            try await desk.vault.obey(end, host)
        } catch {
            return desk.audit.note(
                .fault,
                "a store is to go, by its organisation's orders, and could not: \(error.message.english)",
                store: id, person: owner, code: error.code)
        }
        failedTokens.remove(host)
        host.bar = desk.orders.bar(host)
        let what =
            switch end {
            case .wiped: "a store was wiped: its organisation wants it so"
            case .reset: "a store was reset: its organisation wants it so"
            }
        desk.audit.note(.erase, what, store: id, person: owner, code: .wipedByAdministrator)
    }

    // MARK: days without contact

    /// Wakes when a day is over, and only where an order depends on it.
    private func followDays() {
        if let timer = dayTimer { EventLoop.shared.cancel(timer) }
        dayTimer = nil
        guard desk.orders.countsDays else { return }
        dayTimer = EventLoop.shared.at(desk.orders.days.nextDay) {
            EventLoop.shared.task {
                self.dayTimer = nil
                await self.desk.orders.keep()
                await self.obeyOrders()
            }
        }
    }
}
