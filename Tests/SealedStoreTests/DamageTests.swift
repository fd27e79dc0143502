import CSQLite
import Posix
import Testing

@testable import SealedStore

/// A second connection, as an attacker with the file has it.
@safe struct Tamperer: ~Copyable {
    private let raw: OpaquePointer

    init(_ path: String) throws {
        var opened: OpaquePointer?
        // SAFETY: the connection is closed in deinit.
        let result = unsafe sqlite3_open(path, &opened)
        try #require(result == SQLITE_OK)
        unsafe raw = try #require(unsafe opened)
    }

    deinit { unsafe sqlite3_close(raw) }

    func run(_ sql: String) throws {
        // SAFETY: the text is passed as a C string.
        let result = unsafe sqlite3_exec(raw, sql, nil, nil, nil)
        try #require(result == SQLITE_OK, "\(sql)")
    }

    func number(_ sql: String) throws -> Int64 {
        var statement: OpaquePointer?
        // SAFETY: prepared and finalised here.
        try #require(unsafe sqlite3_prepare_v2(raw, sql, -1, &statement, nil) == SQLITE_OK)
        defer { unsafe sqlite3_finalize(statement) }
        try #require(unsafe sqlite3_step(statement) == SQLITE_ROW)
        return unsafe sqlite3_column_int64(statement, 0)
    }
}

extension Store {
    /// The file, changed behind the store's back, and folded into one file again.
    func tamper(_ statements: String...) throws {
        let tamperer = try Tamperer(folder.file)
        for statement in statements { try tamperer.run(statement) }
        try tamperer.run("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    func copy(to other: String) throws {
        try write(try contents(folder.file), to: other)
    }
}

/// The result of asking for every record of a store: right values or damage, and never anything
/// else.
struct Findings {
    var right = 0
    var damaged = 0

    init(_ store: Store, _ expected: [[UInt8]: [UInt8]]) throws {
        let records: Records
        do {
            records = try store.open()
        } catch let error as RecordsError {
            guard case .damaged = error else { throw error }
            damaged = expected.count
            return
        }
        for (name, value) in expected {
            do {
                let found = try records.get(name)
                if found == value {
                    right += 1
                } else {
                    Issue.record("a wrong value, or none, for \(name)")
                }
            } catch let error as RecordsError {
                guard case .damaged = error else { throw error }
                damaged += 1
            }
        }
    }
}

extension Findings {
    static func refusal(_ records: Records, _ name: [UInt8]) throws -> RecordsError? {
        do {
            _ = try records.get(name)
            return nil
        } catch let error as RecordsError {
            return error
        }
    }
}

@Suite struct DamageTests {
    static let count = 40

    static func expected() -> [[UInt8]: [UInt8]] {
        Dictionary(
            uniqueKeysWithValues: (0..<count).map { (bytes("name \($0)"), bytes("value \($0)")) })
    }

    /// A row in the middle, so that it has neighbours on both sides.
    static let victim = "(SELECT id FROM records ORDER BY id LIMIT 1 OFFSET 20)"
    static let other = "(SELECT id FROM records ORDER BY id LIMIT 1 OFFSET 21)"

    static let editions: [String] = [
        "DELETE FROM records WHERE id=\(victim)",
        "UPDATE records SET tag=zeroblob(16) WHERE id=\(victim)",
        "UPDATE records SET tag=zeroblob(15) WHERE id=\(victim)",
        "UPDATE records SET tag='text' WHERE id=\(victim)",
        "UPDATE records SET nonce=zeroblob(24) WHERE id=\(victim)",
        "UPDATE records SET nonce=zeroblob(2) WHERE id=\(victim)",
        "UPDATE records SET generation=generation+1 WHERE id=\(victim)",
        "UPDATE records SET generation='one' WHERE id=\(victim)",
        "UPDATE records SET body=zeroblob(64) WHERE id=\(victim)",
        "UPDATE records SET body=zeroblob(0) WHERE id=\(victim)",
        "UPDATE records SET body=zeroblob(2000000) WHERE id=\(victim)",
        "UPDATE records SET body=zeroblob(9000000) WHERE id=\(victim)",
        "UPDATE records SET id=id+1 WHERE id=\(victim)",
        "UPDATE records SET id=id*-1 WHERE id=\(victim)",
        """
        INSERT INTO records
        SELECT id+1, generation, tag, nonce, body FROM records WHERE id=\(victim)
        """,
        """
        UPDATE records SET (generation, tag, nonce, body) =
        (SELECT generation, tag, nonce, body FROM records WHERE id=\(other)) WHERE id=\(victim)
        """,
        """
        CREATE TEMP TABLE two AS SELECT * FROM records WHERE id IN (\(victim), \(other));
        UPDATE records SET (generation, tag, nonce, body) =
        (SELECT generation, tag, nonce, body FROM two WHERE two.id<>records.id)
        WHERE id IN (SELECT id FROM two)
        """,
        """
        UPDATE records SET body=(SELECT body FROM records WHERE id=\(other)) WHERE id=\(victim)
        """,
    ]

