import Glibc
import Posix
import SealedStore
import Secrets
import Testing
import Wire

@testable import StoreKeeping

@Suite("what is read of items before the index is there")
final class ItemReaderTests {
    private let folder: String
    private let records: Records
    private let work = ItemID([UInt8](repeating: 2, count: 16))!
    private let other = ItemID([UInt8](repeating: 3, count: 16))!

    init() throws {
        var template = Array("/tmp/appvault-items-XXXXXX".utf8CString)
        // SAFETY: a NUL-terminated template of our own.
        let made = unsafe template.withUnsafeMutableBufferPointer {
            unsafe mkdtemp($0.baseAddress!) != nil
        }
        try #require(made)
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        records = try Records.create(
            inFolder: folder, id: Array(1...16),
            key: SecretBytes(copying: [UInt8](repeating: 7, count: 32).span))
    }

    deinit {
        records.close()
        // SAFETY: paths of our own.
        for name in (try? TextFile.names(in: folder)) ?? [] {
            _ = unsafe remove(folder + "/" + name)
        }
        _ = unsafe rmdir(folder)
    }

    private func put(_ number: UInt8, in collection: ItemID) throws -> ItemID {
        let id = ItemID([UInt8](repeating: number, count: 16))!
        var item = Item()
        (item.id, item.collection) = (id.bytes, collection.bytes)
        let value = ItemRecord.encode(item, secret: [number].span)
        _ = try records.apply([.set(name: ItemName.item(id).bytes, value: value)])
        return id
    }

    @Test("secrets of the collections that are known come, and one of another makes the page void")
    func elsewhere() throws {
        let (first, second) = (try put(10, in: work), try put(11, in: other))
        let missing = ItemID([UInt8](repeating: 12, count: 16))!
        let reader = ItemReader(records)
        var page = ItemReader.SecretBatch()
        try reader.secrets([first, missing], only: [work], into: &page)
        #expect(page.entries.map(\.id) == [first.bytes] && page.done == 2 && !page.isElsewhere)
        page = ItemReader.SecretBatch()
        try reader.secrets([first, second], only: [work], into: &page)
        #expect(page.isElsewhere && page.entries.map(\.id) == [first.bytes])
        page = ItemReader.SecretBatch()
        try reader.secrets([first, second], only: nil, into: &page)
        #expect(page.entries.count == 2 && !page.isElsewhere)
    }

    @Test("a collection without a record is there, and an alias without one is not")
    func withoutRecords() throws {
        let record = CollectionRecord(label: Array("Work".utf8), created: 5, modified: 6)
        let alias = Array("work".utf8)
        _ = try records.apply([
            .set(name: ItemName.collection(work).bytes, value: record.encode()),
            .set(
                name: ItemName.alias(alias).bytes, value: AliasRecord.encode(.collection(work))),
        ])
        let reader = ItemReader(records)
        let collections = try reader.collections([.zero, work, other])
        #expect(collections.map(\.id) == [ItemID.zero, work, other].map(\.bytes))
        #expect(collections.map(\.label) == ["Login", "Work", ""].map { Array($0.utf8) })
        #expect(collections[1].created == 5)
        #expect(
            try reader.aliases([alias, Array("none".utf8)])
                == [ItemNews.Alias(name: alias, collection: work.bytes)])
        _ = try records.apply([
            .set(
                name: ItemName.collection(work).bytes,
                value: WipedBuffer(copying: [UInt8(9)].span))
        ])
        #expect(throws: RecordsError.self) { _ = try reader.collections([self.work]) }
    }
}
