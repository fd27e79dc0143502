import Posix
import SealedStore
import Secrets
import Wire
import Words

/// What is asked to be done to the items of a store. What it comes to is decided when it is its turn
/// to be committed: so of two that do the same at once, the second one finds what the first has
/// stored.
package enum ItemWork: Sendable {
    case put(Item, secret: WipedBuffer, replace: Bool)
    /// What is nil stays.
    case change(
        ItemID, label: [UInt8]?, attributes: [Item.Attribute]?, modified: UInt64,
        secret: ItemSecret?)
    case delete(ItemID)
    /// Nil: a new one.
    case putCollection(ItemID?, ItemCollection)
    case deleteCollection(ItemID)
    /// The id may be another store's where that is said.
    case setAlias([UInt8], ItemID?, mayBeStore: Bool)
    /// Some items of a deleted collection; without any left, its record.
    case sweep([ItemID], of: ItemID)

    /// What it brings along: attributes may be as large as a secret.
    var bytes: Int {
        switch self {
        case .put(let item, let secret, _):
            item.label.count + Self.bytes(of: item.attributes) + secret.count
        case .change(_, let label, let attributes, _, let secret):
            (label?.count ?? 0) + Self.bytes(of: attributes ?? []) + (secret?.bytes.count ?? 0)
        case .delete, .putCollection, .deleteCollection, .setAlias, .sweep: 0
        }
    }

    private static func bytes(of attributes: [Item.Attribute]) -> Int {
        attributes.reduce(0) { $0 + $1.name.count + $1.value.count }
    }

    /// Nothing else that is done to items shares its commit.
    var isAlone: Bool {
        switch self {
        case .put, .change, .delete: false
        case .putCollection, .deleteCollection, .setAlias, .sweep: true
        }
    }
}

package struct ItemSecret: Sendable {
    package let contentType: [UInt8]
    package let bytes: WipedBuffer

    package init(contentType: [UInt8], bytes: WipedBuffer) {
        self.contentType = contentType
        self.bytes = bytes
    }
}

package enum ItemOutcome: Sendable {
    case item(Item)
    case collection(ItemCollection)
    case done
    case refused(Refusal)
    /// Another index has taken the place of the one that it was prepared with.
    case again
}

/// What two pieces of work must not both touch in one commit.
enum ItemTouch: Hashable {
    case id(ItemID)
    case whole(UInt64)
}

/// One record to be written, and what the index then has to know.
struct ItemStep {
    enum Effect {
        case item(ItemFacts)
        case gone(ItemID)
        case collection(ItemID, CollectionRecord)
        case forgotten(ItemID)
        case alias([UInt8], AliasTarget?)
    }

    let change: Change
    let effect: Effect
}

/// What a piece of work comes to.
struct ItemPlan {
    var steps: [ItemStep] = []
    var outcome: ItemOutcome

    static func refused(_ refusal: Refusal) -> ItemPlan { ItemPlan(outcome: .refused(refusal)) }
}

/// What has to be read of the records before the work can be planned.
enum ItemNeed: Sendable {
    case nothing
    /// One of these that has exactly these attributes.
    case same(Item, among: [ItemID])
    case whole(ItemID)

    var isSomething: Bool {
        switch self {
        case .nothing: false
        case .same, .whole: true
        }
    }
}

enum ItemFinding: Sendable {
    case nothing
    case same(Item)
    case whole(Item, secret: WipedBuffer)
    case failed(RecordsError)
}

extension ItemBook {
    func touches(_ work: ItemWork) -> Set<ItemTouch> {
        switch work {
        case .put(let item, _, let replace):
            let whole = key.hash(whole: item)
            var touches: Set<ItemTouch> = [.whole(whole)]
            if let id = ItemID(item.id), id != .zero { touches.insert(.id(id)) }
            if replace { touches.formUnion(index.same(whole).map { .id($0) }) }
            return touches
        case .change(let id, _, let attributes, _, _):
            var touches: Set<ItemTouch> = [.id(id)]
            if let attributes, let collection = index.collection(of: id) {
                var item = Item()
                item.collection = collection.bytes
                item.attributes = attributes
                touches.insert(.whole(key.hash(whole: item)))
            }
            return touches
        case .delete(let id): return [.id(id)]
        case .putCollection, .deleteCollection, .setAlias, .sweep: return []
        }
    }

    func need(_ work: ItemWork) -> ItemNeed {
        switch work {
        case .put(let item, _, true) where ItemID(item.id) == .zero:
            let candidates = index.same(key.hash(whole: item))
            return candidates.isEmpty ? .nothing : .same(item, among: candidates)
        case .change(let id, _, _, _, _): return index.has(id) ? .whole(id) : .nothing
        case .put, .delete, .putCollection, .deleteCollection, .setAlias, .sweep: return .nothing
        }
    }

    // MARK: plans

