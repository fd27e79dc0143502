import Posix
import SealedStore
import Secrets
import Wire
import Words

/// The index of the items of one store, as long as it is open and nothing has happened that the
/// index was not told of. Whoever finds it gone has another one made.
@LoopActor
package final class ItemBook {
    let key: ItemHashKey
    /// Random: of no daemon before this one, and of no index before it, but for one that had the
    /// very same records.
    package private(set) var opening: UInt64
    /// Random: the places of its items are those of no other index.
    let listing: UInt64
    /// The number of the last commit that it knows.
    private(set) var commit: UInt64?
    /// Where it goes on from.
    private(set) var former: ItemBookmark?
    /// Somebody was told that nothing has changed, before it was whole.
    var wasSame = false
    package var index = ItemIndex()
    /// What the walk could not read, as far as it is an item, or may be one.
    package internal(set) var damaged: [DamagedRecord] = []
    /// From now on, each change is followed up.
    var isWhole = false
    var isSweeping = false
    /// Ends when it is whole, or was given up.
    fileprivate var building: Task<Void, Never>?
    /// Why it was given up.
    fileprivate var refusal: Refusal?

    fileprivate static let mostDamaged = 1024

    // MARK: what it takes

    /// Of one person's stores together, and of everybody's. The daemon's memory has a limit, and who
    /// goes beyond it locks everybody's stores.
    private static let mostOfOwner = 2 << 20
    private static let mostOfAll = 5 << 20
    private static var ofAll = 0
    /// The owner's.
    private let allotment: Allotment
    private var counted = 0

    func hasRoom(for hashes: Int) -> Bool {
        allotment.itemHashes + hashes <= Self.mostOfOwner && Self.ofAll + hashes <= Self.mostOfAll
    }

    /// After each change of the index, and once more when it is dropped.
    func count(dropped: Bool = false) {
        let now = dropped ? 0 : index.hashes
        allotment.itemHashes += now - counted
        Self.ofAll += now - counted
        counted = now
    }

    fileprivate init(_ allotment: Allotment, after former: ItemBookmark?) throws(Refusal) {
        self.allotment = allotment
        do throws(SecretsError) {
            key = try ItemHashKey()
            listing = try Self.random()
            opening = if let former { former.opening } else { try Self.random() }
        } catch {
            throw .outOfMemory
        }
        self.former = former
        commit = former?.commit
        if let former { index.goOn(from: former.now, recent: former.recent) }
    }

    private static func random() throws(SecretsError) -> UInt64 {
        max(1, try Random.bytes(8).reduce(0) { $0 << 8 | UInt64($1) })
    }

    /// It has everything up to this commit.
    func knows(_ commit: UInt64) { if self.commit != nil { self.commit = commit } }

    fileprivate func becomeWhole(_ commit: UInt64) throws(Refusal) {
        if former != nil, !damaged.isEmpty {
            // What was lost meanwhile is no change that the log has.
            former = nil
            do throws(SecretsError) { opening = try Self.random() } catch { throw .outOfMemory }
        }
        if former == nil { index.begin() }
        self.commit = commit
        isWhole = true
    }

    /// Nil where nobody was told of anything in it.
    var bookmark: ItemBookmark? {
        guard let commit else { return nil }
        // Until it is whole it does not know what there is.
        guard isWhole || index.now == former?.now else { return nil }
        return ItemBookmark(
            opening: opening, now: index.now, recent: index.recent(ItemBookmark.most),
            commit: commit,
            collections: isWhole ? index.collections.map(\.id) : former?.collections ?? [],
            aliases: isWhole
                ? index.aliases.filter { index.isThere($0.value) }.map(\.key)
                : former?.aliases ?? [])
    }
}

/// Where an index was when its store was closed. The next one goes on from there if the records are
/// the same: whoever has asked the former one then need not read anything anew. It says nothing of
/// the items: the ids are random.
struct ItemBookmark: Sendable {
    let opening: UInt64
    let now: UInt64
    let recent: [ItemID]
    let commit: UInt64
    /// Those that are shown, and the names of aliases: what they say is read of their records.
    let collections: [ItemID]
    let aliases: [[UInt8]]
    /// Of the records, once they are closed.
    var mark: [UInt8]?

    static let most = 1024
}

/// What one slice of the walk has found, or an import has stored.
struct ItemSlice: Sendable {
    var cursor: UInt64 = 0
    var items: [ItemFacts] = []
    var collections: [(id: ItemID, record: CollectionRecord)] = []
    var aliases: [(name: [UInt8], target: AliasTarget)] = []
    var damaged: [DamagedRecord] = []

    /// Others use the records after so many.
    static let most = 512

    var isFull: Bool { items.count + collections.count + aliases.count >= Self.most }

    init() {}