    /// A tag that was changed can be told from the bucket's sum, and a row that was added is none.
    static let harmless: Set<Int> = [1, 2, 3, 14]

    @Test(
        "a record that was changed, moved, doubled, swapped or removed is damage",
        arguments: editions.indices)
    func edited(index: Int) throws {
        let store = try Store()
        try store.filled(Self.count)
        try store.tamper(Self.editions[index])
        let found = try Findings(store, Self.expected())
        #expect((found.damaged == 0) == Self.harmless.contains(index))
        #expect(found.damaged <= 2, "\(found) \(Self.editions[index])")
        #expect(found.right >= Self.count - 2)
    }

    static let headEditions: [String] = [
        "UPDATE head SET body=zeroblob(length(body))", "DELETE FROM head", "UPDATE head SET id=1",
        "UPDATE head SET body=(SELECT body FROM nodes WHERE id=0)", "UPDATE head SET body='text'",
        "DROP TABLE head", "PRAGMA user_version=2",
    ]

    @Test(
        "a head that is not ours, or a later version, keeps the store shut", arguments: headEditions
    )
    func head(edition: String) throws {
        let store = try Store()
        try store.filled(3)
        try store.tamper(edition)
        #expect {
            _ = try store.open()
        } throws: { error in
            if case RecordsError.damaged = error { true } else { false }
        }
    }

    @Test("a node that was changed damages its 64 buckets and no others")
    func node() throws {
        let store = try Store()
        try store.filled(2000)
        try store.tamper("UPDATE nodes SET body=(SELECT body FROM nodes WHERE id=6) WHERE id=5")
        let records = try store.open()
        #expect(throws: RecordsError.damaged(.node(5))) { try records.verify(buckets: 320..<384) }
        try records.verify(buckets: 0..<320)
        try records.verify(buckets: 384..<4096)
        // Folding leaves the damaged node alone, and every other record is served and changed as
        // before.
        var changed: [[UInt8]] = []
        var refused = 0
        for index in 0..<2000 {
            switch try records.put(bytes("name \(index)"), bytes("new \(index)")) {
            case .replaced: changed.append(bytes("name \(index)"))
            case .damaged(.node(5)): refused += 1
            case .stored, .deleted, .absent, .damaged, .collision, .nameRefused, .tooLarge, .noRoom:
                Issue.record("neither changed nor damaged")
            }
        }
        #expect(refused > 0 && changed.count + refused == 2000)
        records.close()
        let again = try store.open()
        for name in changed { #expect(try again.get(name) == bytes("new") + name.dropFirst(4)) }
        #expect(throws: RecordsError.damaged(.node(5))) { try again.verify(buckets: 0..<4096) }
    }

    @Test("what is damaged is not given, and the others go on")
    func refusals() throws {
        let store = try Store()
        try store.filled(Self.count)
        try store.tamper("UPDATE records SET body=zeroblob(64), tag=x'' WHERE id=\(Self.victim)")
        let records = try store.open()
        var damaged: [UInt8] = []
        for name in Self.expected().keys where (try? records.get(name)) == nil { damaged = name }
        #expect(try records.allNames().count == Self.count - 1)
        guard case .damaged(.bucket(let bucket)) = try Findings.refusal(records, damaged) else {
            Issue.record("not refused")
            return
        }
        #expect(throws: RecordsError.damaged(.bucket(bucket))) {
            try records.verify(buckets: 0..<Records.bucketCount)
        }
        #expect(records.damagedBuckets == 1)
        #expect(try records.apply([set(bytes("more"), [2])]) == [.stored])
        #expect(try records.get(bytes("more")) == [2])
        records.close()
        // The row is still what the tamperer left: nothing was repaired in silence.
        let tamperer = try Tamperer(store.folder.file)
        #expect(try tamperer.number("SELECT count(*) FROM records WHERE tag=x''") == 1)
    }

