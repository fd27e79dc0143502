import Posix
import Testing

@testable import SealedStore

@Suite struct RoomTests {
    private static let page = 4096

    private func value(_ size: Int, _ byte: UInt8 = 1) -> [UInt8] {
        [UInt8](repeating: byte, count: size)
    }

    @Test("an empty records file takes what a new store is said to take")
    func new() throws {
        let store = try Store()
        let records = try store.create()
        records.close()
        #expect(Records.size(inFolder: store.folder.path).total <= Records.sizeOfNew)
        #expect(Records.size(inFolder: store.folder.path).total > Records.sizeOfNew / 2)
    }

    @Test(
        "a record takes at most what is reckoned for it, at every size",
        arguments: [0, 1, 100, 480, 2000, 3900, 3990, 4060, 4100, 8100, 8190, 70_000, 1 << 20])
    func reckoned(size: Int) throws {
        let store = try Store()
        let records = try store.create()
        for number in 0..<20 {
            let change = set(bytes("\(number)"), value(size))
            let before = try #require(records.size)
            #expect(try records.apply([change]) == [.stored])
            let grown = try #require(records.size).file - before.file
            #expect(grown <= Records.most([change]), "\(size)")
            // Pages that belong only to this value are counted exactly.
            let own = RowSize(change).own
            #expect(own == 0 || grown >= own)
        }
    }

    @Test("a batch is stored as far as the owner's room goes, and deleting needs none")
    func owner() throws {
        let store = try Store()
        let records = try store.create()
        let before = try #require(records.size).file
        let changes = (0..<10).map { set(bytes("\($0)"), value(100_000)) }
        let results = try records.apply(changes, within: Room(owner: 350_000, disk: nil))
        #expect(results.prefix(3).allSatisfy { $0 == .stored })
        #expect(results.dropFirst(3).allSatisfy { $0 == .noRoom(.owner) })
        #expect(try #require(records.size).file - before <= 350_000 + 6 * Self.page)
        let none = Room(owner: 0, disk: nil)
        // A value of the same size or a smaller one in the same place is no growth; a larger one
        // is.
        #expect(
            try records.apply([set(bytes("1"), value(100_000, 2))], within: none) == [.replaced])
        #expect(try records.apply([set(bytes("1"), value(99, 2))], within: none) == [.replaced])
        #expect(
            try records.apply([set(bytes("2"), value(300_000))], within: none)
                == [.noRoom(.owner)])
        #expect(try records.get(bytes("2")) == value(100_000))
        #expect(try records.apply([.delete(name: bytes("2"))], within: none) == [.deleted])
        // The room of the deleted value is free for another.
        #expect(try records.apply([set(bytes("3"), value(100_000))], within: none) == [.stored])
        #expect(records.count == 3)
        records.close()
        let again = try store.open()
        try again.verify(buckets: 0..<Records.bucketCount)
        #expect(again.count == 3)
    }

    @Test("where more is taken than may be, places of deleted records are no room either")
    func excess() throws {
        let store = try Store()
        let records = try store.create()
        #expect(try records.put(bytes("a"), value(100_000)) == .stored)
        #expect(try records.remove(bytes("a")) == .deleted)
        let over = Room(owner: -60_000, disk: nil)
        let small = set(bytes("b"), value(30_000))
        let large = set(bytes("c"), value(90_000))
        #expect(try records.apply([large], within: over) == [.noRoom(.owner)])
        #expect(try records.apply([small], within: over) == [.stored])
    }

    @Test("what the disk has left goes to the log and to the file")
    func disk() throws {
        let store = try Store()
        let records = try store.create()
        let changes = (0..<10).map { set(bytes("\($0)"), value(100_000)) }
        let results = try records.apply(changes, within: Room(owner: nil, disk: 650_000))
        #expect(results.count { $0 == .stored } == 3)
        #expect(results.last == .noRoom(.disk))
        #expect(
            try records.apply([.delete(name: bytes("0"))], within: Room(owner: nil, disk: 0))
                == [.deleted])
    }

    @Test("what deleted records have left goes back to the disk, and the rest stays whole")
    func shrink() throws {
        let store = try Store()
        let records = try store.create()
        for first in stride(from: 0, to: 400, by: 50) {
            _ = try records.apply(
                (first..<first + 50).map { set(bytes("\($0)"), value(10_000, UInt8($0 % 251))) })
        }
        let full = Records.length(store.folder.file)
        for number in 0..<400 where number % 8 != 0 {
            #expect(try records.remove(bytes("\(number)")) == .deleted)
        }
        #expect(try #require(records.size).free > full / 2)
        var left = Int.max
        while left > 0 {
            let now = try records.shrink()
            #expect(now < left)
            left = now
        }
        records.emptyLog()
        #expect(Records.length(store.folder.file) < full / 4)
        #expect(Records.length(store.folder.log) == 0)
        records.close()
        let again = try store.open()
        try again.verify(buckets: 0..<Records.bucketCount)
        #expect(again.count == 50)
        for number in stride(from: 0, to: 400, by: 8) {
            #expect(try again.get(bytes("\(number)")) == value(10_000, UInt8(number % 251)))
        }
        #expect(try again.shrink() == 0)
    }
}
