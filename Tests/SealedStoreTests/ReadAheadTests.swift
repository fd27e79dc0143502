import Posix
import Testing

@testable import SealedStore

@Suite struct ReadAheadTests {
    /// The numbers of the rows on a leaf of SQLite's tree; nil for a page of another kind.
    private func rows(_ page: [UInt8]) -> [Int64]? {
        guard page.first == 13 else { return nil }
        return (0..<(Int(page[3]) << 8 | Int(page[4]))).map { cell in
            var position = Int(page[8 + 2 * cell]) << 8 | Int(page[9 + 2 * cell])
            _ = number(page, &position)
            return number(page, &position)
        }
    }

    private func number(_ page: [UInt8], _ position: inout Int) -> Int64 {
        var value: UInt64 = 0
        for index in 0..<9 {
            let byte = page[position]
            position += 1
            if index == 8 { return Int64(bitPattern: value << 8 | UInt64(byte)) }
            value = value << 7 | UInt64(byte & 0x7f)
            if byte < 0x80 { break }
        }
        return Int64(bitPattern: value)
    }

    private func ahead(_ path: String, root: Int) throws -> ReadAhead {
        guard let ahead = ReadAhead(try RecordsFolder(path), root: root) else {
            throw RecordsError.missing
        }
        return ahead
    }

    @Test("every leaf that has a row of the bucket is asked for, and few others")
    func leaves() throws {
        let store = try Store()
        // Large enough for a tree of three levels.
        try store.filled(9_000) { _ in [UInt8](repeating: 1, count: 700) }
        var leaves: [Int: [Int64]] = [:]
        let file = try Folder(resolving: store.folder.path).file("records.db", .read)
        for page in 2...(try file.size() / 4096) {
            var bytes = [UInt8](repeating: 0, count: 4096)
            var span = bytes.mutableSpan
            _ = try file.read(into: &span, at: (page - 1) * 4096)
            if let rows = rows(bytes), rows.count > 0 { leaves[page] = rows }
        }
        let root = try Schema.recordsRoot(try Database(path: store.folder.file))
        let ahead = try ahead(store.folder.path, root: root)
        var widest = 0
        // The first bucket has the small numbers, which are those of other tables, too.
        for first in stride(from: 5, to: Bucket.number, by: 31) {
            let range = (
                first: Bucket.rows(first).first,
                last: Bucket.rows(min(first | 15, first < 2048 ? 2047 : 4095)).last
            )
            var asked: Set<Int> = []
            ahead.pages(of: range) { asked.insert($0) }
            let needed = leaves.filter { $0.value.contains { range.first...range.last ~= $0 } }
            #expect(asked.isSuperset(of: needed.keys), "bucket \(first)")
            // Two of the levels above, and a neighbour that has no row of it after all.
            #expect(asked.count <= needed.count + 6, "bucket \(first)")
            widest = max(widest, needed.count)
        }
        #expect(widest > 2)
    }

    @Test("a page that makes no sense is followed nowhere")
    func nonsense() throws {
        var random = Steady(state: 77)
        let rows = Bucket.rows(1234)
        for size in [0, 11, 12, 13, 4096] {
            for _ in 0..<200 {
                var page = random.bytes(size)
                if size > 0 { page[0] = 5 }
                if size > 4 { page[3] = 0 }
                let children = ReadAhead.Interior(page)?.children(of: rows) ?? []
                #expect(children.count <= 256 && children.allSatisfy { $0 > 0 })
            }
        }
        #expect(ReadAhead.Interior([UInt8](repeating: 13, count: 4096)) == nil)
    }

    @Test("a tree that leads back to itself comes to an end")
    func circle() throws {
        let folder = try TemporaryFolder()
        // Page 2 is an interior page with one key, and both its children are page 2.
        var page = [UInt8](repeating: 0, count: 4096)
        page.replaceSubrange(0..<14, with: [5, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 2, 0, 100])
        page.replaceSubrange(100..<105, with: [0, 0, 0, 2, 0])
        let file = try Folder(resolving: folder.path).file("records.db", .createNew(mode: 0o600))
        try file.write(([UInt8](repeating: 0, count: 4096) + page).span, at: 0)
        let ahead = try ahead(folder.path, root: 2)
        var asked = 0
        ahead.pages(of: (first: -1, last: 1)) { _ in asked += 1 }
        #expect(asked > 2 && asked <= 512)
    }

    @Test("in a store with many records the first reading of a bucket can be done beforehand")
    func beforehand() throws {
        let store = try Store()
        try store.filled(Int(ReadAhead.leastRecords)) { _ in [1] }
        let records = try store.open()
        let name = bytes("name 4711")
        #expect(try records.isFarAway(name))
        try records.readAround(name)
        #expect(try !records.isFarAway(name))
        #expect(try records.get(name) == [1])
        #expect(records.damagedBuckets == 0)
        _ = try records.apply([.delete(name: bytes("name 1"))])
        #expect(try !records.isFarAway(bytes("name 2")))
    }
}