    /// Nil where something is no record that it should be, or is deleted.
    init?(of changes: [Change], _ key: ItemHashKey) {
        for change in changes {
            guard let name = ItemName(change.name.span) else { continue }
            guard case .set(_, let value) = change,
                value.withBytes({ take(name, $0, key) })
            else { return nil }
        }
    }

    /// False where it is no record that it should be.
    mutating func take(_ name: ItemName, _ value: Span<UInt8>, _ key: ItemHashKey) -> Bool {
        do throws(WireError) {
            switch name {
            case .item(let id): items.append(try ItemRecord(value).facts(id, in: value, key))
            case .collection(let id):
                let record = try CollectionRecord(value)
                // This one cannot be deleted, so no daemon has stored that.
                guard id != .zero || !record.isDeleted else { return false }
                collections.append((id, record))
            case .alias(let name): aliases.append((name, try AliasRecord.decode(value)))
            }
            return true
        } catch {
            return false
        }
    }
}

extension OpenRecordsQueue {
    /// The index, made now if there is none. Others have their turns while it is being made.
    package func itemBook() async throws(Refusal) -> ItemBook {
        // What it rests on may be exchanged while it is being made, by an import.
        for _ in 0..<16 {
            let book = try presentBook()
            if book.isWhole { return book }
            await book.building?.value
            if let refusal = book.refusal { throw refusal }
            if book.isWhole, book === self.book { return book }
        }
        throw .busy
    }

    /// The same where it is there.
    package var itemBookNow: ItemBook? { book.flatMap { $0.isWhole ? $0 : nil } }

    func presentBook() throws(Refusal) -> ItemBook {
        guard isOpen else { throw .locked }
        if let book { return book }
        let made = try ItemBook(allotment, after: bookmark)
        bookmark = nil
        book = made
        made.building = EventLoop.shared.task { await self.build(made) }
        return made
    }

    private func build(_ book: ItemBook) async {
        var cursor: UInt64? = 0
        repeat {
            do throws(Refusal) {
                cursor = try await addSlice(from: cursor ?? 0, to: book)
            } catch {
                book.refusal = error
                if self.book === book { self.book = nil }
                return
            }
        } while (cursor ?? 0) != 0
        // Given up: by an import, or because the store was locked.
        guard cursor != nil else { return }
        sweepItems(of: book)
    }

    /// Adds while nobody else has the records: what is stored then is followed up behind it. Nil
    /// where the index was given up.
    private func addSlice(
        from cursor: UInt64, to book: ItemBook
    ) async throws(Refusal) -> UInt64? {
        await acquire()
        defer { release() }
        guard let records, self.book === book else { return nil }
        let key = book.key
        let read = await workers.disk.run {
            Result { () throws(RecordsError) in
                (try Self.slice(of: records, from: cursor, key), records.generation)
            }
        }
        guard self.book === book else { return nil }
        let (slice, commit) = try get(read, .read)
        book.index.isTaking = true
        defer { book.index.isTaking = false }
        guard add(slice, to: book) else { throw .outOfMemory }
        let room = ItemBook.mostDamaged - book.damaged.count
        book.damaged += slice.damaged.prefix(max(0, room))
        if slice.cursor == 0 {
            try book.becomeWhole(commit)
            // Who was told that all is the same has to ask again.
            if book.wasSame, book.former == nil { whenChanged?() }
        }
        return slice.cursor
    }

    /// False where there is no room for it.
    private func add(_ slice: ItemSlice, to book: ItemBook) -> Bool {
        for item in slice.items {
            guard book.hasRoom(for: item.hashes.count) else { return false }
            book.follow(.item(item))
        }
        // More of them than there can be came with a file that somebody has made.
        for (id, record) in slice.collections
        where book.index.collectionCount < 4 * Limits.collections {
            book.index.put(record, of: id)
        }
        for (name, target) in slice.aliases { book.index.set(name, target) }
        return true
    }

    /// What an import has stored is in the index as well; false where there is no room for it.
    func follow(_ slice: ItemSlice, in book: ItemBook) -> Bool {
        guard add(slice, to: book) else { return false }
        // It may have brought a collection that was being deleted when the file was written.
        if book.isWhole { sweepItems(of: book) }
        return true
    }

    private nonisolated static func slice(
        of records: Records, from cursor: UInt64, _ key: ItemHashKey
    ) throws(RecordsError) -> ItemSlice {
        var slice = ItemSlice()
        var unreadable: [[UInt8]] = []
        slice.cursor = try records.walk(from: cursor) { name, value in
            guard let known = ItemName(name) else { return true }
            if !slice.take(known, value, key) { unreadable.append(known.bytes) }
            return !slice.isFull
        } damaged: { record in
            if record.name.isEmpty || ItemName.isReserved(record.name) {
                slice.damaged.append(record)
            }
        }
        for name in unreadable {
            slice.damaged.append(try records.damagedRecord(name, .record(bucket: 0)))
        }
        return slice
    }
}
