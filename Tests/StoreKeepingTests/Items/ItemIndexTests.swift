import Testing
import Wire

@testable import StoreKeeping

@Suite("the index of items")
struct ItemIndexTests {
    private struct Numbers: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ state >> 29
        }
    }

    /// The same, done in the plainest way.
    private struct Model {
        var items: [ItemID: ItemFacts] = [:]
        var deleted: Set<ItemID> = []

        func find(_ hashes: [UInt64], in collection: ItemID?) -> Set<ItemID> {
            Set(
                items.values.filter { facts in
                    !deleted.contains(facts.collection)
                        && (collection == nil || facts.collection == collection)
                        && hashes.allSatisfy { facts.hashes.contains($0) }
                }.map(\.id))
        }
    }

    private static func id(_ number: Int) -> ItemID {
        var bytes = [UInt8](repeating: 0, count: 16)
        bytes[0] = UInt8(number & 255)
        bytes[15] = UInt8(number >> 8 & 255)
        bytes[8] = 7
        return ItemID(bytes)!
    }

    /// All pages together.
    private static func all(
        _ index: ItemIndex, _ hashes: [UInt64], in collection: ItemID?, limit: Int
    ) -> [ItemID] {
        var ids: [ItemID] = []
        var cursor: UInt64 = 0
        repeat {
            let page = index.find(hashes, in: collection, from: cursor, limit: limit)
            #expect(page.ids.count <= limit && page.places.count == page.ids.count)
            #expect(page.cursor == 0 || page.cursor > cursor)
            ids += page.ids
            cursor = page.cursor
        } while cursor != 0
        return ids
    }

    @Test(
        "answers as the plainest model does, whatever is done to it",
        arguments: 1...8 as ClosedRange<UInt64>)
    func model(_ seed: UInt64) throws {
        var numbers = Numbers(state: seed)
        var index = ItemIndex(memory: 64)
        index.begin()
        var model = Model()
        var mirror: Set<ItemID> = []
        var known = index.now
        let collections = [ItemID.zero] + (1...4).map { Self.id(1000 + $0) }
        for collection in collections { index.put(CollectionRecord(), of: collection) }
        for step in 0..<6000 {
            let id = Self.id(Int.random(in: 0..<400, using: &numbers))
            switch Int.random(in: 0..<100, using: &numbers) {
            case 0..<60:
                let few = UInt64.random(in: 0..<5, using: &numbers)
                let hashes = Set((0..<few).map { _ in UInt64.random(in: 0..<40, using: &numbers) })
                let facts = ItemFacts(
                    id: id, collection: collections.randomElement(using: &numbers)!,
                    hashes: hashes.map { $0 &* 0x9E37_79B9_7F4A_7C15 })
                index.put(facts)
                model.items[id] = facts
            case 60..<95:
                index.remove(id)
                model.items[id] = nil
            default:
                let collection = collections.dropFirst().randomElement(using: &numbers)!
                if model.deleted.remove(collection) == nil {
                    var record = CollectionRecord()
                    record.isDeleted = true
                    index.put(record, of: collection)
                    model.deleted.insert(collection)
                } else {
                    index.put(CollectionRecord(), of: collection)
                    // A mirror lists them anew, as they are the collection's and not its own.
                    mirror.formUnion(model.find([], in: collection))
                }
                mirror = mirror.filter {
                    !model.deleted.contains(model.items[$0]?.collection ?? .zero)
                }
            }
            #expect(index.count == model.items.count)
            guard step % 7 == 0 else { continue }
            let hashes = (0..<Int.random(in: 0..<3, using: &numbers)).map { _ in
                UInt64.random(in: 0..<42, using: &numbers) &* 0x9E37_79B9_7F4A_7C15
            }
            let collection = Bool.random(using: &numbers) ? collections.randomElement() : nil
            let limit = Int.random(in: 1...50, using: &numbers)
            let found = Self.all(index, hashes, in: collection, limit: limit)
            #expect(Set(found) == model.find(hashes, in: collection))
            #expect(Set(found).count == found.count)
            for id in found.prefix(3) {
                #expect(index.has(id) && index.collection(of: id) == model.items[id]?.collection)
            }
            guard step % 5 == 0 else { continue }
            // Who asks now and then what has changed knows all of it.
            if index.changes(since: known, limit: 1) == nil {
                mirror = Set(Self.all(index, [], in: nil, limit: 100))
            } else {
                var since = known
                repeat {
                    let page = try #require(index.changes(since: since, limit: 10))
                    for id in page.ids {
                        if index.has(id) { mirror.insert(id) } else { mirror.remove(id) }
                    }
                    since = page.cursor
                } while since != 0
            }
            known = index.now
            #expect(mirror == model.find([], in: nil))
        }
    }

    @Test("finds in pages also where very many have the same attribute")
    func many() {
        var index = ItemIndex()
        let count = 3 * ItemIndex.most
        for number in 0..<count {
            var bytes = [UInt8](repeating: 1, count: 16)
            for at in 0..<4 { bytes[at] = UInt8(number >> (8 * at) & 255) }
            index.put(
                ItemFacts(
                    id: ItemID(bytes)!, collection: .zero,
                    hashes: [11, 1000 &+ UInt64(number) &* 0x9E37_79B9_7F4A_7C15]))
        }
        #expect(Self.all(index, [11], in: nil, limit: 1024).count == count)
        #expect(Self.all(index, [], in: .zero, limit: 1024).count == count)
        #expect(Self.all(index, [11, 12], in: nil, limit: 1024) == [])
        let one = Self.all(index, [11, 1000 &+ 77 &* 0x9E37_79B9_7F4A_7C15], in: nil, limit: 10)
        #expect(one.count == 1)
        #expect(index.same(11).count == 8)
        #expect(index.find([], in: nil, from: .max, limit: 10) == ItemIndex.Found())
    }

    @Test("knows the last changes alone")
    func log() throws {
        var index = ItemIndex(memory: 10)
        index.begin()
        #expect(index.changes(since: 0, limit: 10) == nil)
        let first = index.now
        #expect(index.changes(since: first, limit: 10) == ItemIndex.Found())
        #expect(index.changes(since: first + 1, limit: 10) == nil)
        for number in 0..<10 {
            index.put(ItemFacts(id: Self.id(number), collection: .zero, hashes: []))
        }
        #expect(index.changes(since: first, limit: 100)?.ids.count == 10)
        let page = try #require(index.changes(since: first, limit: 4))
        #expect(page.ids == (0..<4).map { Self.id($0) } && page.cursor == first + 4)
        for _ in 0..<30 {
            index.put(ItemFacts(id: Self.id(3), collection: .zero, hashes: []))
        }
        #expect(index.changes(since: first, limit: 100) == nil)
        #expect(index.changes(since: index.now - 10, limit: 100)?.ids == [Self.id(3)])
    }

    @Test("an index goes on with the numbers of another one, and what it then reads is no change")
    func sequel() throws {
        var former = ItemIndex()
        former.begin()
        for number in 0..<10 {
            former.put(ItemFacts(id: Self.id(number), collection: .zero, hashes: []))
        }
        var index = ItemIndex()
        index.goOn(from: former.now, recent: former.recent(4))
        index.isTaking = true
        for number in 0..<10 {
            index.put(ItemFacts(id: Self.id(number), collection: .zero, hashes: []))
        }
        index.isTaking = false
        #expect(index.now == former.now)
        #expect(index.changes(since: index.now, limit: 10) == ItemIndex.Found())
        #expect(
            index.changes(since: former.now - 4, limit: 10)?.ids == (6..<10).map { Self.id($0) })
        #expect(index.changes(since: former.now - 5, limit: 10) == nil)
        index.put(ItemFacts(id: Self.id(3), collection: .zero, hashes: []))
        #expect(index.changes(since: former.now, limit: 10)?.ids == [Self.id(3)])
    }

    @Test("a deleted collection hides its items at once, and lets them be swept")
    func deleted() throws {
        var index = ItemIndex()
        let work = Self.id(500)
        index.put(CollectionRecord(label: Array("Work".utf8)), of: work)
        for number in 0..<5 {
            index.put(
                ItemFacts(
                    id: Self.id(number), collection: number < 3 ? work : .zero, hashes: [7]))
        }
        #expect(index.collections.map(\.id) == [.zero, work])
        var record = try #require(index.collection(work)?.record)
        record.isDeleted = true
        index.put(record, of: work)
        #expect(index.collections.map(\.id) == [.zero] && index.collection(work) == nil)
        #expect(!index.has(Self.id(0)) && index.has(Self.id(3)))
        #expect(Set(index.same(7)) == [Self.id(3), Self.id(4)])
        #expect(index.deletedCollections == [work])
        let rest = index.rest(of: work, from: 0, limit: 2)
        #expect(rest.ids == [Self.id(0), Self.id(1)] && rest.cursor == 2)
        for id in rest.ids + index.rest(of: work, from: rest.cursor, limit: 2).ids {
            index.remove(id)
        }
        index.forget(work)
        #expect(index.deletedCollections == [] && index.count == 2)
        #expect(index.collection(work) == nil)
    }

    @Test("items of a collection whose record is not there stay in sight")
    func orphans() {
        var index = ItemIndex()
        let lost = Self.id(500)
        index.put(ItemFacts(id: Self.id(1), collection: lost, hashes: []))
        #expect(index.collections.map(\.id) == [.zero, lost])
        #expect(index.has(Self.id(1)) && index.collection(lost)?.record == CollectionRecord())
    }
}
