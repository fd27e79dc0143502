import Posix
import SealedStore
import Wire
import Words

/// What is asked of the items of an open store.
extension OpenRecordsQueue {
    /// Others use the records after so many.
    private static let pageSlice = 128
    /// So few are read on the loop itself, if nobody else uses the records.
    private static let fewItems = 4

    package struct ItemPage: Sendable {
        package var list = ItemList(cursor: 0, items: [])
        package var damaged: [DamagedRecord] = []
    }

    /// One page of the items that have these attributes. It may be empty and not the last.
    package func items(_ wanted: FindItems) async throws(Refusal) -> ItemPage {
        let book = try await itemBook()
        let collection = wanted.isOneCollection ? ItemID(wanted.collection) : nil
        let found = book.index.find(
            wanted.attributes.map { book.key.hash($0) }, in: collection, from: wanted.cursor,
            limit: Limits.page)
        let read = try await items(found.ids, room: Limits.itemPage, isFirstDue: true)
        var page = ItemPage(damaged: read.damaged)
        // The hashes are only almost certain, and one may have changed meanwhile.
        page.list.items = read.items.filter { item in
            (collection == nil || ItemID(item.collection) == collection)
                && wanted.attributes.allSatisfy { item.attributes.contains($0) }
        }
        page.list.cursor = read.done < found.ids.count ? found.places[read.done] : found.cursor
        if wanted.cursor == 0, wanted.attributes.isEmpty { page.damaged += book.damaged }
        return page
    }

    private func items(
        _ ids: [ItemID], room: Int, isFirstDue: Bool
    ) async throws(Refusal) -> ItemReader.ItemBatch {
        var all = ItemReader.ItemBatch()
        while all.done < ids.count {
            let next = Array(ids[all.done..<min(all.done + Self.pageSlice, ids.count)])
            let (left, isDue) = (room - all.bytes, isFirstDue && all.items.isEmpty)
            let part: ItemReader.ItemBatch
            if let reader = readerNow(next) {
                part = try get(
                    Result { () throws(RecordsError) in
                        try reader.items(next, room: left, isFirstDue: isDue)
                    }, .read)
            } else {
                part = try await onDisk { (records) throws(RecordsError) in
                    try ItemReader(records).items(next, room: left, isFirstDue: isDue)
                }
            }
            all.items += part.items
            all.damaged += part.damaged
            all.bytes += part.bytes
            all.done += part.done
            guard part.done == next.count else { break }
        }
        return all
    }

    /// Nil where somebody else uses the records, or where much of the disk must be read.
    private func readerNow(_ ids: [ItemID]) -> ItemReader? {
        guard ids.count <= Self.fewItems, !isBusy, let records,
            !ids.contains(where: { isFarAway(ItemName.item($0).bytes, records) })
        else { return nil }
        return ItemReader(records, slab: workers.recordSlab)
    }

    package struct SecretPage: Sendable {
        package var given: GivenSecrets
        package var bytes: WipedBuffer
        package var damaged: [DamagedRecord]
    }

    /// As many as fit. One that cannot be read is named; if nothing else was asked for, this is
    /// refused.
    package func secrets(of ids: [ItemID]) async throws(Refusal) -> SecretPage {
        // Whatever is said of an item counts for its secret: that its collection was deleted, too.
        let book = try presentBook()
        if !book.isWhole, let shown = book.former?.collections {
            // A collection cannot be deleted before the index is whole, but an import may bring one.
            let page = try await secrets(of: ids, only: Set(shown)) { _ in true }
            if !page.isElsewhere { return try given(page, of: ids) }
        }
        let whole = try await itemBook()
        return try given(
            try await secrets(of: ids, only: nil) { whole.index.has($0) }, of: ids)
    }

    private func given(
        _ page: ItemReader.SecretBatch, of ids: [ItemID]
    ) throws(Refusal) -> SecretPage {
        if ids.count == 1, let damage = page.damage { throw refusal(.damaged(damage), .read) }
        return SecretPage(
            given: GivenSecrets(done: UInt16(page.done), entries: page.entries),
            bytes: page.bytes, damaged: page.damaged)
    }

    private func secrets(
        of ids: [ItemID], only shown: Set<ItemID>?, _ isThere: (ItemID) -> Bool
    ) async throws(Refusal) -> ItemReader.SecretBatch {
        var page = ItemReader.SecretBatch()
        while page.done < ids.count {
            let end = min(page.done + Self.pageSlice, ids.count)
            let places = (page.done..<end).filter { isThere(ids[$0]) }
            let there = places.map { ids[$0] }
            var part = page
            part.done = 0
            if let reader = readerNow(there) {
                try get(
                    Result { () throws(RecordsError) in
                        try reader.secrets(there, only: shown, into: &part)
                    }, .read)
            } else {
                let given = part
                part = try await onDisk { (records) throws(RecordsError) in
                    var page = given
                    try ItemReader(records).secrets(there, only: shown, into: &page)
                    return page
                }
            }
            page = part
            if page.isElsewhere { return page }
            let isFull = part.done < there.count
            // Those that are not there count as given.
            page.done = isFull ? places[part.done] : end
            if isFull { break }
        }
        return page
    }

    package struct NewsPage: Sendable {
        package var news = ItemNews()
        package var damaged: [DamagedRecord] = []
    }

