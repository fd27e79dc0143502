import Posix
import StoreKeeping
import Wire
import Words

/// Several people may share an account, or one person keeps what does not belong together apart: each
/// has a store with a way in of its own, and one of them is open at a time.
extension StoreFlows {
    func switchStore(
        _ request: SwitchStore, _ exchange: any Conversation
    ) async throws(Interruption) -> Message {
        let person = try await desk.person(Subject(), exchange.caller)
        try await consenting.settle(person, exchange)
        try desk.requireNotBarred(person)
        let host =
            request.asks
            ? try await chosen(person, exchange)
            : try desk.requireStore(
                of: person, Target(subject: Subject(), store: request.store))
        guard host.identity.kind == .own || host.isFollower else {
            throw .refused(.invalidArgument(.switchShared))
        }
        let visit = try await desk.visit(host, person, exchange)
        // Whoever cannot open it locks nothing.
        _ = try await open(visit)
        for other in others(of: person) where other !== host && other !== host.parent {
            guard other.isOpen else { continue }
            await other.lock()
            transactions.forgetKeys(of: other.id)
            desk.audit.note(
                .lock, "a store was locked: its owner switched to another one",
                store: other.id.description, person: person,
                uid: exchange.caller.credentials.uid)
        }
        return .peopleSwitched(store: host.identity.storeName)
    }

    /// What follows another store opens and locks with that one.
    private func others(of person: Person) -> [StoreHost] {
        desk.vault.stores(of: person.uid).filter { $0.identity.kind == .own }
    }

    private func chosen(
        _ person: Person, _ exchange: any Conversation
    ) async throws(Interruption) -> StoreHost {
        let all = others(of: person).filter(\.isUsable)
        guard !all.isEmpty else { throw .refused(.doesNotExist(.store)) }
        let items = all.map { host in
            Sheet.Item(
                title: host.identity.storeName,
                subtitle: host.isOpen ? .peopleOpen : .peopleLocked, isCurrent: host.isOpen)
        }
        guard let place = try await exchange.present(.people(items)).item,
            all.indices.contains(place)
        else { throw .refused(.cancelled) }
        return all[place]
    }
}
