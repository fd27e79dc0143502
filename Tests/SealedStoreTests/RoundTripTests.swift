import Posix
import Secrets
import Testing

@testable import SealedStore

@Suite struct RoundTripTests {
    @Test(
        "a value of any size comes back as it was, also after closing",
        arguments: [0, 1, 64, 1000, 4061, 65_536, 1 << 20])
    func values(size: Int) throws {
        let store = try Store()
        var random = Steady(state: UInt64(size))
        let value = random.bytes(size)
        let records = try store.create()
        #expect(try records.put(bytes("a"), value) == .stored)
        #expect(try records.get(bytes("a")) == value)
        records.close()
        let again = try store.open()
        #expect(try again.get(bytes("a")) == value)
        #expect(again.count == 1)
    }

    @Test("the keys of open records open them again, and other bytes do not")
    func handedOver() throws {
        let store = try Store()
        let records = try store.create()
        #expect(try records.put(bytes("a"), bytes("one")) == .stored)
        var keys = try records.keys()
        records.close()
        #expect(throws: RecordsError.closed) { _ = try records.keys().count }
        let again = try store.open(with: keys)
        #expect(try again.get(bytes("a")) == bytes("one"))
        #expect(try again.put(bytes("b"), bytes("two")) == .stored)
        again.close()
        #expect(try store.open().get(bytes("b")) == bytes("two"))
        // The last bytes are of the key of the seals.
        keys.wipe(keys.count - 1..<keys.count)
        #expect(throws: RecordsError.damaged(.head)) { _ = try store.open(with: keys) }
        keys.shorten(to: 32)
        #expect(throws: RecordsError.damaged(.file)) { _ = try store.open(with: keys) }
    }

