import Posix
import Testing

@testable import SealedStore

extension Records {
    /// Everything that a listing gives, and all that it could not give.
    func listing(prefix: [UInt8] = [], limit: Int = 1024) throws -> Page {
        var all = Page()
        var cursor: UInt64 = 0
        repeat {
            let page = try names(prefix: prefix, cursor: cursor, limit: limit)
            all.names += page.names
            all.damaged += page.damaged
            cursor = page.cursor
        } while cursor != 0
        return all
    }
}

extension Records.Page {
    func names(_ kind: DamagedRecord.Kind) -> Set<[UInt8]> {
        Set(damaged.filter { $0.kind == kind }.map(\.name))
    }
}

/// A store of a thousand records in which two share a bucket.
private final class Thousand {
    static let count = 1000
    let store: Store
    /// The damaged one, and one beside it in its bucket.
    let victim: [UInt8]
    let beside: [UInt8]
    let row: Int64
    let besideRow: Int64

    init() throws {
        store = try Store()
        try store.filled(Self.count)
        let records = try store.open()
        let keys = try records.ready()
        var first: [Int: (name: [UInt8], row: Int64)] = [:]
        var pair: ((name: [UInt8], row: Int64), (name: [UInt8], row: Int64))?
        for index in 0..<Self.count {
            let name = bytes("name \(index)")
            let id = try keys.keys.identity(of: name.span)
            if let other = first[id.bucket] { pair = pair ?? (other, (name, id.row)) }
            first[id.bucket] = (name, id.row)
        }
        let (one, two) = try #require(pair)
        (victim, row, beside, besideRow) = (one.name, one.row, two.name, two.row)
        records.close()
    }

    static func value(_ name: [UInt8]) -> [UInt8] { bytes("value") + name.dropFirst(4) }

    var expected: Set<[UInt8]> { Set((0..<Self.count).map { bytes("name \($0)") }) }
    var others: Set<[UInt8]> { expected.subtracting([victim]) }

    func damage(_ change: String) throws {
        try store.tamper("UPDATE records SET \(change) WHERE id=\(row)")
    }

    func removeBeside() throws { try store.tamper("DELETE FROM records WHERE id=\(besideRow)") }

    /// Every name gives its value, but for these, which are refused.
    func check(_ records: Records, but refused: Set<[UInt8]>) throws {
        for name in expected.subtracting(refused) {
            #expect(try records.get(name) == Self.value(name))
        }
        for name in refused {
            #expect(throws: RecordsError.self) { try records.get(name) }
        }
    }
}

@Suite("damage to one record of a thousand") struct OneRecordTests {
    /// A byte in each field of a row, changed so that the record does not open any more.
    static let broken = [
        "nonce=zeroblob(24)", "nonce=zeroblob(3)", "generation=generation+1", "generation='x'",
        "body=zeroblob(length(body))", "body=zeroblob(0)", "body=zeroblob(70000)",
        // The name is the first that stands in a body, and the value the last.
        "body=CAST(x'ffffff' || substr(body, 4) AS BLOB)",
        "body=CAST(substr(body, 1, 40) || x'ff' || substr(body, 42) AS BLOB)",
    ]

    @Test(
        "the others are given, it is named, and can be set or deleted",
        arguments: broken, [true, false])
    func oneBroken(change: String, sets: Bool) throws {
        let thousand = try Thousand()
        try thousand.damage(change)
        let records = try thousand.store.open()
        for limit in [1, 7, 1024] {
            let page = try records.listing(limit: limit)
            #expect(Set(page.names) == thousand.others)
            #expect(page.names.count == 999)
            #expect(page.damaged.count == 1)
            #expect(page.damaged.first?.kind == .broken)
            #expect(page.damaged.first?.id == UInt64(bitPattern: thousand.row))
            // The name is shown where it is the record's, and nothing is where it is gone.
            #expect([thousand.victim, []].contains(page.damaged.first?.name))
        }
        try thousand.check(records, but: [thousand.victim])
        let result =
            sets
            ? try records.put(thousand.victim, bytes("anew")) : try records.remove(thousand.victim)
        #expect(result == (sets ? .replaced : .deleted))
        #expect(records.marked == 1)
        records.close()
        let again = try thousand.store.open()
        #expect(again.marked == 1)
        #expect(again.count == (sets ? 1000 : 999))
        #expect(try again.get(thousand.victim) == (sets ? bytes("anew") : nil))
        let page = try again.listing()
        #expect(Set(page.names) == (sets ? thousand.expected : thousand.others))
        #expect(page.damaged.isEmpty)
        try again.verify(buckets: 0..<Records.bucketCount)
        #expect(try again.mend() == Mended())
        #expect(again.marked == 0)
        again.close()
        #expect(try thousand.store.open().marked == 0)
    }

