import Posix
import Secrets
import Testing

@testable import SealedStore

/// Tests/Vectors/records.txt, records*.db and records-export.bin: files that FORMAT.md, the checker
/// in Python and this code have to agree on. APPVAULT_RENEW=1 writes the files anew.
@Suite(.serialized) struct VectorTests {
    private static let vectors =
        #filePath.split(separator: "/").dropLast(2).reduce("") { "\($0)/\($1)" } + "/Vectors"

    static let id = Array(UInt8(0)..<16)
    static let passphrase = "export words"

    static func key() throws -> SecretBytes {
        try SecretBytes(copying: Array(UInt8(0xd0)..<0xf0).span)
    }

    static func expected() -> [[UInt8]: [UInt8]] {
        var all = Dictionary(
            uniqueKeysWithValues: (0..<150).map { (bytes("record \($0)"), bytes("value \($0)")) })
        all[bytes("record 3")] = nil
        all[bytes("record 4")] = []
        all[bytes("record 5")] = [UInt8](repeating: 0x61, count: 3000)
        all[[0xff, 0x00]] = bytes("not text")
        return all
    }

    private static func isRenewed() throws -> Bool {
        (try? TextFile.read(at: "/proc/self/environ", limit: 1 << 20))
            .map { String(decoding: $0, as: UTF8.self).contains("APPVAULT_RENEW=1") } == true
    }

    private static func renew() throws {
        guard try isRenewed() else { return }
        let folder = try TemporaryFolder()
        let records = try Records.create(inFolder: folder.path, id: id, key: try key())
        for index in 0..<150 {
            _ = try records.put(bytes("record \(index)"), bytes("value \(index)"))
        }
        _ = try records.remove(bytes("record 3"))
        for (name, value) in expected() where try records.get(name) != value {
            _ = try records.put(name, value)
        }
        let cost = try KeyDerivation.Cost(memoryKiB: 1024, passes: 2)
        let salt = Array(UInt8(0x20)..<0x30)
        let exportKey = try KeyDerivation.derive(try .of(passphrase), salt: salt, cost: cost)
        let writer = try ExportWriter(key: exportKey, salt: salt, cost: cost)
        var file = writer.header
        while let piece = try writer.next(from: records) { file += piece }
        records.close()
        try write(try contents(folder.file), to: vectors + "/records.db")
        try write(file, to: vectors + "/records-export.bin")
    }

    /// A store of ten records, of which three were damaged: one was stored anew, with nothing else
    /// wrong; one was stored anew beside one that was removed; and one is damaged still.
    private static func renewMarked() throws {
        let folder = try TemporaryFolder()
        let records = try Records.create(inFolder: folder.path, id: id, key: try key())
        var row: [[UInt8]: Int64] = [:]
        for (name, value) in marked() {
            _ = try records.put(name, value)
            row[name] = try records.ready().keys.identity(of: name.span).row
        }
        records.close()
        do {
            let tamperer = try Tamperer(folder.file)
            for name in ["record 0", "record 1"] {
                let row = row[bytes(name)] ?? 0
                try tamperer.run("UPDATE records SET body=zeroblob(64) WHERE id=\(row)")
            }
            let other = row[bytes("record 2")] ?? 0
            try tamperer.run("DELETE FROM records WHERE id=\(other)")
            try tamperer.run("PRAGMA wal_checkpoint(TRUNCATE)")
        }
        let again = try Records(opening: folder.path, id: id, key: try key())
        for name in ["record 0", "record 2"] {
            _ = try again.put(bytes(name), bytes("anew"))
        }
        _ = try again.remove(bytes("record 1"))
        #expect(again.marked == 3)
        again.close()
        try write(try contents(folder.file), to: vectors + "/records-marked.db")
    }

    static func newKey() throws -> SecretBytes {
        try SecretBytes(copying: Array(UInt8(0xb0)..<0xd0).span)
    }

    /// The store of records.db, sealed anew.
    private static func renewRekeyed() throws {
        let folder = try TemporaryFolder()
        try write(try contents(vectors + "/records.db"), to: folder.file)
        let records = try Records(opening: folder.path, id: id, key: try key())
        let coming = try ComingRecords.begin(
            inFolder: folder.path, id: id, key: try newKey(), keyGeneration: 2)
        while try !coming.copyNext(from: records).isDone {}
        let finished = try coming.finish(after: records)
        records.close()
        try finished.switchOver()
        try write(try contents(folder.file), to: vectors + "/records-rekeyed.db")
    }

    @Test("the vectors that were sealed anew open with their own key, and hold the same")
    func rekeyed() throws {
        if try Self.isRenewed() { try Self.renewRekeyed() }
        let folder = try TemporaryFolder()
        try write(try contents(Self.vectors + "/records-rekeyed.db"), to: folder.file)
        let records = try Records(
            opening: folder.path, id: Self.id, key: try Self.newKey(), keyGeneration: 2)
        try records.expect(Self.expected())
        #expect(records.generation > 150)
    }

    static func marked() -> [[UInt8]: [UInt8]] {
        Dictionary(
            uniqueKeysWithValues: (0..<10).map { (bytes("record \($0)"), bytes("value \($0)")) })
    }

    @Test("the marked file of the vectors opens, and the owner can acknowledge its damage")
    func marked() throws {
        if try Self.isRenewed() { try Self.renewMarked() }
        let folder = try TemporaryFolder()
        try write(try contents(Self.vectors + "/records-marked.db"), to: folder.file)
        let records = try Records(opening: folder.path, id: Self.id, key: try Self.key())
        try records.verify(buckets: 0..<Records.bucketCount)
        #expect(records.marked == 3)
        var expected = Self.marked()
        expected[bytes("record 0")] = bytes("anew")
        expected[bytes("record 1")] = nil
        expected[bytes("record 2")] = bytes("anew")
        let page = try records.listing()
        #expect(Set(page.names) == Set(expected.keys))
        #expect(page.damaged.map(\.kind) == [.missing])
        for (name, value) in expected { #expect(try records.get(name) == value) }
        #expect(try records.mend() == Mended())
        #expect(try records.listing().damaged.isEmpty)
    }

    @Test("the file of the vectors opens, and holds what records.txt says")
    func records() throws {
        try Self.renew()
        let folder = try TemporaryFolder()
        try write(try contents(Self.vectors + "/records.db"), to: folder.file)
        let records = try Records(opening: folder.path, id: Self.id, key: try Self.key())
        try records.verify(buckets: 0..<Records.bucketCount)
        let expected = Self.expected()
        #expect(records.count == UInt64(expected.count))
        #expect(Set(try records.allNames()) == Set(expected.keys))
        for (name, value) in expected { #expect(try records.get(name) == value) }
    }

    @Test("the export of the vectors is read to its end")
    func export() throws {
        let file = try contents(Self.vectors + "/records-export.bin")
        let header = try ExportTests.header(Array(file.prefix(60)))
        let key = try KeyDerivation.derive(
            try .of(Self.passphrase), salt: header.salt, cost: header.cost)
        let reader = try ExportReader(header: header, key: key)
        let store = try Store()
        let records = try store.create()
        let rest = Array(file.dropFirst(60))
        try reader.store(rest.span, in: records, replace: true)
        try reader.finish()
        let expected = Self.expected()
        #expect(records.count == UInt64(expected.count))
        for (name, value) in expected { #expect(try records.get(name) == value) }
    }
}
