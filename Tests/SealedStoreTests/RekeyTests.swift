import Posix
import Secrets
import Testing

@testable import SealedStore

extension Store {
    /// Seals everything anew, and calls `between` after each piece with how many were copied.
    func rekey(
        _ records: Records, atMost count: Int = ComingRecords.usualPiece,
        between: (ComingRecords, Int) throws -> Void = { _, _ in }
    ) throws {
        let coming = try begin()
        var isDone = false
        while !isDone {
            let progress = try coming.copyNext(from: records, atMost: count)
            try between(coming, progress.copied)
            isDone = progress.isDone
        }
        let finished = try coming.finish(after: records)
        records.close()
        try finished.switchOver()
        try ComingRecords.sweep(inFolder: folder.path)
    }
}

extension Records {
    /// These records, each as it is given here, and no others.
    func expect(_ expected: [[UInt8]: [UInt8]]) throws {
        try verify(buckets: 0..<Records.bucketCount)
        #expect(count == UInt64(expected.count))
        #expect(Set(try allNames()) == Set(expected.keys))
        for (name, value) in expected { #expect(try get(name) == value) }
    }
}

@Suite struct RekeyTests {
    static func numbered(_ count: Int) -> [[UInt8]: [UInt8]] {
        Dictionary(
            uniqueKeysWithValues: (0..<count).map { (bytes("name \($0)"), bytes("value \($0)")) })
    }

    @Test("a store that is sealed anew holds the same, and only the new key opens it")
    func whole() throws {
        let store = try Store()
        try store.filled(1000)
        #expect(try store.isOpened() == (true, false))
        let records = try store.open()
        let last = records.generation
        try store.rekey(records)
        #expect(try store.isOpened() == (false, true))
        #expect(try store.folder.names() == ["records.db"])
        #expect(throws: RecordsError.damaged(.head)) { try store.open() }
        #expect(throws: RecordsError.damaged(.head)) { try store.openNew(keyGeneration: 1) }
        #expect(throws: RecordsError.damaged(.head)) { try store.openNew(keyGeneration: 3) }
        #expect(try store.folder.names() == ["records.db"])
        let again = try store.openNew(noted: last)
        #expect(again.log == .whole)
        #expect(again.generation > last)
        try again.expect(Self.numbered(1000))
        #expect(try again.put(bytes("name 7"), bytes("later")) == .replaced)
    }

    @Test("a store of the first key generation is one that says nothing of it")
    func first() throws {
        let store = try Store()
        try store.filled(3)
        let records = try store.open()
        #expect(try records.ready().keys.all().count == 80)
        let copied = try records.keys()
        records.close()
        let again = try Records(
            opening: store.folder.path, id: store.id, key: copied, .recordKeys, keyGeneration: 1)
        #expect(again.count == 3)
        again.close()
        #expect(throws: RecordsError.damaged(.head)) {
            try Records(
                opening: store.folder.path, id: store.id, key: copied, .recordKeys,
                keyGeneration: 2)
        }
    }

    @Test("copied keys open what was sealed anew, with its generation")
    func copiedKeys() throws {
        let store = try Store()
        try store.filled(20)
        try store.rekey(try store.open())
        let records = try store.openNew()
        let copied = try records.keys()
        records.close()
        #expect(throws: RecordsError.damaged(.head)) { try store.open(with: copied) }
        let again = try Records(
            opening: store.folder.path, id: store.id, key: copied, .recordKeys, keyGeneration: 2)
        try again.expect(Self.numbered(20))
    }

    @Test(
        "what is set, replaced and deleted between the pieces is followed up",
        arguments: [1, 2, 3, 4], [1, 7, 64])
    func followed(seed: UInt64, piece: Int) throws {
        let store = try Store()
        try store.filled(400)
        let records = try store.open()
        var expected = Self.numbered(400)
        var random = Steady(state: seed)
        var changed: [[UInt8]] = []
        try store.rekey(records, atMost: piece) { coming, _ in
            for _ in 0..<(random.next() % 4) {
                let name = bytes("name \(random.next() % 600)")
                changed.append(name)
                if random.next() % 3 == 0 {
                    _ = try records.remove(name)
                    expected[name] = nil
                } else {
                    let value = random.bytes(Int(random.next() % 9000))
                    _ = try records.put(name, value)
                    expected[name] = value
                }
            }
            // Some of them more than once.
            if random.next() % 3 == 0 {
                try coming.follow(changed, from: records)
                changed = []
            }
            if random.next() % 20 == 0 { try coming.sync() }
            try coming.follow(changed, from: records)
        }
        try store.openNew().expect(expected)
    }

    @Test("what changed and was not followed up is noticed where records are missing or too many")
    func forgotten() throws {
        let store = try Store()
        try store.filled(100)
        let records = try store.open()
        let coming = try store.begin()
        while try !coming.copyNext(from: records).isDone {}
        _ = try records.put(bytes("one more"), [1])
        #expect(throws: RecordsError.self) { try coming.finish(after: records) }
        try coming.follow([bytes("one more")], from: records)
        _ = try records.remove(bytes("name 7"))
        #expect(throws: RecordsError.self) { try coming.finish(after: records) }
        try coming.follow([bytes("name 7")], from: records)
        _ = try coming.finish(after: records)
        #expect(throws: RecordsError.closed) { try coming.copyNext(from: records) }
    }

