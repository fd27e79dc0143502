import Testing

@testable import SealedStore

extension Records {
    fileprivate func bringBackAndMend() throws -> Mended {
        let found = try bringBack()
        var mended = try mend()
        mended.found = found
        return mended
    }
}

/// Damage to a page as such: SQLite cannot read it, or reads it wrong, and the rows that lie in it
/// are whole.
@Suite("rows that lie in damaged pages") struct RescueTests {
    static let count = 200
    /// One in ten lies on further pages, and one in a hundred on many.
    static func value(_ index: Int) -> [UInt8] {
        let size = index % 100 == 7 ? 90_000 : index % 10 == 3 ? 5_000 : 20
        return [UInt8](repeating: UInt8(truncatingIfNeeded: index), count: size)
    }

    static func filled() throws -> Store {
        let store = try Store(in: "/dev/shm")
        try store.filled(count, value: value)
        return store
    }

    /// The values of the names that are there; all others are refused or not there.
    static func check(
        _ records: Records, has names: Range<Int> = 0..<count, but gone: Set<Int> = []
    ) throws {
        for index in names where !gone.contains(index) {
            #expect(try records.get(bytes("name \(index)")) == value(index), "\(index)")
        }
    }

    /// Every page of a tree: where it is, its type, and how many cells it has.
    static func trees(_ file: [UInt8]) -> [(start: Int, type: UInt8, cells: Int)] {
        stride(from: 0, to: file.count, by: 4096).compactMap { start in
            let header = start == 0 ? 100 : start
            // Page 2 says where the others hang, and is none itself.
            guard start != 4096, [2, 5, 10, 13].contains(file[header]) else { return nil }
            let cells = Int(file[header + 3]) << 8 | Int(file[header + 4])
            guard cells > 0, cells < 400 else { return nil }
            return (start, file[header], cells)
        }
    }

