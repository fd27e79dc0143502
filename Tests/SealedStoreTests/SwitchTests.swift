import Posix
import Secrets
import Testing

@testable import SealedStore

/// A crash at every step of a re-keying: the folder as it is then.
@Suite struct SwitchTests {
    /// The folder's files in another store's folder. A name of the same file stays one.
    static func copy(_ store: Store) throws -> Store {
        let copy = try Store()
        let (from, to) = (store.folder.path, copy.folder.path)
        let present = try FileIdentity(of: store.folder.file)
        for name in try store.folder.names() {
            if name == "records.old", try FileIdentity(of: "\(from)/\(name)") == present {
                continue
            }
            try write(try contents("\(from)/\(name)"), to: "\(to)/\(name)")
        }
        if try store.folder.names().contains("records.old"),
            try !copy.folder.names().contains("records.old")
        {
            try Folder(resolving: to).link("records.db", to: "records.old")
        }
        return copy
    }

    enum Truth { case old, new }

    /// What the next opening does: exactly one key opens, everything is there, and nothing else is
    /// left of the other.
    static func recover(_ store: Store, _ truth: Truth, _ expected: [[UInt8]: [UInt8]]) throws {
        #expect(try store.isOpened() == (truth == .old, truth == .new))
        let records = try truth == .old ? store.open() : store.openNew()
        #expect(records.log == .whole)
        try ComingRecords.sweep(inFolder: store.folder.path)
        #expect(try store.folder.names() == ["records.db", "records.db-wal"])
        try records.expect(expected)
        #expect(try records.put(bytes("after the crash"), [1]) == .stored)
        records.close()
        #expect(try store.folder.names() == ["records.db"])
        var expected = expected
        expected[bytes("after the crash")] = [1]
        // What is still to be done can be begun anew, and ended.
        if truth == .old { try store.rekey(try store.open()) }
        try store.openNew().expect(expected)
    }

    @Test("a crash while records are copied leaves the old file, with all that was answered")
    func copying() throws {
        let store = try Store()
        try store.filled(300)
        let records = try store.open()
        var expected = RekeyTests.numbered(300)
        let coming = try store.begin()
        try Self.recover(try Self.copy(store), .old, expected)
        var isDone = false
        var round = 0
        while !isDone {
            isDone = try coming.copyNext(from: records).isDone
            round += 1
            let name = bytes("name \(round * 7)")
            expected[name] = bytes("changed")
            _ = try records.put(name, bytes("changed"))
            if round % 5 == 0 { try Self.recover(try Self.copy(store), .old, expected) }
            try coming.follow([name], from: records)
            if round % 5 == 0 { try Self.recover(try Self.copy(store), .old, expected) }
        }
        try coming.sync()
        #expect(Records.length(store.folder.path + "/records.new-wal") == 0)
        try Self.recover(try Self.copy(store), .old, expected)
        _ = try coming.finish(after: records)
        try Self.recover(try Self.copy(store), .old, expected)
        // The store can go on even then.
        _ = try records.put(bytes("one more"), [2])
        expected[bytes("one more")] = [2]
        try Self.recover(try Self.copy(store), .old, expected)
        records.close()
        try Self.recover(try Self.copy(store), .old, expected)
    }

    /// A store whose copies are finished, both files closed.
    private func finished() throws -> (Store, FinishedRecords) {
        let store = try Store()
        try store.filled(300)
        let records = try store.open()
        let coming = try store.begin()
        while try !coming.copyNext(from: records).isDone {}
        let finished = try coming.finish(after: records)
        records.close()
        #expect(try store.folder.names() == ["records.db", "records.new"])
        return (store, finished)
    }