    @Test("each commit has a mark of its own, also beside one of the same number")
    func marks() throws {
        let store = try Store()
        var records = try store.create()
        #expect(try records.put(bytes("a"), bytes("one")) == .stored)
        let first = try #require(records.mark)
        records.close()
        #expect(records.mark == nil)
        let before = try contents(store.folder.file)
        records = try store.open()
        #expect(records.mark == first)
        #expect(try records.put(bytes("b"), bytes("two")) == .stored)
        let (second, number) = (try #require(records.mark), records.generation)
        #expect(second != first)
        records.close()
        try write(before, to: store.folder.file)
        records = try store.open()
        #expect(records.mark == first)
        #expect(try records.put(bytes("b"), bytes("two")) == .stored)
        #expect(records.generation == number && records.mark != second && records.mark != first)
    }

    @Test("a name is any 1 to 255 bytes")
    func names() throws {
        let store = try Store()
        var records = try store.create()
        var random = Steady(state: 3)
        let names = (1...255).map { random.bytes($0) }
        for name in names { #expect(try records.put(name, [UInt8(name.count)]) == .stored) }
        records.close()
        records = try store.open()
        for name in names { #expect(try records.get(name) == [UInt8(name.count)]) }
        #expect(Set(try records.allNames()) == Set(names))
        #expect(try records.get(names[254] + [0]) == nil)
    }

    @Test("no name, a long name and a large value are refused, each for itself")
    func refusals() throws {
        let store = try Store()
        let records = try store.create()
        let results = try records.apply([
            set([], [1]), set([UInt8](repeating: 1, count: 256), [1]),
            set([1], [UInt8](repeating: 0, count: 1 << 20 + 1)), set([2], [2]), .delete(name: [3]),
        ])
        #expect(results == [.nameRefused, .nameRefused, .tooLarge, .stored, .absent])
        #expect(records.count == 1)
        #expect(try records.get([]) == nil)
    }

    @Test("many changes of one name in one transaction happen in their order")
    func order() throws {
        let store = try Store()
        let records = try store.create()
        let name = bytes("n")
        let results = try records.apply([
            set(name, [1]), set(name, [2]), .delete(name: name), .delete(name: name),
            set(name, [3]),
        ])
        #expect(results == [.stored, .replaced, .deleted, .absent, .stored])
        #expect(try records.get(name) == [3])
        records.close()
        let again = try store.open()
        #expect(try again.get(name) == [3])
        #expect(again.count == 1)
        try again.verify(buckets: 0..<Records.bucketCount)
    }

    @Test(
        "thousands of sets fold the journal, and each reopening verifies", arguments: [1, 7, 150])
    func folding(batch: Int) throws {
        let store = try Store()
        var records = try store.create()
        var random = Steady(state: 1)
        var expected: [[UInt8]: [UInt8]] = [:]
        for round in 0..<30 {
            for _ in 0..<max(1, 70 / batch) {
                var changes: [Change] = []
                for _ in 0..<batch {
                    let name = bytes("name \(random.next() % 900)")
                    if random.next() % 5 == 0 {
                        changes.append(.delete(name: name))
                        expected[name] = nil
                    } else {
                        let value = random.bytes(Int(random.next() % 200))
                        changes.append(set(name, value))
                        expected[name] = value
                    }
                }
                _ = try records.apply(changes)
            }
            if round % 3 == 0 {
                records.close()
                records = try store.open()
                try records.verify(buckets: 0..<Records.bucketCount)
            }
        }
        #expect(records.count == UInt64(expected.count))
        for (name, value) in expected { #expect(try records.get(name) == value) }
        #expect(Set(try records.allNames()) == Set(expected.keys))
    }

    @Test("a listing gives each name once, whatever the page", arguments: [1, 7, 1024])
    func listing(limit: Int) throws {
        let store = try Store()
        try store.filled(300)
        let records = try store.open()
        let all = (0..<300).map { bytes("name \($0)") }
        let listed = try records.allNames(limit: limit)
        #expect(listed.count == 300)
        #expect(Set(listed) == Set(all))
        #expect(Set(try records.allNames(prefix: bytes("name 29"), limit: limit)).count == 11)
        #expect(try records.allNames(prefix: bytes("other"), limit: limit).isEmpty)
    }

    @Test("the slab holds nothing where nothing was found, and what is behind the record stays")
    func slab() throws {
        let store = try Store()
        let records = try store.create()
        _ = try records.put(bytes("a"), bytes("secret"))
        var slab = [UInt8](repeating: 0xee, count: Records.slabSize)
        var span = slab.mutableSpan
        let range = try #require(try records.value(of: bytes("a"), into: &span))
        #expect(Array(slab[range]) == bytes("secret"))
        #expect(slab[64...].allSatisfy { $0 == 0xee })
        var small = [UInt8](repeating: 0, count: 63)
        var tooSmall = small.mutableSpan
        #expect(throws: RecordsError.bufferTooSmall) {
            try records.value(of: bytes("a"), into: &tooSmall)
        }
    }

    @Test("what is closed is refused")
    func closed() throws {
        let store = try Store()
        let records = try store.create()
        records.close()
        #expect(throws: RecordsError.closed) { try records.get(bytes("a")) }
        #expect(throws: RecordsError.closed) { try records.put(bytes("a"), []) }
        #expect(try store.folder.names() == ["records.db"])
    }

    @Test("a file is made once, and opened only where there is one")
    func existence() throws {
        let store = try Store()
        #expect(throws: RecordsError.missing) { try store.open() }
        try store.create().close()
        #expect(throws: RecordsError.exists) { try store.create() }
        #expect(throws: RecordsError.damaged(.head)) { try store.open(id: Array(2...17)) }
    }

    @Test("destroying leaves nothing, and may be done again")
    func destroy() throws {
        let store = try Store()
        try store.filled(10)
        try Records.destroy(inFolder: store.folder.path)
        #expect(try store.folder.names() == [])
        try Records.destroy(inFolder: store.folder.path)
        #expect(throws: RecordsError.missing) { try store.open() }
    }

    @Test(
        "a size class wastes little and hides the length",
        arguments: [5, 64, 65, 1000, 2049, 70_000, 1_048_836])
    func classes(size: Int) {
        let padded = RecordBody.padded(size)
        #expect(padded >= size)
        #expect(padded - size < 64 || Double(padded - size) <= Double(size) * 0.0625)
        #expect(RecordBody.padded(padded) == padded)
    }
}