    func plan(_ work: ItemWork, _ finding: ItemFinding) -> ItemPlan {
        if case .failed(let error) = finding {
            return .refused(OpenRecordsQueue.plainRefusal(error, .read))
        }
        switch work {
        case .put(let item, let secret, _): return plan(put: item, secret, finding)
        case .change(let id, let label, let attributes, let modified, let secret):
            guard case .whole(var item, let former) = finding else {
                return .refused(.doesNotExist(.item))
            }
            if let label { item.label = label }
            if let attributes { item.attributes = attributes }
            if let secret { item.contentType = secret.contentType }
            item.modified = Self.time(modified)
            return plan(id, item, secret?.bytes ?? former)
        case .delete(let id):
            guard index.has(id) else { return .refused(.doesNotExist(.item)) }
            return ItemPlan(
                steps: [
                    ItemStep(change: .delete(name: ItemName.item(id).bytes), effect: .gone(id))
                ],
                outcome: .done)
        case .putCollection(let id, let collection): return plan(id, collection)
        case .deleteCollection(let id):
            guard id != .zero else { return .refused(.invalidArgument(.loginCollection)) }
            guard var record = index.collection(id)?.record else {
                return .refused(.doesNotExist(.collection))
            }
            record.isDeleted = true
            return ItemPlan(steps: [step(id, record)], outcome: .done)
        case .setAlias(let alias, let id, let mayBeStore): return plan(alias, id, mayBeStore)
        case .sweep(let ids, let collection):
            var steps = ids.filter { index.collection(of: $0) == collection }.map { id in
                ItemStep(change: .delete(name: ItemName.item(id).bytes), effect: .gone(id))
            }
            if ids.isEmpty {
                // An alias of it would stay for ever, and count.
                steps = index.aliases.filter { $0.value == .collection(collection) }.map {
                    alias, _ in
                    ItemStep(
                        change: .delete(name: ItemName.alias(alias).bytes),
                        effect: .alias(alias, nil))
                }
                let name = ItemName.collection(collection).bytes
                steps.append(
                    ItemStep(change: .delete(name: name), effect: .forgotten(collection)))
            }
            return ItemPlan(steps: steps, outcome: .done)
        }
    }

    private static func time(_ given: UInt64) -> UInt64 {
        given == 0 ? Clock.wallSeconds() : given
    }

    private func plan(put given: Item, _ secret: WipedBuffer, _ finding: ItemFinding) -> ItemPlan {
        guard let collection = ItemID(given.collection), index.collection(collection) != nil else {
            return .refused(.doesNotExist(.collection))
        }
        var item = given
        item.created = Self.time(item.created)
        item.modified = Self.time(item.modified)
        if case .same(let former) = finding {
            item.id = former.id
            item.created = former.created
        }
        do throws(SecretsError) {
            let known = ItemID(item.id).flatMap { $0 == .zero ? nil : $0 }
            let id: ItemID
            if let known { id = known } else { id = try ItemID.random() }
            return plan(id, item, secret)
        } catch {
            return .refused(.unknown)
        }
    }

    private func plan(_ id: ItemID, _ given: Item, _ secret: WipedBuffer) -> ItemPlan {
        var item = given
        item.id = id.bytes
        let value = secret.withBytes { ItemRecord.encode(item, secret: $0) }
        guard let facts = key.facts(item) else { return .refused(.unknown) }
        guard hasRoom(for: facts.hashes.count) else { return .refused(.outOfMemory) }
        let change = Change.set(name: ItemName.item(id).bytes, value: value)
        return ItemPlan(
            steps: [ItemStep(change: change, effect: .item(facts))], outcome: .item(item))
    }

    private func plan(_ known: ItemID?, _ given: ItemCollection) -> ItemPlan {
        var record: CollectionRecord
        let id: ItemID
        if let known {
            guard let there = index.collection(known)?.record else {
                return .refused(.doesNotExist(.collection))
            }
            (id, record) = (known, there)
            record.label = given.label
            if record.created == 0 { record.created = Self.time(given.created) }
        } else {
            guard index.collections.count < Limits.collections else {
                return .refused(.invalidArgument(.collections))
            }
            do throws(SecretsError) { id = try ItemID.random() } catch {
                return .refused(.unknown)
            }
            record = CollectionRecord(label: given.label, created: Self.time(given.created))
        }
        record.modified = Self.time(given.modified)
        return ItemPlan(
            steps: [step(id, record)],
            outcome: .collection(ItemIndex.Collection(id: id, record: record).message))
    }

    private func step(_ id: ItemID, _ record: CollectionRecord) -> ItemStep {
        ItemStep(
            change: .set(name: ItemName.collection(id).bytes, value: record.encode()),
            effect: .collection(id, record))
    }

    private func plan(_ alias: [UInt8], _ id: ItemID?, _ mayBeStore: Bool) -> ItemPlan {
        let name = ItemName.alias(alias).bytes
        guard let id else {
            guard index.aliases[alias] != nil else { return ItemPlan(outcome: .done) }
            return ItemPlan(
                steps: [ItemStep(change: .delete(name: name), effect: .alias(alias, nil))],
                outcome: .done)
        }
        let target: AliasTarget
        if index.collection(id) != nil {
            target = .collection(id)
        } else if mayBeStore {
            target = .store(id)
        } else {
            return .refused(.doesNotExist(.collection))
        }
        guard index.aliases[alias] != nil || index.aliases.count < Limits.collections else {
            return .refused(.invalidArgument(.collections))
        }
        let change = Change.set(name: name, value: AliasRecord.encode(target))
        return ItemPlan(
            steps: [ItemStep(change: change, effect: .alias(alias, target))], outcome: .done)
    }

    func follow(_ effect: ItemStep.Effect) {
        switch effect {
        case .item(let facts):
            index.put(facts)
            count()
        case .gone(let id):
            index.remove(id)
            count()
        case .collection(let id, let record): index.put(record, of: id)
        case .forgotten(let id): index.forget(id)
        case .alias(let name, let target): index.set(name, target)
        }
    }
}

extension ItemIndex.Collection {
    /// As other services call it.
    private static let login = Array("Login".utf8)

    package var message: ItemCollection {
        var message = ItemCollection()
        message.id = id.bytes
        message.label = id == .zero && record.label.isEmpty ? Self.login : record.label
        message.created = record.created
        message.modified = record.modified
        return message
    }
}
