import Posix
import SealedStore
import Wire

/// Reads items from their records, through memory that is wiped.
struct ItemReader {
    let records: Records
    private let slab: WipedBuffer

    /// A record that is larger gets more.
    private static let usual = 16 << 10

    /// On a disk thread.
    init(_ records: Records) {
        self.init(records, slab: WipedBuffer(capacity: Self.usual))
    }

    init(_ records: Records, slab: WipedBuffer) {
        self.records = records
        self.slab = slab
    }

    /// Nil where there is no such item. A record that is no item counts as damaged.
    func read<R>(
        _ id: ItemID, _ take: (ItemRecord, Span<UInt8>) -> R
    ) throws(RecordsError) -> R? {
        let name = ItemName.item(id).bytes
        let found = try placeOrMore(of: name)
        guard let found else { return nil }
        slab.setCount(found.upperBound)
        defer { slab.wipe(first: found.upperBound) }
        return try slab.withBytes { (bytes) throws(RecordsError) in
            let value = bytes.extracting(found)
            let record: ItemRecord
            do throws(WireError) { record = try ItemRecord(value) } catch {
                throw .damaged(.record(bucket: 0))
            }
            return take(record, value)
        }
    }

    private func placeOrMore(of name: [UInt8]) throws(RecordsError) -> Range<Int>? {
        do throws(RecordsError) {
            return try place(of: name)
        } catch {
            guard error == .bufferTooSmall, slab.capacity < Records.slabSize else { throw error }
        }
        slab.grow(toExactly: Records.slabSize)
        return try place(of: name)
    }

    private func place(of name: [UInt8]) throws(RecordsError) -> Range<Int>? {
        do throws(RecordsError) {
            return try slab.withMutableSpan { (bytes) throws(RecordsError) in
                try records.value(of: name, into: &bytes)
            }
        } catch {
            slab.wipe(first: slab.capacity)
            throw error
        }
    }

    private func read<R>(
        _ name: ItemName, _ take: (Span<UInt8>) throws(WireError) -> R
    ) throws(RecordsError) -> R? {
        guard let found = try placeOrMore(of: name.bytes) else { return nil }
        slab.setCount(found.upperBound)
        defer { slab.wipe(first: found.upperBound) }
        return try slab.withBytes { (bytes) throws(RecordsError) in
            do throws(WireError) { return try take(bytes.extracting(found)) } catch {
                throw .damaged(.record(bucket: 0))
            }
        }
    }

    /// One without a record is there by its items alone.
    func collections(_ ids: [ItemID]) throws(RecordsError) -> [ItemCollection] {
        var collections: [ItemCollection] = []
        for id in ids.prefix(Limits.collections) {
            let record = try read(.collection(id)) { (value) throws(WireError) in
                try CollectionRecord(value)
            }
            let collection = ItemIndex.Collection(id: id, record: record ?? CollectionRecord())
            collections.append(collection.message)
        }
        return collections
    }

    func aliases(_ names: [[UInt8]]) throws(RecordsError) -> [ItemNews.Alias] {
        var aliases: [ItemNews.Alias] = []
        for name in names.prefix(Limits.collections) {
            let target = try read(.alias(name)) { (value) throws(WireError) in
                try AliasRecord.decode(value)
            }
            if let target {
                aliases.append(ItemNews.Alias(name: name, collection: target.id.bytes))
            }
        }
        return aliases
    }

    // MARK: what a plan needs

    func find(_ need: ItemNeed) -> ItemFinding {
        do throws(RecordsError) {
            switch need {
            case .nothing: return .nothing
            case .same(let wanted, let candidates):
                for id in candidates {
                    // One that cannot be read is no reason not to store another one.
                    guard let item = try? read(id, { $0.item(id, in: $1) }) else { continue }
                    if item.collection == wanted.collection,
                        item.attributes == wanted.attributes
                    {
                        return .same(item)
                    }
                }
                return .nothing
            case .whole(let id):
                let whole = try read(id) { record, value in
                    ItemFinding.whole(
                        record.item(id, in: value),
                        secret: WipedBuffer(copying: value.extracting(record.secret)))
                }
                return whole ?? .nothing
            }
        } catch {
            return .failed(error)
        }
    }

    // MARK: pages

    /// Some items, in the order in which they were asked for.
    struct ItemBatch: Sendable {
        var items: [Item] = []
        var damaged: [DamagedRecord] = []
        /// How many of those that were asked for are dealt with.
        var done = 0
        var bytes = 0
    }

    /// Until there are so many bytes; the first item comes in any case where the page has no other.
    func items(
        _ ids: [ItemID], room: Int, isFirstDue: Bool
    ) throws(RecordsError) -> ItemBatch {
        var page = ItemBatch()
        for id in ids {
            do throws(RecordsError) {
                if let item = try read(id, { $0.item(id, in: $1) }) {
                    let bytes = item.encodedCount
                    let comesAnyway = isFirstDue && page.items.isEmpty
                    guard comesAnyway || page.bytes + bytes <= room else { return page }
                    page.items.append(item)
                    page.bytes += bytes
                }
            } catch {
                guard case .damaged(let damage) = error else { throw error }
                page.damaged.append(
                    try records.damagedRecord(ItemName.item(id).bytes, damage))
            }
            page.done += 1
        }
        return page
    }

    struct SecretBatch: Sendable {
        var entries: [GivenSecrets.Entry] = []
        let bytes: WipedBuffer
        var damaged: [DamagedRecord] = []
        var damage: Damage?
        var done = 0
        var taken = 0
        /// One is in a collection that was not asked for: the page does not count.
        var isElsewhere = false

        init(capacity: Int = 4096) {
            bytes = WipedBuffer(capacity: capacity)
        }
    }

    /// As `items`, of these collections where some are named.
    func secrets(
        _ ids: [ItemID], only shown: Set<ItemID>?, into page: inout SecretBatch
    ) throws(RecordsError) {
        for id in ids {
            do throws(RecordsError) {
                let hasRoom = try read(id) { record, value in
                    guard shown?.contains(record.collection(in: value)) ?? true else {
                        page.isElsewhere = true
                        return false
                    }
                    let secret = value.extracting(record.secret)
                    let contentType = record.contentType(in: value)
                    let bytes = ItemID.size + 6 + contentType.count + secret.count
                    guard page.entries.isEmpty || page.taken + bytes <= Limits.itemPage else {
                        return false
                    }
                    page.taken += bytes
                    page.bytes.append(secret)
                    page.entries.append(
                        GivenSecrets.Entry(
                            id: id.bytes, contentType: contentType, length: UInt32(secret.count)))
                    return true
                }
                guard hasRoom ?? true else { return }
            } catch {
                guard case .damaged(let damage) = error else { throw error }
                page.damage = damage
                page.damaged.append(
                    try records.damagedRecord(ItemName.item(id).bytes, damage))
            }
            page.done += 1
        }
    }
}

extension Item {
    /// In a message.
    var encodedCount: Int {
        var counter = Counter()
        write(to: &counter)
        return counter.count
    }
}