    @Test("a bit in the head of a page or in one of its pointers costs no record", arguments: 0..<4)
    func flipped(part: Int) throws {
        let store = try Self.filled()
        let whole = try contents(store.folder.file)
        var random = Steady(state: UInt64(part))
        var (mended, repaired) = (0, 0)
        for (place, page) in Self.trees(whole).enumerated() where place % 4 == part {
            let header = page.start == 0 ? 100 : 0
            let size = (page.type == 5 ? 12 : 8) + 2 * page.cells
            // Bytes of the head, and some of the pointers.
            for offset in [0, 4] + (0..<3).map({ _ in Int(random.next() % UInt64(size)) }) {
                var changed = whole
                changed[page.start + header + offset] ^= 1 << UInt8(random.next() % 8)
                try write(changed, to: store.folder.file)
                let records = try store.open()
                if records.log == .repaired { repaired += 1 }
                // Whoever reads it finds the damage, and nothing wrong.
                for index in 0..<Self.count {
                    let found = try? records.get(bytes("name \(index)"))
                    #expect(
                        found == nil || found == Self.value(index), "\(index) \(page) \(offset)")
                }
                let before = records.damagedBuckets
                let found = try records.bringBackAndMend()
                #expect(found.removed == 0 && found.accepted == 0, "\(page) \(offset)")
                if before > 0 { mended += 1 }
                #expect(records.count == UInt64(Self.count))
                try Self.check(records)
                try records.verify(buckets: 0..<Records.bucketCount)
                records.close()
                try ComingRecords.sweep(inFolder: store.folder.path)
                #expect(try store.folder.names() == ["records.db"])
            }
        }
        #expect(mended > 10)
        #expect(part != 0 || repaired > 0)
    }

    @Test(
        "whole pages that are gone cost the rows that were in them, and no others",
        arguments: [0, 0xff, 0x0d])
    func gone(byte: UInt8) throws {
        let store = try Self.filled()
        let whole = try contents(store.folder.file)
        let leaves = Self.trees(whole).filter { $0.type == 13 && $0.cells > 8 }
        for page in leaves.prefix(5) {
            var changed = whole
            for offset in page.start..<page.start + 4096 { changed[offset] = byte }
            try write(changed, to: store.folder.file)
            let records = try store.open()
            let mended = try records.bringBackAndMend()
            #expect(mended.removed == 0)
            #expect(records.count >= UInt64(Self.count - 30) && records.count < UInt64(Self.count))
            #expect(Set(try records.allNames()).count == Int(records.count))
            // They can be stored anew.
            for index in 0..<Self.count {
                _ = try records.put(bytes("name \(index)"), Self.value(index))
            }
            try Self.check(records)
            records.close()
            let again = try store.open()
            try again.verify(buckets: 0..<Records.bucketCount)
            try Self.check(again)
        }
    }

    @Test("what was deleted or replaced does not come back", arguments: 0..<6)
    func stale(round: Int) throws {
        let store = try Store(in: "/dev/shm")
        let records = try store.create()
        var random = Steady(state: UInt64(round + 40))
        var expected: [[UInt8]: [UInt8]] = [:]
        for _ in 0..<60 {
            var changes: [Change] = []
            for _ in 0..<40 {
                let name = bytes("name \(random.next() % 300)")
                guard random.next() % 3 > 0 else {
                    changes.append(.delete(name: name))
                    expected[name] = nil
                    continue
                }
                let value = [UInt8](
                    repeating: UInt8(random.next() % 256), count: Int(random.next() % 700))
                changes.append(set(name, value))
                expected[name] = value
            }
            _ = try records.apply(changes)
        }
        records.close()
        let whole = try contents(store.folder.file)
        for page in Self.trees(whole) where page.start > 0 {
            var changed = whole
            // SQLite refuses the page; its rows are whole.
            changed[page.start] = 0x77
            try write(changed, to: store.folder.file)
            let damaged = try store.open()
            let mended = try damaged.bringBackAndMend()
            #expect(mended.removed == 0 && mended.accepted == 0, "\(page)")
            if page.type == 13, page.cells > 8 { #expect(mended.found > 0, "\(page)") }
            #expect(Set(try damaged.allNames()) == Set(expected.keys), "\(page)")
            for (name, value) in expected { #expect(try damaged.get(name) == value) }
        }
    }

    @Test("a file that SQLite cannot open, with a log that a kill has left")
    func withLog() throws {
        let store = try Self.filled()
        let records = try store.open()
        for index in 0..<20 { _ = try records.put(bytes("name \(index)"), bytes("anew")) }
        // As a killed process leaves them.
        let (file, log) = (try contents(store.folder.file), try contents(store.folder.log))
        records.close()
        for change in [0, 40, 97, 100, 103, 105] {
            var changed = file
            changed[change] ^= 0x10
            try write(changed, to: store.folder.file)
            try write(log, to: store.folder.log)
            let again = try store.open()
            for index in 0..<20 {
                #expect(try again.get(bytes("name \(index)")) == bytes("anew"), "\(change)")
            }
            try Self.check(again, has: 20..<Self.count)
            try again.verify(buckets: 0..<Records.bucketCount)
            again.close()
        }
    }

    @Test(
        "where not all is whole, what is whole opens, and the former file is kept"
    )
    func bothGone() throws {
        let store = try Self.filled()
        var changed = try contents(store.folder.file)
        let leaf = try #require(Self.trees(changed).last { $0.type == 13 && $0.cells > 8 })
        for offset in 0..<200 { changed[offset] = 0 }
        for offset in leaf.start..<leaf.start + 4096 { changed[offset] = 0 }
        try write(changed, to: store.folder.file)
        let records = try store.open()
        #expect(records.log == .whole)
        #expect(records.size?.keptLogs == 1)
        #expect(try store.folder.names().filter { $0.contains("lost") } == ["records.db-lost-1"])
        #expect(try contents(store.folder.path + "/records.db-lost-1") == changed)
        let page = try records.listing()
        #expect(page.names.count > 100 && !page.damaged.isEmpty)
        #expect(try records.bringBackAndMend().removed == 0)
        try records.verify(buckets: 0..<Records.bucketCount)
        records.close()
        try Records.removeKeptLogs(inFolder: store.folder.path)
        #expect(try store.folder.names() == ["records.db"])
    }

    @Test("a pointer one byte further on: the id is the same, and the row is cut short")
    func cutShort() throws {
        let store = try Self.filled()
        let whole = try contents(store.folder.file)
        for page in Self.trees(whole) where page.type == 13 && page.cells > 8 {
            for cell in 0..<page.cells {
                let pointer = page.start + 8 + 2 * cell
                let place = page.start + Int(whole[pointer]) << 8 + Int(whole[pointer + 1])
                // The length of the row takes two bytes, of which the second is one by itself.
                guard whole[place] & 0x80 != 0, whole[pointer + 1] < 0xff else { continue }
                var changed = whole
                changed[pointer + 1] += 1
                try write(changed, to: store.folder.file)
                let records = try store.open()
                let mended = try records.bringBackAndMend()
                #expect(mended.removed == 0 && mended.accepted == 0)
                try Self.check(records)
                records.close()
                break
            }
        }
    }

    @Test("a file that was cut: what is whole opens, and the rest is told of", arguments: [3, 4])
    func cut(part: Int) throws {
        let store = try Self.filled()
        let whole = try contents(store.folder.file)
        let rest = Array(whole[..<(whole.count / 4096 * part / 5 * 4096)])
        try write(rest, to: store.folder.file)
        let records = try store.open()
        #expect(records.log == .whole)
        #expect(try contents(store.folder.path + "/records.db-lost-1") == rest)
        #expect(try !records.listing().damaged.isEmpty)
        for index in 0..<Self.count {
            let found = try? records.get(bytes("name \(index)"))
            #expect(found == nil || found == Self.value(index), "\(index)")
        }
        _ = try records.bringBackAndMend()
        let names = try records.allNames()
        #expect(!names.isEmpty && names.count < Self.count)
        try records.verify(buckets: 0..<Records.bucketCount)
    }

    @Test("what a page hides from a bucket that was marked meanwhile is there after a mend")
    func hiddenBehindAMark() throws {
        let store = try Self.filled()
        var changed = try contents(store.folder.file)
        let leaf = try #require(Self.trees(changed).last { $0.type == 13 && $0.cells > 8 })
        changed[leaf.start + 4] -= 2
        try write(changed, to: store.folder.file)
        let records = try store.open()
        var hidden: [Int] = []
        for index in 0..<Self.count where (try? records.get(bytes("name \(index)"))) == nil {
            hidden.append(index)
        }
        #expect(hidden.count >= 2)
        // One of them is stored anew: from then on the bucket is whole but for what it owes.
        #expect(try records.put(bytes("name \(hidden[0])"), bytes("anew")) == .stored)
        #expect(records.marked == 1)
        _ = try records.bringBackAndMend()
        #expect(try records.get(bytes("name \(hidden[0])")) == bytes("anew"))
        for index in 0..<Self.count where index != hidden[0] {
            #expect(try records.get(bytes("name \(index)")) == Self.value(index), "\(index)")
        }
        #expect(records.count == UInt64(Self.count))
    }

    @Test("with a node that is gone, nothing that was deleted comes back")
    func nodeGone() throws {
        let store = try Self.filled()
        let before = try store.open()
        for index in stride(from: 0, to: Self.count, by: 2) {
            _ = try before.remove(bytes("name \(index)"))
        }
        before.close()
        try store.tamper("UPDATE nodes SET body=zeroblob(length(body)) WHERE id % 3=0")
        let records = try store.open()
        let mended = try records.bringBackAndMend()
        #expect(mended.found == 0 && mended.removed == 0 && mended.accepted > 0)
        #expect(records.count == UInt64(Self.count / 2))
        #expect(
            Set(try records.allNames())
                == Set(stride(from: 1, to: Self.count, by: 2).map { bytes("name \($0)") }))
    }

    @Test("where there is no room for a second file, nothing is begun")
    func noRoom() throws {
        let store = try Self.filled()
        var changed = try contents(store.folder.file)
        let leaf = try #require(Self.trees(changed).last { $0.type == 13 && $0.cells > 8 })
        changed[leaf.start] = 0x77
        try write(changed, to: store.folder.file)
        let records = try store.open()
        #expect(throws: RecordsError.full) { try records.bringBack(within: 1 << 20) }
        #expect(!(try store.folder.names().contains("records.new")))
        #expect(try records.bringBackAndMend().found > 0)
        try Self.check(records)
    }

    @Test("another store's file, or another key, is left as it is")
    func foreign() throws {
        let store = try Self.filled()
        var changed = try contents(store.folder.file)
        changed[100] = 0x77
        try write(changed, to: store.folder.file)
        #expect(throws: RecordsError.damaged(.file)) { try store.open(id: Array(2...17)) }
        #expect(throws: RecordsError.damaged(.file)) { try store.openNew() }
        #expect(try contents(store.folder.file) == changed)
        #expect(try store.folder.names() == ["records.db"])
        try Self.check(try store.open())
    }

    @Test("pages of chance hold nothing that leads out of them")
    func chance() {
        var random = Steady(state: 5)
        for _ in 0..<200 {
            var page = [UInt8](repeating: 0, count: 4096)
            for index in page.indices { page[index] = UInt8(truncatingIfNeeded: random.next()) }
            for _ in 0..<400 {
                // What records begin with, with a few wrong bytes.
                let start = Int(random.next() % 4070)
                let header: [UInt8] = [7, 0, 1, 44, 60, UInt8(128 | random.next() % 16), 12, 1]
                page.replaceSubrange(start..<start + 8, with: header)
            }
            for cell in Cell.all(in: page.span) {
                #expect(cell.start < 4096 && cell.columns.size > 0)
                #expect(cell.columns.body.upperBound <= RecordBody.largest + 64)
            }
        }
    }

    @Test(
        "a value that leads out of the file or round in a circle is one that is damaged",
        arguments: [0, 3, 9, 0xffff_ffff])
    func astray(number: UInt32) throws {
        let store = try Self.filled()
        var changed = try contents(store.folder.file)
        // A page with the rest of a value begins with the number of the next one.
        var page = 8192
        while !(changed[page..<page + 3] == [0, 0, 0] && changed[page + 3] > 0) { page += 4096 }
        for byte in 0..<4 {
            changed[page + byte] = UInt8(truncatingIfNeeded: number >> (24 - 8 * UInt32(byte)))
        }
        changed[100] = 0x77
        try write(changed, to: store.folder.file)
        let records = try store.open()
        #expect(try records.bringBackAndMend().removed <= 1)
        #expect(records.count == UInt64(Self.count - 1))
        try records.verify(buckets: 0..<Records.bucketCount)
    }
}