    /// The cursor of a page of news: of which index it is, whether all items are being listed, and
    /// the place in that list or in the log.
    private struct NewsCursor {
        private static let ofAll: UInt64 = 1 << 63
        private static let places: UInt64 = 1 << 40 - 1

        var isOfAll: Bool
        var place: UInt64

        init(isOfAll: Bool, place: UInt64) {
            self.isOfAll = isOfAll
            self.place = place
        }

        /// Nil where it is one of another index.
        init?(_ number: UInt64, of book: ItemBook) {
            isOfAll = number & Self.ofAll != 0
            place = number & Self.places
            guard number == self.number(of: book) else { return nil }
        }

        func number(of book: ItemBook) -> UInt64 {
            let mark = book.listing << 40 & ~Self.ofAll
            return (isOfAll ? Self.ofAll : 0) | mark | place & Self.places
        }
    }

    /// Where nothing has changed since the store was closed, which is known before the index is
    /// whole: that takes a while in a large store, just when a person waits.
    private func sameNews(_ asked: ItemChanges) async throws(Refusal) -> NewsPage? {
        let book = try presentBook()
        func isSame() -> Bool {
            self.book === book && !book.isWhole && asked.cursor == 0
                && asked.opening == book.opening && asked.since == book.index.now
        }
        guard let former = book.former, isSame() else { return nil }
        var news = ItemNews()
        (news.opening, news.now) = (former.opening, former.now)
        do throws(Refusal) {
            (news.collections, news.aliases) = try await onDisk { (records) throws(RecordsError) in
                let reader = ItemReader(records)
                return (
                    try reader.collections(former.collections), try reader.aliases(former.aliases)
                )
            }
        } catch {
            // What is damaged is left out by the index.
            if case .storeDamaged = error { return nil }
            throw error
        }
        // An import may have come in between.
        guard isSame() else { return nil }
        book.wasSame = true
        return NewsPage(news: news)
    }

    /// One page of what has changed since the peer asked last.
    package func itemNews(_ asked: ItemChanges) async throws(Refusal) -> NewsPage {
        if let same = try await sameNews(asked) { return same }
        let book = try await itemBook()
        var page = NewsPage()
        page.news.opening = book.opening
        page.news.now = book.index.now
        var isFirst = asked.cursor == 0
        let start: NewsCursor? =
            if !isFirst {
                NewsCursor(asked.cursor, of: book)
            } else if asked.opening == book.opening {
                NewsCursor(isOfAll: false, place: asked.since)
            } else {
                nil
            }
        let found: ItemIndex.Found
        let isOfAll: Bool
        if let start, start.isOfAll {
            isOfAll = true
            found = book.index.find([], in: nil, from: start.place, limit: Limits.page)
        } else if let start,
            // Beside a large item there is room for so many ids that are gone.
            let changes = book.index.changes(
                since: start.place, limit: isFirst ? Limits.page : Self.pageSlice)
        {
            isOfAll = false
            found = changes
        } else {
            isOfAll = true
            isFirst = true
            page.news.isAnew = true
            page.damaged = book.damaged
            found = book.index.find([], in: nil, from: 0, limit: Limits.page)
        }
        if isFirst {
            page.news.collections = book.index.collections.prefix(Limits.collections)
                .map(\.message)
            page.news.aliases = book.index.aliases
                .filter { book.index.isThere($0.value) }
                .prefix(Limits.collections)
                .map { ItemNews.Alias(name: $0.key, collection: $0.value.id.bytes) }
        }
        let there = found.ids.indices.filter { book.index.has(found.ids[$0]) }
        page.news.gone = found.ids.filter { !book.index.has($0) }.map(\.bytes)
        // A large item does not fit beside all collections.
        let read = try await items(
            there.map { found.ids[$0] }, room: Limits.itemPage, isFirstDue: !isFirst)
        page.news.items = read.items
        page.damaged += read.damaged
        let next =
            read.done < there.count ? found.places[there[read.done]] : found.cursor
        let isOver = read.done == there.count && found.cursor == 0
        page.news.cursor =
            isOver ? 0 : NewsCursor(isOfAll: isOfAll, place: next).number(of: book)
        return page
    }

    // MARK: what is left of deleted collections

    private static let sweep = 64

    /// Deletes the items of deleted collections, some in each commit, and then the collections'
    /// records. What a kill leaves of them is swept with the next index.
    package func sweepItems(of book: ItemBook) {
        guard !book.isSweeping, !book.index.deletedCollections.isEmpty else { return }
        book.isSweeping = true
        EventLoop.shared.task {
            while self.book === book, let collection = book.index.deletedCollections.first {
                guard await self.sweep(collection, of: book) else { break }
            }
            book.isSweeping = false
        }
    }

    /// False where it could not be done now.
    private func sweep(_ collection: ItemID, of book: ItemBook) async -> Bool {
        var cursor: UInt64 = 0
        repeat {
            guard self.book === book else { return false }
            let found = book.index.rest(of: collection, from: cursor, limit: Self.sweep)
            cursor = found.cursor
            if !found.ids.isEmpty {
                let work = ItemWork.sweep(found.ids, of: collection)
                do throws(Refusal) { _ = try await change(items: work) } catch { return false }
            }
        } while cursor != 0
        guard self.book === book else { return false }
        do throws(Refusal) {
            _ = try await change(items: .sweep([], of: collection))
            return true
        } catch {
            return false
        }
    }
}