    @Test("a crash at each step of the switch leaves one of the two files whole")
    func switching() throws {
        let expected = RekeyTests.numbered(300)
        let (store, _) = try finished()
        let folder = try Folder(resolving: store.folder.path)
        try Self.recover(try Self.copy(store), .old, expected)
        try RecordsFolder(store.folder.path).linkFormer()
        let linked = try Self.copy(store)
        #expect(
            Records.size(inFolder: linked.folder.path).leftover
                == Records.length(store.folder.path + "/records.new"))
        try Self.recover(linked, .old, expected)
        try folder.rename("records.new", to: "records.db")
        #expect(try store.folder.names() == ["records.db", "records.old"])
        try Self.recover(try Self.copy(store), .new, expected)
        // While the former file is overwritten.
        let size = Records.length(store.folder.path + "/records.old")
        #expect(Records.size(inFolder: store.folder.path).leftover == size)
        for zeroes in [4096, size / 2, size] {
            try folder.file("records.old", .readWrite).write(
                [UInt8](repeating: 0, count: zeroes).span, at: 0)
            try Self.recover(try Self.copy(store), .new, expected)
        }
        try ComingRecords.sweep(inFolder: store.folder.path)
        try Self.recover(store, .new, expected)
    }

    @Test("the whole switch does what its steps do, and keeps the former file until it is swept")
    func steps() throws {
        let (store, finished) = try finished()
        let former = try contents(store.folder.file)
        try finished.switchOver()
        #expect(try store.folder.names() == ["records.db", "records.old"])
        #expect(try contents(store.folder.path + "/records.old") == former)
        // A second one finds nothing to switch to.
        #expect(throws: RecordsError.missing) {
            try finished.switchOver()
        }
        try Self.recover(store, .new, RekeyTests.numbered(300))
    }

    @Test("nothing of the former file is left on the disk")
    func zeroed() throws {
        let (store, finished) = try finished()
        let folder = try Folder(resolving: store.folder.path)
        let file = try folder.file("records.db", .read)
        let size = try file.size()
        try finished.switchOver()
        #expect(try !isZero(file))
        try ComingRecords.sweep(inFolder: store.folder.path)
        #expect(try file.size() == size)
        #expect(try isZero(file))
    }

    @Test("a former name of the file that is still the present one is only removed")
    func linked() throws {
        let (store, _) = try finished()
        let before = try contents(store.folder.file)
        try RecordsFolder(store.folder.path).linkFormer()
        // Each of those who may meet it.
        try ComingRecords.sweep(inFolder: store.folder.path)
        #expect(try contents(store.folder.file) == before)
        try RecordsFolder(store.folder.path).linkFormer()
        let records = try store.open()
        let coming = try store.begin()
        #expect(try !store.folder.names().contains("records.old"))
        try RecordsFolder(store.folder.path).linkFormer()
        try coming.abandon()
        records.close()
        #expect(try contents(store.folder.file) == before)
        #expect(try store.folder.names() == ["records.db", "records.old"])
        // And nothing of it is left where all is to be destroyed.
        let file = try Folder(resolving: store.folder.path).file("records.db", .read)
        try Records.destroy(inFolder: store.folder.path)
        #expect(try isZero(file))
        #expect(try store.folder.names().isEmpty)
    }

    @Test("where there is no present file, nothing is swept away")
    func alone() throws {
        let (store, _) = try finished()
        let folder = try Folder(resolving: store.folder.path)
        try folder.rename("records.db", to: "records.old")
        try ComingRecords.sweep(inFolder: store.folder.path)
        #expect(try store.folder.names() == ["records.new", "records.old"])
        try folder.rename("records.old", to: "records.db")
        try Self.recover(store, .old, RekeyTests.numbered(300))
    }

    @Test("a switch beside a log, or without a finished file, changes nothing")
    func refused() throws {
        let (store, finished) = try finished()
        for log in ["records.db-wal", "records.new-wal"] {
            try write([], to: store.folder.path + "/" + log)
            #expect(throws: RecordsError.busy) {
                try finished.switchOver()
            }
            try remove(store.folder.path + "/" + log)
        }
        try write([], to: store.folder.path + "/records.new")
        #expect(throws: RecordsError.damaged(.file)) {
            try finished.switchOver()
        }
        #expect(try store.folder.names() == ["records.db", "records.new"])
        try Self.recover(store, .old, RekeyTests.numbered(300))
    }

    @Test("erasing overwrites and removes what a re-keying has left")
    func destroyed() throws {
        let store = try Store()
        try store.filled(300)
        let records = try store.open()
        let coming = try store.begin()
        while try !coming.copyNext(from: records).isDone {}
        try write(try contents(store.folder.file), to: store.folder.path + "/records.old")
        records.close()
        let folder = try Folder(resolving: store.folder.path)
        let new = try folder.file("records.new", .read)
        let log = try folder.file("records.new-wal", .read)
        let old = try folder.file("records.old", .read)
        let sizes = try new.size() + log.size() + old.size()
        #expect(Records.size(inFolder: store.folder.path).leftover == sizes)
        try Records.destroy(inFolder: store.folder.path)
        #expect(try store.folder.names().isEmpty)
        #expect(try isZero(new))
        #expect(try isZero(log))
        #expect(try isZero(old))
    }

    @Test("logs that are kept stay where they are")
    func kept() throws {
        let folder = try TemporaryFolder()
        let store = try LogTests.killed(commits: 6, into: folder)
        try LogTests.restore(folder, [], to: store)
        let records = try store.open(noted: 8)
        #expect(records.log == .lost(commits: 6))
        try store.rekey(records)
        #expect(try store.folder.names() == ["records.db", "records.db-lost-1"])
        #expect(try store.openNew().size?.keptLogs == 1)
    }
}
