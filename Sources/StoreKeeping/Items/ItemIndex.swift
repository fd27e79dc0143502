/// Which items a store has, and which of them have an attribute: hashes and ids alone. What an item
/// says is read from its record, and that alone confirms that it was meant.
package struct ItemIndex: Sendable {
    package struct Collection: Equatable, Sendable {
        package var id: ItemID
        package var record: CollectionRecord
    }

    private struct Entry: Sendable {
        var id: ItemID
        /// Its number among the collections; of a free slot, nothing.
        var collection: UInt32
        /// The first of its nodes.
        var nodes: UInt32
    }

    /// All items that have one hash.
    private struct Posting: Sendable {
        var hash: UInt64
        var head: UInt32
        var count: UInt32
    }

    /// One hash of one item, in the list of the hash and in that of the item.
    private struct Node: Sendable {
        var posting: UInt32
        var slot: UInt32
        var next: UInt32
        var previous: UInt32
        var nextOfItem: UInt32
    }

    private static let none = UInt32.max

    private var slots: [ItemID: UInt32] = [:]
    private var entries: [Entry] = []
    private var freeSlots: [UInt32] = []
    private var nodes: [Node] = []
    private var freeNode = none
    private var postings: [Posting] = []
    private var freePosting = none
    private var table = HashTable()

    private var known: [Known] = []
    private var numbers: [ItemID: UInt32] = [:]
    package private(set) var aliases: [[UInt8]: AliasTarget] = [:]

    /// Of the last changes, the oldest first.
    private var log: [ItemID] = []
    /// How many changes were before those.
    private var forgotten: UInt64 = 0
    /// At least so many changes are known.
    private let memory: Int
    /// What is put now was there before, and is no change.
    package var isTaking = false

    /// A collection that something speaks of.
    private struct Known: Sendable {
        var id: ItemID
        /// Nil where there are only items in it: its record is damaged, or not there yet.
        var record: CollectionRecord?
        var items = 0

        var isDeleted: Bool { record?.isDeleted ?? false }
    }

    package init(memory: Int = 8192) {
        self.memory = memory
        _ = number(of: .zero)
    }

    package var count: Int { slots.count }
    /// Each takes about fifty bytes.
    package private(set) var hashes = 0
    /// Those that something speaks of.
    package var collectionCount: Int { known.count }
    /// The number of the last change.
    package var now: UInt64 { forgotten + UInt64(log.count) }

    // MARK: items

    package func has(_ id: ItemID) -> Bool {
        guard let slot = slots[id] else { return false }
        return !known[Int(entries[Int(slot)].collection)].isDeleted
    }

    package func collection(of id: ItemID) -> ItemID? {
        guard let slot = slots[id] else { return nil }
        return known[Int(entries[Int(slot)].collection)].id
    }

    /// In place of what it was before.
    package mutating func put(_ facts: ItemFacts) {
        note(facts.id)
        let collection = number(of: facts.collection)
        let slot: UInt32
        if let there = slots[facts.id] {
            slot = there
            known[Int(entries[Int(slot)].collection)].items -= 1
            cut(slot)
            entries[Int(slot)].collection = collection
        } else if let free = freeSlots.popLast() {
            slot = free
            entries[Int(slot)] = Entry(id: facts.id, collection: collection, nodes: Self.none)
            slots[facts.id] = slot
        } else {
            slot = UInt32(entries.count)
            Self.makeRoom(&entries)
            entries.append(Entry(id: facts.id, collection: collection, nodes: Self.none))
            slots[facts.id] = slot
        }
        known[Int(collection)].items += 1
        for hash in facts.hashes { tie(slot, to: hash) }
    }

    package mutating func remove(_ id: ItemID) {
        guard let slot = slots.removeValue(forKey: id) else { return }
        note(id)
        cut(slot)
        known[Int(entries[Int(slot)].collection)].items -= 1
        entries[Int(slot)].collection = Self.none
        freeSlots.append(slot)
    }

    /// Arrays double otherwise, and half of them may be empty.
    private static func makeRoom<E>(_ array: inout [E]) {
        guard array.count == array.capacity else { return }
        array.reserveCapacity(array.count + array.count / 4 + 16)
    }

    private mutating func tie(_ slot: UInt32, to hash: UInt64) {
        let posting = posting(of: hash)
        let head = postings[Int(posting)].head
        let node = Node(
            posting: posting, slot: slot, next: head, previous: Self.none,
            nextOfItem: entries[Int(slot)].nodes)
        let number: UInt32
        if freeNode != Self.none {
            number = freeNode
            freeNode = nodes[Int(number)].next
            nodes[Int(number)] = node
        } else {
            number = UInt32(nodes.count)
            Self.makeRoom(&nodes)
            nodes.append(node)
        }
        hashes += 1
        if head != Self.none { nodes[Int(head)].previous = number }
        postings[Int(posting)].head = number
        postings[Int(posting)].count += 1
        entries[Int(slot)].nodes = number
    }

    private mutating func posting(of hash: UInt64) -> UInt32 {
        if let there = table.find(hash, { postings[Int($0)].hash }) { return there }
        let posting = Posting(hash: hash, head: Self.none, count: 0)
        let number: UInt32
        if freePosting != Self.none {
            number = freePosting
            freePosting = postings[Int(number)].head
            postings[Int(number)] = posting
        } else {
            number = UInt32(postings.count)
            Self.makeRoom(&postings)
            postings.append(posting)
        }
        table.insert(number, hash) { postings[Int($0)].hash }
        return number
    }

    /// Takes all hashes from an item.
    private mutating func cut(_ slot: UInt32) {
        var number = entries[Int(slot)].nodes
        entries[Int(slot)].nodes = Self.none
        while number != Self.none {
            let node = nodes[Int(number)]
            if node.previous == Self.none {
                postings[Int(node.posting)].head = node.next
            } else {
                nodes[Int(node.previous)].next = node.next
            }
            if node.next != Self.none { nodes[Int(node.next)].previous = node.previous }
            postings[Int(node.posting)].count -= 1
            if postings[Int(node.posting)].count == 0 { free(posting: node.posting) }
            nodes[Int(number)].next = freeNode
            freeNode = number
            hashes -= 1
            number = node.nextOfItem
        }
    }

    private mutating func free(posting: UInt32) {
        table.remove(postings[Int(posting)].hash) { postings[Int($0)].hash }
        postings[Int(posting)].head = freePosting
        freePosting = posting
    }

    // MARK: finding

    /// Some items, the cursor of each, and the one to go on from: 0 at the end.
    package struct Found: Equatable, Sendable {
        package var ids: [ItemID] = []
        package var places: [UInt64] = []
        package var cursor: UInt64 = 0

        fileprivate mutating func add(_ id: ItemID, at place: Int) {
            ids.append(id)
            places.append(UInt64(place))
        }
    }

    /// So many items at most are looked at in one call.
    package static let most = 16_384

    /// What may have all of these hashes, in the order of their slots.
    package func find(
        _ hashes: [UInt64], in collection: ItemID?, from cursor: UInt64, limit: Int
    ) -> Found {
        var wanted: [UInt32] = []
        for hash in hashes {
            guard let posting = table.find(hash, { postings[Int($0)].hash }) else {
                return Found()
            }
            wanted.append(posting)
        }
        wanted = Array(Set(wanted))
        // So much work in one call, however many attributes are asked for.
        let most = max(128, Self.most / max(1, wanted.count))
        var only: UInt32?
        if let collection {
            guard let number = numbers[collection] else { return Found() }
            only = number
        }
        guard let start = Int(exactly: cursor), start < entries.count else { return Found() }
        let rarest = wanted.min { postings[Int($0)].count < postings[Int($1)].count }
        guard let rarest, postings[Int(rarest)].count <= most else {
            return scan(wanted, only, start, limit, most)
        }
        var matching: [UInt32] = []
        var number = postings[Int(rarest)].head
        while number != Self.none {
            let slot = nodes[Int(number)].slot
            if slot >= start, isWanted(slot, wanted, only) { matching.append(slot) }
            number = nodes[Int(number)].next
        }
        matching.sort()
        var found = Found()
        for slot in matching.prefix(limit) {
            found.add(entries[Int(slot)].id, at: Int(slot))
        }
        if matching.count > limit { found.cursor = UInt64(matching[limit]) }
        return found
    }

    private func scan(
        _ wanted: [UInt32], _ only: UInt32?, _ start: Int, _ limit: Int, _ most: Int
    ) -> Found {
        var found = Found()
        let end = min(entries.count, start + most)
        for slot in start..<end where isWanted(UInt32(slot), wanted, only) {
            guard found.ids.count < limit else {
                found.cursor = UInt64(slot)
                return found
            }
            found.add(entries[slot].id, at: slot)
        }
        found.cursor = end < entries.count ? UInt64(end) : 0
        return found
    }

    private func isWanted(_ slot: UInt32, _ wanted: [UInt32], _ only: UInt32?) -> Bool {
        let entry = entries[Int(slot)]
        guard entry.collection != Self.none, !known[Int(entry.collection)].isDeleted,
            only == nil || entry.collection == only
        else { return false }
        return wanted.allSatisfy { has(slot, $0) }
    }

    private func has(_ slot: UInt32, _ posting: UInt32) -> Bool {
        var number = entries[Int(slot)].nodes
        while number != Self.none {
            if nodes[Int(number)].posting == posting { return true }
            number = nodes[Int(number)].nextOfItem
        }
        return false
    }

    /// A few of those with this hash of a whole item.
    package func same(_ hash: UInt64) -> [ItemID] {
        guard let posting = table.find(hash, { postings[Int($0)].hash }) else { return [] }
        var ids: [ItemID] = []
        var number = postings[Int(posting)].head
        while number != Self.none, ids.count < 8 {
            let entry = entries[Int(nodes[Int(number)].slot)]
            if !known[Int(entry.collection)].isDeleted { ids.append(entry.id) }
            number = nodes[Int(number)].next
        }
        return ids
    }

    // MARK: collections

    private mutating func number(of id: ItemID) -> UInt32 {
        if let there = numbers[id] { return there }
        let number = UInt32(known.count)
        known.append(Known(id: id))
        numbers[id] = number
        return number
    }

    package mutating func put(_ record: CollectionRecord, of collection: ItemID) {
        known[Int(number(of: collection))].record = record
        tick()
    }

    /// The record of a deleted collection is gone, and so are the items in it.
    package mutating func forget(_ collection: ItemID) {
        guard let number = numbers[collection] else { return }
        known[Int(number)].record = nil
        tick()
    }

    /// With the one that is always there, and those of which only items are left.
    package var collections: [Collection] {
        known.filter { !$0.isDeleted && ($0.id == .zero || $0.record != nil || $0.items > 0) }
            .map { Collection(id: $0.id, record: $0.record ?? CollectionRecord()) }
    }

    /// Whether another store is there is not known here.
    package func isThere(_ target: AliasTarget) -> Bool {
        switch target {
        case .collection(let id): collection(id) != nil
        case .store: true
        }
    }

    package func collection(_ id: ItemID) -> Collection? {
        guard let number = numbers[id] else { return nil }
        let known = known[Int(number)]
        guard !known.isDeleted, id == .zero || known.record != nil || known.items > 0 else {
            return nil
        }
        return Collection(id: id, record: known.record ?? CollectionRecord())
    }

    /// Those whose items are still to be deleted.
    package var deletedCollections: [ItemID] { known.filter(\.isDeleted).map(\.id) }

    /// Some of its items, wherever they are found within one call's work; the cursor is 0 at the
    /// end of all.
    package func rest(of collection: ItemID, from cursor: UInt64, limit: Int) -> Found {
        guard let number = numbers[collection], let start = Int(exactly: cursor) else {
            return Found()
        }
        var found = Found()
        let end = min(entries.count, start + Self.most)
        var slot = start
        while slot < end, found.ids.count < limit {
            if entries[slot].collection == number { found.add(entries[slot].id, at: slot) }
            slot += 1
        }
        found.cursor = slot < entries.count ? UInt64(slot) : 0
        return found
    }

    package mutating func set(_ alias: [UInt8], _ target: AliasTarget?) {
        aliases[alias] = target
        tick()
    }

    // MARK: what has changed

    /// A change that the log has no item for.
    private mutating func tick() { note(.zero) }

    private mutating func note(_ id: ItemID) {
        guard !isTaking else { return }
        if log.count >= 2 * memory {
            log.removeFirst(memory)
            forgotten += UInt64(memory)
        }
        log.append(id)
    }

    /// The ids that something was done to since that change, each once, or nil where that is not
    /// known any more. The cursor is 0 at the end of all.
    package func changes(since: UInt64, limit: Int) -> Found? {
        guard since >= forgotten, since <= now else { return nil }
        var found = Found()
        var met: Set<ItemID> = [.zero]
        let start = Int(since - forgotten)
        let end = min(log.count, start + limit)
        for at in start..<end where met.insert(log[at]).inserted {
            found.add(log[at], at: Int(forgotten) + at)
        }
        found.cursor = end < log.count ? forgotten + UInt64(end) : 0
        return found
    }

    /// The ids of the last changes, so many at most.
    package func recent(_ limit: Int) -> [ItemID] { Array(log.suffix(limit)) }

    /// It goes on where another one has ended, of which these were the last changes.
    package mutating func goOn(from now: UInt64, recent: [ItemID]) {
        log = recent
        forgotten = now - UInt64(recent.count)
    }

    /// All that is here now was here at the beginning. No change has the number 0.
    package mutating func begin() {
        forgotten = 1
        log = []
    }
}
