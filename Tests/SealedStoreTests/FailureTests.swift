import Posix
import Testing

@testable import SealedStore

@Suite struct FailureTests {
    /// Allows no more pages than there are: SQLite then fails as on a full disk, in the middle of a
    /// transaction.
    static func fill(_ records: Records) throws {
        try records.ready().database.run("PRAGMA max_page_count=1")
    }

    static func empty(_ records: Records) throws {
        try records.ready().database.run("PRAGMA max_page_count=1000000")
    }

    @Test(
        "a transaction that finds the disk full changes nothing, and the store goes on",
        arguments: [1, 50, 400])
    func full(batch: Int) throws {
        let store = try Store()
        try store.filled(40)
        let records = try store.open()
        try Self.fill(records)
        // The first changes fit or replace a value, and the large one does not fit: none of them is
        // stored.
        var changes = (0..<batch).map { set(bytes("name \($0)"), bytes("changed")) }
        changes.append(.delete(name: bytes("name 39")))
        changes.append(set(bytes("large"), [UInt8](repeating: 1, count: 1 << 20)))
        for _ in 0..<3 {
            #expect(throws: RecordsError.full) { try records.apply(changes) }
            #expect(records.count == 40)
            for index in 0..<40 {
                #expect(try records.get(bytes("name \(index)")) == bytes("value \(index)"))
            }
            #expect(try records.get(bytes("large")) == nil)
            try records.verify(buckets: 0..<Records.bucketCount)
        }
        // With room again, the same changes go through.
        try Self.empty(records)
        #expect(try records.apply(changes).last == .stored)
        records.close()
        let again = try store.open()
        try again.verify(buckets: 0..<Records.bucketCount)
        #expect(again.count == UInt64(max(40, batch)))
        #expect(try again.get(bytes("name 0")) == bytes("changed"))
        #expect(try again.get(bytes("name 39")) == nil)
    }

    @Test("a head that cannot be read again refuses until it can, and then everything is right")
    func stale() throws {
        let store = try Store()
        try store.filled(10)
        let records = try store.open()
        try records.ready().ledger.head.count = 99
        try records.ready().ledger.head.generation = 1000
        try records.ready().abandon()
        #expect(records.count == 10)
        #expect(try records.put(bytes("a"), [1]) == .stored)
        records.close()
        let again = try store.open()
        #expect(again.count == 11)
        try again.verify(buckets: 0..<Records.bucketCount)
    }

    @Test("a commit that failed is not told of, even if the head cannot be read again")
    func staleNumber() throws {
        let store = try Store()
        try store.filled(10)
        let records = try store.open()
        let before = records.generation
        // It hides the head from all that is written and read.
        let open = try records.ready()
        try open.database.run("CREATE TEMP TABLE head(id INTEGER PRIMARY KEY, body BLOB)")
        #expect(throws: RecordsError.self) { try records.put(bytes("a"), [1]) }
        #expect(records.generation == before)
        #expect(throws: RecordsError.self) { try records.mend() }
        #expect(records.generation == before)
        try open.database.run("DROP TABLE temp.head")
        #expect(try records.put(bytes("a"), [1]) == .stored)
        #expect(records.generation == before + 1)
        _ = try records.apply([.delete(name: bytes("absent"))])
        #expect(records.generation == before + 1)
    }

    @Test("what changes nothing writes nothing")
    func nothing() throws {
        let store = try Store()
        try store.filled(3)
        let records = try store.open()
        _ = try records.get(bytes("name 1"))
        let size = try contents(store.folder.log).count
        #expect(
            try records.apply([.delete(name: bytes("absent")), set([], [])]) == [
                .absent, .nameRefused,
            ])
        #expect(try contents(store.folder.log).count == size)
        #expect(try records.get(bytes("name 1")) == bytes("value 1"))
        try records.verify(buckets: 0..<Records.bucketCount)
    }

    @Test("neither a value nor a name is in the files")
    func clear() throws {
        let store = try Store()
        let records = try store.create()
        let value = [UInt8](repeating: 0xa5, count: 5000)
        for index in 0..<20 { _ = try records.put(bytes("a name that stands out \(index)"), value) }
        let log = try contents(store.folder.log)
        records.close()
        for content in [log, try contents(store.folder.file)] {
            #expect(!holds(content, bytes("that stands out")))
            #expect(!holds(content, Array(value.prefix(12))))
        }
        #expect(!log.isEmpty)
    }

    @Test("a deleted record leaves nothing of its sealed bytes in the closed file")
    func deleted() throws {
        let store = try Store()
        try store.filled(5)
        let before = try contents(store.folder.file)
        let records = try store.open()
        let inner = try records.ready()
        let id = try inner.keys.identity(of: bytes("name 2").span)
        let statement = try inner.database.prepare("SELECT nonce FROM records WHERE id=?1")
        statement.bind(1, id.row)
        #expect(try statement.step() == .row)
        let nonce = statement.withBytes(0) { [UInt8](copying: $0) }
        statement.reset()
        #expect(holds(before, nonce))
        #expect(try records.remove(bytes("name 2")) == .deleted)
        records.close()
        let after = try contents(store.folder.file)
        #expect(!holds(after, nonce))
    }

    private func holds(_ content: [UInt8], _ part: [UInt8]) -> Bool {
        guard content.count >= part.count else { return false }
        return (0...content.count - part.count).contains { start in
            content[start] == part[0] && content[start..<start + part.count].elementsEqual(part)
        }
    }
}
