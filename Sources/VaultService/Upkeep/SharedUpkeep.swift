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
                await self.settle(access.host, person)
            }
        }
    }

    /// What waited for somebody who has the store open.
    private func settle(_ host: StoreHost, _ person: Person) async {
        guard host.records.isOpen, let ring = desk.vault.ring(of: person) else { return }
        do throws(Refusal) {
            let (key, _) = try await host.memberKey(ring, person)
            try await host.sealPending(key) { desk.vault.publicKey(of: $0) }
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

    /// Somebody's store was locked.
    @discardableResult
    func lockShared() -> [Task<Void, Never>] {
        desk.vault.sharedStores.filter {
            $0.isShared && $0.records.isOpen && !hasOpenMember($0)
        }.map { host in
            EventLoop.shared.task {
                guard !self.hasOpenMember(host) else { return }
                await host.lock()
            }
        }
    }

    private func hasOpenMember(_ host: StoreHost) -> Bool {
        host.members.contains { entry in
            guard case .person(let uid, let name) = entry.member.who else { return false }
            return desk.vault.ring(of: Person(uid: uid, name: name)) != nil
        }
    }
}