    @Test("a record put back from an older copy is damage", arguments: [0, 200])
    func older(changesBetween: Int) throws {
        let store = try Store()
        try store.filled(Self.count)
        let copy = try TemporaryFolder()
        try store.copy(to: copy.file)
        var expected = Self.expected()
        let records = try store.open()
        _ = try records.put(bytes("name 7"), bytes("newer"))
        expected[bytes("name 7")] = bytes("newer")
        _ = try records.remove(bytes("name 8"))
        expected[bytes("name 8")] = nil
        for index in 0..<changesBetween { _ = try records.put(bytes("more \(index)"), [1]) }
        records.close()
        try store.tamper(
            "ATTACH '\(copy.file)' AS old",
            "INSERT OR REPLACE INTO records SELECT * FROM old.records")
        let found = try Findings(store, expected)
        #expect(found.damaged >= 1 && found.damaged <= 3, "\(found)")
        let again = try store.open()
        #expect(throws: (any Error).self, "a deleted record came back") {
            try again.get(bytes("name 8"))
        }
    }

    @Test(
        "an older head, or an older node, is damage of what has changed since",
        arguments: ["head", "nodes"])
    func olderSums(table: String) throws {
        let store = try Store()
        try store.filled(Self.count)
        let copy = try TemporaryFolder()
        try store.copy(to: copy.file)
        var expected = Self.expected()
        let records = try store.open()
        for index in 0..<300 {
            _ = try records.put(bytes("more \(index)"), [1])
            expected[bytes("more \(index)")] = [1]
        }
        records.close()
        try store.tamper(
            "ATTACH '\(copy.file)' AS old", "DELETE FROM \(table)",
            "INSERT INTO \(table) SELECT * FROM old.\(table)")
        let found = try Findings(store, expected)
        #expect(found.damaged >= 150, "\(found)")
    }

    @Test("a file cut short is damage or keeps every value right", arguments: 0..<12)
    func truncated(twelfth: Int) throws {
        let store = try Store()
        try store.filled(Self.count)
        let whole = try contents(store.folder.file)
        try write(Array(whole.prefix(whole.count * twelfth / 12)), to: store.folder.file)
        let found = try Findings(store, Self.expected())
        #expect(found.damaged > 0)
    }

    @Test(
        "a bit flipped anywhere in the file is damage or leaves every value right", arguments: 0..<8
    )
    func flipped(part: Int) throws {
        let store = try Store()
        try store.filled(50)
        let whole = try contents(store.folder.file)
        let expected = Dictionary(
            uniqueKeysWithValues: (0..<50).map { (bytes("name \($0)"), bytes("value \($0)")) })
        var random = Steady(state: UInt64(part))
        var damaged = 0
        for round in 0..<300 {
            // Every page in turn. Every second change is in the first 160 bytes, where SQLite's own
            // data is.
            let page = (round * 8 + part) % (whole.count / 4096)
            let offset = round % 2 == 0 ? Int(random.next() % 160) : Int(random.next() % 4096)
            var changed = whole
            changed[page * 4096 + offset] ^= 1 << UInt8(random.next() % 8)
            try write(changed, to: store.folder.file)
            damaged += try Findings(store, expected).damaged
            try remove(store.folder.log)
        }
        #expect(damaged > 0)
    }

    @Test("after a flipped bit, writing goes on without a wrong value", arguments: 0..<4)
    func writingAfterFlip(part: Int) throws {
        let store = try Store()
        try store.filled(50)
        let whole = try contents(store.folder.file)
        var random = Steady(state: UInt64(part + 100))
        for round in 0..<60 {
            let page = (round * 4 + part) % (whole.count / 4096)
            let offset = round % 2 == 0 ? Int(random.next() % 160) : Int(random.next() % 4096)
            var changed = whole
            changed[page * 4096 + offset] ^= 1 << UInt8(random.next() % 8)
            try write(changed, to: store.folder.file)
            var expected = Dictionary(
                uniqueKeysWithValues: (0..<50).map { (bytes("name \($0)"), bytes("value \($0)")) })
            if let records = try? store.open() {
                for index in 40..<70 {
                    let name = bytes("name \(index)")
                    let change =
                        index % 3 == 0 ? Change.delete(name: name) : set(name, [UInt8(index & 255)])
                    guard let result = try? records.apply([change]) else { continue }
                    switch result[0] {
                    case .stored, .replaced: expected[name] = [UInt8(index & 255)]
                    case .deleted, .absent: expected[name] = nil
                    case .damaged, .collision, .nameRefused, .tooLarge, .noRoom: break
                    }
                }
                records.close()
            }
            _ = try Findings(store, expected)
            try remove(store.folder.log)
        }
    }
}
