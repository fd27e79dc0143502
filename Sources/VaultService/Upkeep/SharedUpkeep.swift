import KeySlots
import Posix
import StoreKeeping
import Words

/// Shared stores open with their members' own stores, and lock when the last of those has locked.
extension Upkeep {
    /// A person's default store was opened.
    func openShared(with host: StoreHost) {
        let person = host.owner
        guard host.ring?.opensShared == true, !desk.vault.sharedStores.isEmpty else { return }
        EventLoop.shared.task {
            for access in await self.desk.allShared(with: person) where access.host.isShared {
                try? await self.desk.open(access, person)
                // A new key may take long, and their other stores do not wait for it.
                EventLoop.shared.task { await self.settle(access.host, person) }
            }
        }
    }

    /// What waited for somebody who has the store open.
    private func settle(_ host: StoreHost, _ person: Person) async {
        guard host.records.isOpen, let ring = desk.vault.ring(of: person) else { return }
        do throws(Refusal) {
            let key = try await host.memberKey(ring, person)
            try await host.settleMembers(key)
            try await host.sealPending(key) { desk.vault.publicKey(of: $0) }
            try await desk.removeGone(from: host)
            guard host.isNewKeyDue else { return }
            try await host.giveNewKey()
            desk.audit.note(
                .change, "a store has a new key", store: host.id.description, person: host.owner)
        } catch {
            desk.audit.note(
                .fault, "a shared store could not be settled: \(error.message.english)",
                store: host.id.description, person: host.owner, code: error.code)
        }
    }

    /// Somebody's store was locked, or somebody is no member any more.
    @discardableResult
    func lockShared() -> [Task<Void, Never>] {
        desk.vault.sharedStores.filter(isLeftOpen).map { host in
            EventLoop.shared.task {
                guard self.isLeftOpen(host) else { return }
                await host.lock()
            }
        }
    }

    private func isLeftOpen(_ host: StoreHost) -> Bool {
        host.isShared && host.records.isOpen && !host.isNeeded && !desk.hasOpenMember(host)
    }
}
