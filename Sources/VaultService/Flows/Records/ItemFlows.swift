import KeySlots
import Posix
import SealedStore
import StoreKeeping
import Wire
import Words

/// The desktop's secrets: items, their collections and aliases, in a store of the caller's.
@LoopActor
final class ItemFlows {
    let desk: Desk
    let records: RecordFlows

    init(desk: Desk, records: RecordFlows) {
        self.desk = desk
        self.records = records
    }

    /// What was read of a store, and in which of its openings.
    struct Finding<Answer: Sendable> {
        let answer: Answer
        let records: OpenRecordsQueue
        let opening: Int

        @LoopActor
        fileprivate init(_ answer: Answer, _ host: StoreHost) {
            self.answer = answer
            records = host.records
            opening = host.records.opening
        }
    }

    /// One that was locked stays so, although what it follows is open: programs ask for the
    /// desktop's secrets all the time, and no person is behind that.
    private func openStore(
        _ name: [UInt8], _ caller: Caller, _ least: Member.Role = .reader
    ) async throws(Interruption) -> StoreHost {
        let person = try await desk.person(Subject(), caller)
        if let own = try desk.ownStore(of: person, named: name), own.isFollower, !own.isOpen {
            try refusing { () throws(Refusal) in try own.requireUsable() }
            try await refusingAsync { () async throws(Refusal) in
                try await own.openAlongUnlessLocked()
            }
            return own
        }
        return try await records.openStore(name, caller, least)
    }

    // MARK: reading

    func find(
        _ wanted: FindItems, for caller: Caller
    ) async throws(Interruption) -> Finding<OpenRecordsQueue.ItemPage> {
        let host = try await openStore(wanted.store, caller)
        let page = try await refusingAsync { () async throws(Refusal) in
            try await host.items(wanted)
        }
        if host.records.note(page.damaged) { desk.noteDamage(host, caller) }
        return Finding(page, host)
    }

    func secrets(
        _ wanted: GetSecrets, for caller: Caller
    ) async throws(Interruption) -> Finding<OpenRecordsQueue.SecretPage> {
        let host = try await openStore(wanted.store, caller)
        let page = try await refusingAsync { () async throws(Refusal) in
            try await host.secrets(of: wanted.ids.compactMap { ItemID($0) })
        }
        if host.records.note(page.damaged) { desk.noteDamage(host, caller) }
        return Finding(page, host)
    }

    func changes(
        _ asked: ItemChanges, for caller: Caller
    ) async throws(Interruption) -> Finding<OpenRecordsQueue.NewsPage> {
        let host = try await openStore(asked.store, caller)
        let page = try await refusingAsync { () async throws(Refusal) in
            try await host.itemNews(asked)
        }
        if host.records.note(page.damaged) { desk.noteDamage(host, caller) }
        return Finding(page, host)
    }

    // MARK: writing

    /// Whoever may not write is refused for that, whatever they ask for.
    private func change(
        in store: [UInt8], _ caller: Caller, _ work: () throws(Interruption) -> ItemWork
    ) async throws(Interruption) -> (outcome: ItemOutcome, host: StoreHost) {
        let host = try await openStore(store, caller, .writer)
        let work = try work()
        desk.quotaNow(of: host.owner)
        let outcome = try await refusingAsync { () async throws(Refusal) in
            try await host.change(items: work)
        }
        return (outcome, host)
    }

    private func inOrder(_ item: Item) throws(Interruption) -> Item {
        guard let attributes = ItemRecord.inOrder(item.attributes) else {
            throw .refused(.invalidArgument(.attributes))
        }
        var ordered = item
        ordered.attributes = attributes
        return ordered
    }

    private func id(
        _ bytes: [UInt8], _ what: Refusal.Thing = .item
    ) throws(Interruption) -> ItemID {
        guard let id = ItemID(bytes) else { throw .refused(.doesNotExist(what)) }
        return id
    }

    func put(
        _ request: PutItem, _ secret: WipedBuffer, for caller: Caller
    ) async throws(Interruption) -> Item {
        let done = try await change(in: request.store, caller) { () throws(Interruption) in
            .put(try inOrder(request.item), secret: secret, replace: request.replace)
        }
        return try Self.item(done.outcome)
    }

    func change(
        _ request: ChangeItem, _ secret: WipedBuffer, for caller: Caller
    ) async throws(Interruption) -> Item {
        let done = try await change(in: request.store, caller) { () throws(Interruption) in
            let item = try inOrder(request.item)
            let new = ItemSecret(contentType: item.contentType, bytes: secret)
            return .change(
                try id(item.id), label: request.label ? item.label : nil,
                attributes: request.attributes ? item.attributes : nil, modified: item.modified,
                secret: request.secret ? new : nil)
        }
        return try Self.item(done.outcome)
    }

    private static func item(_ outcome: ItemOutcome) throws(Interruption) -> Item {
        switch outcome {
        case .item(let item): return item
        case .refused(let refusal): throw .refused(refusal)
        case .collection, .done, .again: throw .refused(.unknown)
        }
    }

    func delete(_ item: StoredID, for caller: Caller) async throws(Interruption) {
        _ = try await change(in: item.store, caller) { () throws(Interruption) in
            .delete(try id(item.id))
        }
    }

    func putCollection(
        _ request: PutCollection, for caller: Caller
    ) async throws(Interruption) -> ItemCollection {
        let done = try await change(in: request.store, caller) { () throws(Interruption) in
            var given = request.collection
            (given.created, given.modified) = (0, 0)
            return .putCollection(
                request.isNew ? nil : try id(given.id, .collection), given)
        }
        switch done.outcome {
        case .collection(let collection): return collection
        case .refused(let refusal): throw .refused(refusal)
        case .item, .done, .again: throw .refused(.unknown)
        }
    }

    func deleteCollection(_ collection: StoredID, for caller: Caller) async throws(Interruption) {
        let done = try await change(in: collection.store, caller) { () throws(Interruption) in
            .deleteCollection(try id(collection.id, .collection))
        }
        if let book = done.host.records.itemBookNow { done.host.records.sweepItems(of: book) }
    }

    func setAlias(_ alias: SetAlias, for caller: Caller) async throws(Interruption) {
        let mayBeStore = alias.isNone ? false : await knows(alias.collection, caller)
        _ = try await change(in: alias.store, caller) { () throws(Interruption) in
            guard !alias.name.isEmpty else { throw .refused(.invalidArgument(.alias)) }
            return .setAlias(
                alias.name, alias.isNone ? nil : try id(alias.collection, .collection),
                mayBeStore: mayBeStore)
        }
    }

    /// Whether it is a store of the caller's, or one that is shared with them.
    private func knows(_ store: [UInt8], _ caller: Caller) async -> Bool {
        guard let id = StoreID(bytes: store), let host = desk.vault.host(id),
            let person = try? await desk.person(Subject(), caller)
        else { return false }
        if host.owner == person { return true }
        return await desk.role(of: person, in: host) != nil
    }
}