    @Test("what is damaged is called that, and not the file, also beside a debt")
    func called() throws {
        for isOwing in [false, true] {
            for change in Self.broken {
                let thousand = try Thousand()
                if isOwing {
                    try thousand.damage("tag=zeroblob(16), body=zeroblob(64)")
                    try thousand.removeBeside()
                    let records = try thousand.store.open()
                    #expect(try records.put(thousand.victim, bytes("anew")) == .replaced)
                    records.close()
                }
                try thousand.damage(change)
                let records = try thousand.store.open()
                let bucket = Bucket.of(UInt64(bitPattern: thousand.row))
                #expect(throws: RecordsError.damaged(.record(bucket: bucket)), "\(change)") {
                    try records.get(thousand.victim)
                }
            }
        }
    }

    @Test("a record that is held back leaves nothing of it in memory")
    func heldBack() throws {
        let thousand = try Thousand()
        try thousand.damage("tag=zeroblob(16), body=zeroblob(64)")
        try thousand.removeBeside()
        let records = try thousand.store.open()
        let bucket = Bucket.of(UInt64(bitPattern: thousand.row))
        #expect(try records.put(thousand.victim, bytes("anew")) == .replaced)
        try records.ready().ledger.head.marks[0].generation += 100
        var slab = [UInt8](repeating: 0xee, count: 4096)
        var span = slab.mutableSpan
        #expect(throws: RecordsError.damaged(.bucket(bucket))) {
            try records.value(of: thousand.victim, into: &span)
        }
        #expect(!slab.contains(bytes("anew")))
    }

    @Test("a name is shown where value, nonce or generation are damaged, and not where it is gone")
    func names() throws {
        for (change, isThere) in [
            ("generation=generation+1", true), ("nonce=zeroblob(24)", false),
            ("body=CAST(substr(body, 1, 40) || x'ff' || substr(body, 42) AS BLOB)", true),
            ("body=CAST(x'ffffff' || substr(body, 4) AS BLOB)", false),
        ] {
            let thousand = try Thousand()
            try thousand.damage(change)
            let page = try thousand.store.open().listing()
            #expect(page.damaged.map(\.name) == [isThere ? thousand.victim : []], "\(change)")
            // With a prefix, what has another name is not told of, and what has none is.
            let other = try thousand.store.open().listing(prefix: bytes("nobody"))
            #expect(other.damaged.count == (isThere ? 0 : 1))
        }
    }

    @Test("a tag that was changed is found again, and nothing is lost", arguments: [16, 15, 0])
    func tag(size: Int) throws {
        let thousand = try Thousand()
        try thousand.damage("tag=zeroblob(\(size))")
        let records = try thousand.store.open()
        let page = try records.listing()
        #expect(Set(page.names) == thousand.expected && page.damaged.isEmpty)
        try thousand.check(records, but: [])
        #expect(try records.mend() == Mended())
        records.close()
        do {
            let tamperer = try Tamperer(thousand.store.folder.file)
            let left = "SELECT count(*) FROM records WHERE tag=zeroblob(\(size))"
            #expect(try tamperer.number(left) == 0)
        }
        let again = try thousand.store.open()
        try thousand.check(again, but: [])
        #expect(try again.put(thousand.victim, [1]) == .replaced)
        #expect(again.marked == 0)
    }

    @Test("a row that was never stored changes nothing but that it is named")
    func foreign() throws {
        let thousand = try Thousand()
        try thousand.store.tamper(
            """
            INSERT INTO records SELECT id+1, generation, tag, nonce, body FROM records
            WHERE id=\(thousand.row)
            """)
        let records = try thousand.store.open()
        let page = try records.listing()
        #expect(Set(page.names) == thousand.expected)
        #expect(page.damaged.map(\.kind) == [.broken])
        try thousand.check(records, but: [])
        #expect(records.count == 1000)
        #expect(try records.mend() == Mended(removed: 1, accepted: 0))
        #expect(records.count == 1000)
    }

    // MARK: more than one thing in a bucket

    @Test(
        "what else happened to its bucket is told until it is acknowledged",
        arguments: ["tag=zeroblob(16), body=zeroblob(64)", "body=zeroblob(64)"])
    func removedBeside(change: String) throws {
        let thousand = try Thousand()
        try thousand.damage(change)
        try thousand.removeBeside()
        var records = try thousand.store.open()
        #expect(try records.listing().names(.missing) == [[]])
        #expect(try records.put(thousand.victim, bytes("anew")) == .replaced)
        // Whatever else is written, and opened again.
        for round in 0..<200 { _ = try records.put(bytes("more \(round)"), [1]) }
        for _ in 0..<2 {
            #expect(records.marked == 1)
            #expect(try records.get(thousand.victim) == bytes("anew"))
            #expect(try records.listing().names(.missing) == [[]])
            #expect(throws: RecordsError.self, "not: there is no such record") {
                try records.get(thousand.beside)
            }
            #expect(
                try records.remove(thousand.beside)
                    == .damaged(.bucket(Bucket.of(UInt64(bitPattern: thousand.row)))))
            records.close()
            records = try thousand.store.open()
        }
        #expect(try records.mend() == Mended(removed: 0, accepted: 0))
        #expect(records.marked == 0)
        #expect(try records.listing().damaged.isEmpty)
        #expect(try records.get(thousand.beside) == nil)
        #expect(records.count == 1199)
    }

    @Test("a record beside it that was replaced by an older one is never given as the newer one")
    func olderBeside() throws {
        let thousand = try Thousand()
        let copy = try TemporaryFolder()
        try thousand.store.copy(to: copy.file)
        var records = try thousand.store.open()
        _ = try records.put(thousand.beside, bytes("newer"))
        records.close()
        try thousand.store.tamper(
            "ATTACH '\(copy.file)' AS old",
            """
            INSERT OR REPLACE INTO records
            SELECT * FROM old.records WHERE id=\(thousand.besideRow)
            """,
            "UPDATE records SET tag=zeroblob(16), body=zeroblob(64) WHERE id=\(thousand.row)")
        records = try thousand.store.open()
        for step in 0..<3 {
            let page = try records.listing()
            #expect(page.names(.unproven).contains(thousand.beside))
            #expect(throws: RecordsError.self) { try records.get(thousand.beside) }
            if step == 0 { #expect(try records.put(thousand.victim, bytes("anew")) == .replaced) }
            records.close()
            records = try thousand.store.open()
        }
        #expect(try records.mend() == Mended(removed: 0, accepted: 1))
        #expect(try records.get(thousand.beside) == Thousand.value(thousand.beside))
        #expect(try records.listing().damaged.isEmpty)
    }

    @Test("what is removed after the mark is noticed as well")
    func afterMark() throws {
        let thousand = try Thousand()
        try thousand.damage("tag=zeroblob(16), body=zeroblob(64)")
        var records = try thousand.store.open()
        _ = try records.put(thousand.victim, bytes("anew"))
        _ = try records.put(thousand.beside, bytes("anew"))
        let page = try records.listing()
        #expect(Set(page.names) == thousand.expected)
        records.close()
        try thousand.removeBeside()
        records = try thousand.store.open()
        #expect(throws: RecordsError.self) { try records.get(thousand.victim) }
        #expect(try records.listing().names(.unproven) == [thousand.victim])
    }

    /// Commits are lost, and from their branch somebody puts `beside` back as it was in the first
    /// of two.
    private func lostBranch(_ thousand: Thousand) throws {
        let before = try contents(thousand.store.folder.file)
        let records = try thousand.store.open()
        for round in 0..<5 { _ = try records.put(bytes("more \(round)"), [1]) }
        _ = try records.put(thousand.beside, bytes("first"))
        records.close()
        let copy = try TemporaryFolder()
        try thousand.store.copy(to: copy.file)
        let again = try thousand.store.open()
        _ = try again.put(thousand.beside, bytes("last"))
        again.close()
        try write(before, to: thousand.store.folder.file)
        try thousand.store.tamper(
            "ATTACH '\(copy.file)' AS old",
            """
            INSERT OR REPLACE INTO records
            SELECT * FROM old.records WHERE id=\(thousand.besideRow)
            """)
    }

    @Test("a record of commits that were lost is not given as proven", arguments: [true, false])
    func lostBranch(sets: Bool) throws {
        let thousand = try Thousand()
        try lostBranch(thousand)
        var records = try thousand.store.open()
        let bucket = Bucket.of(UInt64(bitPattern: thousand.row))
        for _ in 0..<2 {
            let change: Change =
                sets ? set(thousand.victim, bytes("anew")) : .delete(name: thousand.victim)
            #expect(try records.apply([change]) == [.damaged(.bucket(bucket))])
            #expect(records.marked == 0)
            #expect(throws: RecordsError.self) { try records.get(thousand.beside) }
            #expect(try records.listing().names(.unproven).contains(thousand.beside))
            // The others go on.
            #expect(try records.put(bytes("other"), [1]) != .damaged(.bucket(bucket)))
            records.close()
            records = try thousand.store.open()
        }
        #expect(try records.mend() == Mended(removed: 0, accepted: 2))
        #expect(try records.get(thousand.beside) == bytes("first"))
        #expect(try records.put(thousand.victim, bytes("anew")) == .replaced)
    }

    @Test("after a mend, too, what is put back later is older than the mark")
    func afterMend() throws {
        let thousand = try Thousand()
        try lostBranch(thousand)
        let copy = try TemporaryFolder()
        try thousand.store.copy(to: copy.file)
        var records = try thousand.store.open()
        #expect(try records.mend().accepted == 2)
        #expect(try records.put(thousand.beside, bytes("newer")) == .replaced)
        records.close()
        try thousand.store.tamper(
            "ATTACH '\(copy.file)' AS old",
            """
            INSERT OR REPLACE INTO records
            SELECT * FROM old.records WHERE id=\(thousand.besideRow)
            """)
        records = try thousand.store.open()
        #expect(try records.put(thousand.victim, bytes("anew")) == .replaced)
        #expect(throws: RecordsError.self) { try records.get(thousand.beside) }
        #expect(try records.get(thousand.victim) == bytes("anew"))
    }

    @Test("a number that nothing vouches for is not taken over by a mend")
    func garbageNumber() throws {
        let thousand = try Thousand()
        try thousand.damage("generation=-1, tag=zeroblob(16)")
        let records = try thousand.store.open()
        let before = records.generation
        #expect(try records.mend() == Mended(removed: 1, accepted: 1))
        #expect(records.generation == before + 1)
        #expect(try records.put(thousand.victim, bytes("anew")) == .stored)
    }

    // MARK: whole pages

    @Test("a node that was changed: its records are told of until the owner accepts them")
    func node() throws {
        let thousand = try Thousand()
        let node = Bucket.of(UInt64(bitPattern: thousand.row)) / Node.width
        for change in [
            "UPDATE nodes SET body=zeroblob(length(body)) WHERE id=\(node)",
            "DELETE FROM nodes WHERE id=\(node)",
        ] {
            try thousand.store.tamper(change)
            let records = try thousand.store.open()
            let page = try records.listing()
            #expect(page.names.count > 900 && page.damaged.count > 1)
            #expect(page.names(.missing) == [[]])
            #expect(page.damaged.count { $0.kind == .missing } == 1)
            #expect(
                Set(page.names).union(page.names(.unproven)) == thousand.expected)
            try thousand.check(records, but: page.names(.unproven))
            #expect(
                try records.mend()
                    == Mended(removed: 0, accepted: page.names(.unproven).count))
            try thousand.check(records, but: [])
            records.close()
            let again = try thousand.store.open()
            #expect(Set(try again.listing().names) == thousand.expected)
            try again.verify(buckets: 0..<Records.bucketCount)
        }
    }

    @Test("a row whose id was changed", arguments: ["id=id+1", "id=-id", "id=id+(1<<52)"])
    func moved(change: String) throws {
        let thousand = try Thousand()
        try thousand.damage(change)
        let records = try thousand.store.open()
        let page = try records.listing()
        #expect(page.names.count + page.names(.unproven).count == 999)
        #expect(Set(page.names).union(page.names(.unproven)) == thousand.others)
        #expect(page.damaged.contains { $0.kind == .missing })
        try thousand.check(records, but: page.names(.unproven).union([thousand.victim]))
        #expect(try records.put(thousand.victim, bytes("anew")) == .stored)
        #expect(try records.get(thousand.victim) == bytes("anew"))
        #expect(try records.mend().removed == 1)
        #expect(Set(try records.listing().names) == thousand.expected)
        #expect(try records.listing().damaged.isEmpty)
        #expect(records.count == 1000)
    }

    @Test("marks leave room for each other and for what changes, or refuse")
    func manyMarks() throws {
        let store = try Store()
        try store.filled(2000)
        try store.tamper("UPDATE records SET body=zeroblob(64)")
        let records = try store.open()
        var stored = 0
        var refused = 0
        for index in 0..<2000 {
            switch try records.put(bytes("name \(index)"), [7]) {
            case .replaced: stored += 1
            case .damaged: refused += 1
            case .stored, .deleted, .absent, .collision, .nameRefused, .tooLarge, .noRoom:
                Issue.record("neither replaced nor refused")
            }
        }
        #expect(records.marked == Head.mostMarks)
        #expect(stored >= Head.mostMarks && refused > 0)
        // One batch with more buckets than the journal has room for beside the marks.
        let batch = (0..<500).map { set(bytes("more \($0)"), [1]) }
        #expect(try records.apply(batch).allSatisfy { $0 == .stored })
        records.close()
        let again = try store.open()
        #expect(again.marked == Head.mostMarks)
        #expect(try again.get(bytes("more 7")) == [1])
        #expect(try again.mend().removed == refused)
        #expect(again.count == UInt64(stored + 500))
        try again.verify(buckets: 0..<Records.bucketCount)
    }

    /// One bucket of the last node, and 127 of the first four: so many entries the head has room
    /// for. Returns the record in the last node.
    private static func filledJournal(_ store: Store) throws -> (name: [UInt8], id: RecordID) {
        let records = try store.create()
        defer { records.close() }
        let made = try records.ready()
        var buckets: Set<Int> = []
        var names: [[UInt8]] = []
        var victim: (name: [UInt8], id: RecordID)?
        var number = 0
        while names.count < 127 || victim == nil {
            let name = bytes("name \(number)")
            let id = try made.keys.identity(of: name.span)
            number += 1
            if id.bucket / Node.width == Node.number - 1, victim == nil { victim = (name, id) }
            if id.bucket < 4 * Node.width, names.count < 127, buckets.insert(id.bucket).inserted {
                names.append(name)
            }
        }
        let found = try #require(victim)
        let all = (names + [found.name]).map { set($0, [1]) }
        #expect(try records.apply(all).allSatisfy { $0 == .stored })
        #expect(made.ledger.head.journal.count == 128)
        return found
    }

    @Test("changes of damaged nodes fill the head: one change is refused, not all of a batch")
    func fullJournal() throws {
        let store = try Store()
        let (name, id) = try Self.filledJournal(store)
        try store.tamper(
            "UPDATE nodes SET body=zeroblob(8) WHERE id < 4",
            "UPDATE records SET body=zeroblob(64) WHERE id=\(id.row)")
        let again = try store.open()
        var free = bytes("free")
        let opened = try again.ready()
        while try opened.keys.identity(of: free.span).bucket < 4 * Node.width { free += [0x61] }
        #expect(
            try again.apply([set(free, [2]), set(name, [2])])
                == [.stored, .damaged(.bucket(id.bucket))])
        #expect(try again.get(free) == [2])
    }

    @Test("garbage that is deleted takes nothing from the count")
    func garbageCount() throws {
        let store = try Store()
        try store.filled(1)
        try store.tamper("UPDATE records SET tag=zeroblob(16), body=zeroblob(64)")
        let records = try store.open()
        try records.ready().ledger.head.count = 0
        #expect(try records.remove(bytes("name 0")) == .deleted)
        #expect(records.count == 0)
    }

    @Test("what is missing is told of, too, where a page ends at a bucket's last row")
    func lastRow() throws {
        let thousand = try Thousand()
        try thousand.removeBeside()
        let bucket = Bucket.of(UInt64(bitPattern: thousand.row))
        try thousand.store.tamper(
            """
            INSERT INTO records VALUES(\(Bucket.rows(bucket).last), 1, zeroblob(16), zeroblob(24),
                zeroblob(64))
            """)
        let records = try thousand.store.open()
        for limit in [1, 2, 3, 1024] {
            let page = try records.listing(limit: limit)
            #expect(page.damaged.count { $0.kind == .missing } == 1, "\(limit)")
            #expect(page.damaged.count { $0.kind == .broken } == 1, "\(limit)")
        }
    }

    // MARK: export

    @Test("an export has the others, and says what it is without; an import takes it")
    func export() throws {
        let thousand = try Thousand()
        try thousand.damage("generation=generation+1")
        let records = try thousand.store.open()
        let writer = try ExportWriter(
            key: try ExportTests.key(), salt: ExportTests.salt, cost: ExportTests.cost())
        var damaged: [DamagedRecord] = []
        var body: [UInt8] = []
        while let piece = try writer.next(from: records) {
            body += piece
            damaged += writer.takeDamaged()
        }
        #expect(writer.done == 999)
        let id = UInt64(bitPattern: thousand.row)
        #expect(damaged == [DamagedRecord(kind: .broken, id: id, name: thousand.victim)])
        let target = try Store(id: Array(17...32))
        let new = try target.create()
        for cut in [1 << 20, 1000] {
            let reader = try ExportTests.reader(writer.header)
            for start in stride(from: 0, to: body.count, by: cut) {
                let piece = Array(body[start..<min(start + cut, body.count)])
                try reader.store(piece.span, in: new, replace: true)
            }
            try reader.finish()
            #expect(reader.done == 999)
            #expect(reader.missing == 1)
        }
        #expect(Set(try new.listing().names) == thousand.others)
        for name in thousand.others { #expect(try new.get(name) == records.get(name)) }
        // Back into the damaged store: what is damaged stays, and the rest is replaced.
        let reader = try ExportTests.reader(writer.header)
        try reader.check(body.span, against: records)
        #expect(reader.existing == 999)
    }

    // MARK: acknowledging

    @Test("wherever its commit is cut, a mend was made whole or not at all", arguments: 0..<8)
    func mendCut(part: Int) throws {
        let thousand = try Thousand()
        try thousand.damage("tag=zeroblob(16), body=zeroblob(64)")
        try thousand.removeBeside()
        let records = try thousand.store.open()
        _ = try records.put(bytes("more"), [1])
        let begun = try contents(thousand.store.folder.log).count
        _ = try records.mend()
        let file = try contents(thousand.store.folder.file)
        let log = try contents(thousand.store.folder.log)
        records.close()
        var seen: Set<Bool> = []
        let step = (log.count - begun) / 40
        for cut in stride(from: begun + part * step / 8, through: log.count, by: step)
            + [log.count]
        {
            try write(file, to: thousand.store.folder.file)
            try write(Array(log.prefix(cut)), to: thousand.store.folder.log)
            let again = try thousand.store.open()
            let page = try again.listing()
            let isMended = page.damaged.isEmpty
            seen.insert(isMended)
            #expect(page.names.count == 999)
            #expect(page.names(.broken).isEmpty == isMended)
            #expect(page.names(.missing).isEmpty == isMended)
            #expect(try again.get(bytes("more")) == [1])
            if !isMended { #expect(try again.mend().removed == 1) }
            #expect(try again.listing().damaged.isEmpty)
            again.close()
        }
        #expect(seen == [true, false])
    }

    @Test("a change that fails beside a mend takes back nothing that was examined")
    func examinedBeside() throws {
        let thousand = try Thousand()
        try thousand.damage("generation=generation+1")
        let records = try thousand.store.open()
        let open = try records.ready()
        let bucket = Bucket.of(UInt64(bitPattern: thousand.row))
        let last = Records.bucketCount - 1
        try records.examine(buckets: 0..<last)
        try open.database.run(
            """
            CREATE TEMP TRIGGER fails BEFORE UPDATE ON head
            BEGIN SELECT RAISE(ABORT, 'on purpose'); END
            """)
        // What is found damaged after it was examined is examined again.
        let later = bucket == 0 ? 1 : 0
        open.ledger.buckets[later] = .damaged
        #expect(throws: RecordsError.self) { try records.put(bytes("more"), [1]) }
        try open.database.run("DROP TRIGGER fails")
        let examined = open.ledger.examined
        #expect(examined.indices.filter { examined[$0] == .not } == [later, last])
        #expect(examined.indices.filter { examined[$0] == .flawed } == [bucket])
        #expect(try records.mend() == Mended(removed: 1, accepted: 0))
        #expect(Set(try records.listing().names) == thousand.others)
        #expect(records.count == 999)
    }

    @Test(
        "after a mend, as many records are counted as there are",
        arguments: broken + ["tag=zeroblob(16)", "id=id+1", "id=id+(1<<52)"], 0..<4)
    func counted(change: String, beside: Int) throws {
        let thousand = try Thousand()
        try thousand.damage(change)
        let id = "(SELECT max(id) FROM records WHERE id < \(thousand.row))"
        switch beside {
        case 1: try thousand.removeBeside()
        // A row that was never stored, in the same bucket and in another.
        case 2: try thousand.store.tamper(Self.foreign(at: thousand.row ^ 2))
        case 3: try thousand.store.tamper(Self.foreign(at: thousand.row ^ 1 << 53))
        default: try thousand.store.tamper("UPDATE records SET tag=zeroblob(3) WHERE id=\(id)")
        }
        var records = try thousand.store.open()
        _ = try records.put(bytes("more"), [1])
        _ = try records.mend()
        let page = try records.listing()
        #expect(page.damaged.isEmpty)
        #expect(records.count == UInt64(page.names.count))
        records.close()
        records = try thousand.store.open()
        #expect(records.count == UInt64(page.names.count))
        try records.verify(buckets: 0..<Records.bucketCount)
    }

    private static func foreign(at row: Int64) -> String {
        "INSERT INTO records VALUES(\(row), 1, zeroblob(16), zeroblob(24), zeroblob(64))"
    }

    @Test("a mend that fails changes nothing")
    func mendFails() throws {
        let thousand = try Thousand()
        try thousand.damage("generation=generation+1")
        let records = try thousand.store.open()
        let database = try records.ready()
        try database.database.run(
            """
            CREATE TEMP TRIGGER fails BEFORE UPDATE ON head
            BEGIN SELECT RAISE(ABORT, 'on purpose'); END
            """)
        #expect(throws: RecordsError.self) { try records.mend() }
        #expect(records.count == 1000)
        // The next try does not look at everything once more.
        #expect(database.ledger.examined.allSatisfy { $0 != .not })
        #expect(try records.listing().names(.broken) == [thousand.victim])
        try database.database.run("DROP TRIGGER fails")
        #expect(try records.mend() == Mended(removed: 1, accepted: 0))
        #expect(Set(try records.listing().names) == thousand.others)
    }
}