    @Test("copies that are not all of them do not finish")
    func early() throws {
        let store = try Store()
        let records = try store.create()
        let coming = try store.begin()
        #expect(throws: RecordsError.self) { try coming.finish(after: records) }
        while try !coming.copyNext(from: records).isDone {}
        _ = try coming.finish(after: records)
    }

    @Test("an empty store, and one with a single record, are sealed anew", arguments: [0, 1])
    func few(count: Int) throws {
        let store = try Store()
        try store.filled(count)
        let records = try store.open()
        var pieces = 0
        try store.rekey(records) { _, copied in
            pieces += 1
            #expect(copied <= count)
        }
        // Buckets without a record take their time, too.
        #expect(pieces == 16)
        try store.openNew().expect(Self.numbered(count))
    }

    @Test("each piece has no more records than it may, and a large one is alone in it")
    func pieces() throws {
        let store = try Store()
        let records = try store.create()
        var expected: [[UInt8]: [UInt8]] = [:]
        for number in 0..<60 {
            let name = [UInt8](repeating: UInt8(number), count: number % 3 == 0 ? 255 : 1)
            let size = number % 10 == 0 ? 1 << 20 : number % 10 == 1 ? 40_000 : 100
            expected[name] = [UInt8](repeating: UInt8(number), count: size)
            #expect(try records.put(name, expected[name] ?? []) == .stored)
        }
        var before = 0
        var fullest = 0
        var last = 0
        try store.rekey(records, atMost: 7) { coming, copied in
            fullest = max(fullest, copied - before)
            let wasLarge = try #require(coming.records).size.file - last > 1 << 20
            #expect(!wasLarge || copied - before == 1 || last == 0)
            last = try #require(coming.records).size.file
            before = copied
        }
        #expect(before == 60)
        #expect(fullest > 1 && fullest <= 7)
        try store.openNew().expect(expected)
    }

    @Test("a large record is followed up, too, and a name that cannot be one is passed over")
    func large() throws {
        let store = try Store()
        try store.filled(5)
        let records = try store.open()
        var expected = Self.numbered(5)
        try store.rekey(records) { coming, copied in
            guard copied == 5 else { return }
            var names: [[UInt8]] = [[], [UInt8](repeating: 1, count: 256)]
            for number in 0..<5 {
                let name = [UInt8](repeating: UInt8(number + 65), count: 255)
                expected[name] = [UInt8](repeating: 9, count: (1 << 20) - number)
                _ = try records.put(name, expected[name] ?? [])
                names.append(name)
            }
            try coming.follow(names, from: records)
        }
        try store.openNew().expect(expected)
    }

    @Test("a store is sealed anew again and again, each time under the next key generation")
    func again() throws {
        let store = try Store()
        try store.filled(50)
        try store.rekey(try store.open())
        var generation: UInt64 = 0
        for keyGeneration: UInt32 in 3...5 {
            let key = try SecretBytes(
                copying: [UInt8](repeating: UInt8(keyGeneration), count: 32).span)
            let before = try SecretBytes(
                copying: [UInt8](
                    repeating: keyGeneration == 3 ? 8 : UInt8(keyGeneration - 1), count: 32
                ).span)
            let records = try Records(
                opening: store.folder.path, id: store.id, key: before, noted: generation,
                keyGeneration: keyGeneration - 1)
            #expect(records.log == .whole)
            try records.expect(Self.numbered(50))
            let coming = try ComingRecords.begin(
                inFolder: store.folder.path, id: store.id, key: key, keyGeneration: keyGeneration)
            while try !coming.copyNext(from: records).isDone {}
            generation = records.generation
            let finished = try coming.finish(after: records)
            records.close()
            try finished.switchOver()
            try ComingRecords.sweep(inFolder: store.folder.path)
        }
    }

    @Test("a log that a kill has left stays as it is when it is asked which key opens the records")
    func asked() throws {
        let folder = try TemporaryFolder()
        let store = try LogTests.killed(commits: 12, into: folder)
        let log = try contents(folder.log)
        try LogTests.restore(folder, log, to: store)
        #expect(try store.isOpened() == (true, false))
        #expect(try contents(store.folder.log) == log)
        #expect(try contents(store.folder.file) == contents(folder.file))
        // Nothing is put right either.
        var wrong = log
        wrong[5000] ^= 1
        try LogTests.restore(folder, wrong, to: store)
        #expect(try store.isOpened() == (true, false))
        #expect(try contents(store.folder.log) == wrong)
        let records = try store.open()
        #expect(records.log == .repaired)
        records.close()
        try store.tamper("CREATE TABLE other(id)")
        #expect(throws: RecordsError.damaged(.file)) { try store.isOpened() }
        try remove(store.folder.file)
        #expect(throws: RecordsError.missing) { try store.isOpened() }
        try write(bytes("no records"), to: store.folder.file)
        #expect(throws: RecordsError.damaged(.file)) { try store.isOpened() }
    }
}
