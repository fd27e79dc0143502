import Posix
import Testing

@testable import SealedStore

/// What cannot be sealed anew stays as it is.
@Suite struct RekeyDamageTests {
    /// Copies everything; the damage that was met, and what it was met at.
    private func refusal(_ store: Store, _ records: Records) throws -> RecordsError? {
        let coming = try store.begin()
        defer { try? coming.abandon() }
        do throws(RecordsError) {
            while try !coming.copyNext(from: records, atMost: 5).isDone {}
            _ = try coming.finish(after: records)
            return nil
        } catch {
            return error
        }
    }

    @Test("a store with anything damaged in it is not sealed anew", arguments: DamageTests.editions)
    func damaged(edition: String) throws {
        let store = try Store()
        try store.filled(DamageTests.count)
        try store.tamper(edition)
        let before = try contents(store.folder.file)
        guard let records = try? store.open() else { return }
        let refusal = try refusal(store, records)
        if edition.contains("SET tag=") {
            // Its tag was found again, so this record is as it was stored.
            #expect(refusal == nil)
        } else {
            guard case .damaged = refusal else {
                Issue.record("\(String(describing: refusal)) of \(edition)")
                return
            }
        }
        #expect(try store.folder.names().allSatisfy { $0.hasPrefix("records.db") })
        records.close()
        #expect(try contents(store.folder.file) == before)
    }

    @Test("damage that was found before, or that comes while it is copied, refuses at once")
    func found() throws {
        let store = try Store()
        try store.filled(200)
        try store.tamper("DELETE FROM records WHERE id=\(DamageTests.victim)")
        let records = try store.open()
        #expect(throws: RecordsError.self) { try records.verify(buckets: 0..<4096) }
        let coming = try store.begin()
        let bucket = try #require(try records.ready().ledger.buckets.firstIndex(of: .damaged))
        let damage = RecordsError.damaged(.bucket(bucket))
        #expect(throws: damage) { try coming.copyNext(from: records) }
        #expect(throws: damage) { try coming.follow([bytes("name 1")], from: records) }
        #expect(throws: damage) { try coming.finish(after: records) }
    }

    @Test("a store with a mark is not sealed anew until its owner knows of the damage")
    func marked() throws {
        let store = try Store()
        try store.filled(DamageTests.count)
        try store.tamper("UPDATE records SET body=zeroblob(64) WHERE id=\(DamageTests.victim)")
        let records = try store.open()
        var lost: [UInt8]?
        for (name, _) in DamageTests.expected() {
            if try Findings.refusal(records, name) != nil { lost = name }
        }
        let name = try #require(lost)
        #expect(try records.put(name, bytes("anew")) == .replaced)
        #expect(records.marked == 1)
        guard case .damaged(.bucket) = try refusal(store, records) else {
            Issue.record("a marked store was copied")
            return
        }
        _ = try records.mend()
        #expect(try refusal(store, records) == nil)
    }

    @Test("a full disk costs the copies alone, and they go on where there is room again")
    func full() throws {
        let store = try Store()
        try store.filled(500)
        let records = try store.open()
        let coming = try store.begin()
        _ = try coming.copyNext(from: records, atMost: 3)
        for _ in 0..<3 {
            try coming.records?.database.run("PRAGMA max_page_count=1")
            #expect(throws: RecordsError.full) {
                while try !coming.copyNext(from: records).isDone {}
            }
            _ = try records.put(bytes("name 1"), [UInt8](repeating: 5, count: 100_000))
            #expect(throws: RecordsError.full) {
                try coming.follow([bytes("name 1")], from: records)
            }
            #expect(try records.get(bytes("name 2")) == bytes("value 2"))
        }
        try coming.records?.database.run("PRAGMA max_page_count=1000000")
        while try !coming.copyNext(from: records).isDone {}
        try coming.follow([bytes("name 1")], from: records)
        let finished = try coming.finish(after: records)
        records.close()
        try finished.switchOver()
        var expected = RekeyTests.numbered(500)
        expected[bytes("name 1")] = [UInt8](repeating: 5, count: 100_000)
        try store.openNew().expect(expected)
    }

    @Test("copies that a full disk has ended are removed without room", arguments: [0, 1])
    func abandoned(isFull: Int) throws {
        let store = try Store()
        try store.filled(500)
        let records = try store.open()
        let coming = try store.begin()
        _ = try coming.copyNext(from: records)
        if isFull == 1 {
            try coming.records?.database.run("PRAGMA max_page_count=1")
            #expect(throws: RecordsError.full) {
                while try !coming.copyNext(from: records).isDone {}
            }
        }
        let file = try Folder(resolving: store.folder.path).file("records.new", .read)
        let log = try Folder(resolving: store.folder.path).file("records.new-wal", .read)
        try coming.abandon()
        #expect(try store.folder.names() == ["records.db", "records.db-wal"])
        #expect(try isZero(file))
        // What the disk was full for was moved out of it.
        #expect(try log.size() == 0 || isZero(log))
        try coming.abandon()
        #expect(throws: RecordsError.closed) { try coming.copyNext(from: records) }
        #expect(try records.put(bytes("name 1"), bytes("later")) == .replaced)
        records.close()
        var expected = RekeyTests.numbered(500)
        expected[bytes("name 1")] = bytes("later")
        try store.open().expect(expected)
    }
}

/// Whether nothing but zeroes is left of a file.
func isZero(_ file: borrowing File) throws -> Bool {
    let size = try file.size()
    var bytes = [UInt8](repeating: 1, count: size)
    var span = bytes.mutableSpan
    try #require(try file.read(into: &span, at: 0) == size)
    return size > 0 && bytes.allSatisfy { $0 == 0 }
}
