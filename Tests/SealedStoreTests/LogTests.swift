import Posix
import Testing

@testable import SealedStore

/// A store that was killed: its files as they are while it is open.
@Suite struct LogTests {
    static let names = (0..<30).map { bytes("name \($0)") }

    /// A store whose log holds these commits, copied to another folder while it is open.
    static func killed(commits: Int, into folder: TemporaryFolder) throws -> Store {
        let store = try Store()
        let records = try store.create()
        _ = try records.apply(names.map { set($0, bytes("first")) })
        records.close()
        let again = try store.open()
        for commit in 0..<commits { _ = try again.apply([set(names[commit], bytes("second"))]) }
        try write(try contents(store.folder.file), to: folder.file)
        try write(try contents(store.folder.log), to: folder.log)
        again.close()
        return store
    }

    /// Takes the place of the store's own files.
    static func restore(_ folder: TemporaryFolder, _ log: [UInt8], to store: Store) throws {
        try write(try contents(folder.file), to: store.folder.file)
        try write(log, to: store.folder.log)
    }

    @Test("after a kill every commit that was answered is there")
    func killed() throws {
        let folder = try TemporaryFolder()
        let store = try Self.killed(commits: 20, into: folder)
        try Self.restore(folder, try contents(folder.log), to: store)
        let records = try store.open()
        for (index, name) in Self.names.enumerated() {
            #expect(try records.get(name) == bytes(index < 20 ? "second" : "first"))
        }
        try records.verify(buckets: 0..<Records.bucketCount)
    }

    @Test("a log cut short anywhere opens with the commits before the cut")
    func cut() throws {
        let folder = try TemporaryFolder()
        let store = try Self.killed(commits: 6, into: folder)
        let log = try contents(folder.log)
        for size in stride(from: 0, through: log.count, by: 1030) {
            try Self.restore(folder, Array(log.prefix(size)), to: store)
            let records = try store.open()
            try records.verify(buckets: 0..<Records.bucketCount)
            var isLater = false
            for name in Self.names.prefix(6).reversed() {
                let value = try records.get(name)
                #expect(value == bytes("second") || (value == bytes("first") && !isLater))
                if value == bytes("second") { isLater = true }
            }
        }
    }

    /// Sets frames of a log of 4,120 bytes each to noise.
    private static func noise(_ frames: Range<Int>, in log: [UInt8]) -> [UInt8] {
        var random = Steady(state: 3)
        var log = log
        for frame in frames {
            log.replaceSubrange(
                (32 + frame * 4120)..<(32 + (frame + 1) * 4120), with: random.bytes(4120))
        }
        return log
    }

    /// How many of the commits are there, from the first on. Nothing is damaged, and no later one
    /// is there without all before it.
    private func depth(_ records: Records, of commits: Int) throws -> Int {
        try records.verify(buckets: 0..<Records.bucketCount)
        let isLater = try Self.names.prefix(commits).map {
            let value = try records.get($0)
            #expect(value == bytes("second") || value == bytes("first"))
            return value == bytes("second")
        }
        let depth = isLater.prefix { $0 }.count
        #expect(!isLater.dropFirst(depth).contains(true))
        return depth
    }

    @Test(
        "a wrong bit in the log is put right, or all before it opens and the log is kept",
        arguments: 0..<4)
    func flipped(part: Int) throws {
        let folder = try TemporaryFolder()
        let store = try Self.killed(commits: 12, into: folder)
        let log = try contents(folder.log)
        let frames = (log.count - 32) / 4120
        #expect(frames == 24)
        var random = Steady(state: UInt64(part))
        var repaired = 0
        for round in 0..<120 {
            let frame = round % (frames - 2)
            // Bytes 8 to 24 of a frame's header are salts and checksum.
            let offset = round % 3 == 0 ? Int(random.next() % 24) : Int(random.next() % 4120)
            let isHeader = round % 20 == 0
            var changed = log
            changed[isHeader ? offset % 32 : 32 + frame * 4120 + offset] ^=
                1 << UInt8(random.next() % 8)
            try Self.restore(folder, changed, to: store)
            let records = try store.open()
            let depth = try depth(records, of: 12)
            switch records.log {
            case .whole: Issue.record("not noticed: frame \(frame) byte \(offset)")
            case .repaired:
                repaired += 1
                #expect(depth == 12)
                #expect(records.size?.keptLogs == 0)
            case .lost(let commits):
                #expect(depth == (isHeader ? 0 : frame / 2))
                #expect(commits > 0 && depth + Int(commits) <= 12)
                #expect(records.size?.kept == log.count)
            }
            records.close()
            try Records.removeKeptLogs(inFolder: store.folder.path)
        }
        #expect(repaired > 60)
    }

    @Test("what lies before a destroyed part of the log opens, is told, and goes on")
    func destroyed() throws {
        let folder = try TemporaryFolder()
        let store = try Self.killed(commits: 12, into: folder)
        let log = Self.noise(10..<12, in: try contents(folder.log))
        try Self.restore(folder, log, to: store)
        let records = try store.open()
        // The sixth is noise, and the last could be a power cut's.
        #expect(records.log == .lost(commits: 5))
        #expect(try depth(records, of: 12) == 5)
        #expect(try contents(store.folder.path + "/records.db-lost-1") == log)
        #expect(try records.put(Self.names[11], bytes("third")) == .replaced)
        #expect(records.size?.kept == log.count)
        records.close()
        let again = try store.open()
        #expect(again.log == .whole)
        #expect(try again.get(Self.names[11]) == bytes("third"))
        #expect(again.size?.keptLogs == 1)
        try Records.removeKeptLogs(inFolder: store.folder.path)
        #expect(Records.size(inFolder: store.folder.path).keptLogs == 0)
    }

    @Test("a log whose header is destroyed is told, and kept")
    func headless() throws {
        let folder = try TemporaryFolder()
        let store = try Self.killed(commits: 4, into: folder)
        var log = try contents(folder.log)
        log.replaceSubrange(0..<32, with: [UInt8](repeating: 0x5A, count: 32))
        try Self.restore(folder, log, to: store)
        let records = try store.open()
        #expect(records.log == .lost(commits: 1))
        #expect(try depth(records, of: 4) == 0)
        #expect(try contents(store.folder.path + "/records.db-lost-1") == log)
    }

    @Test("a log that is cut is told from a power cut by the last commit that was noted")
    func noted() throws {
        let folder = try TemporaryFolder()
        let store = try Self.killed(commits: 6, into: folder)
        let log = try contents(folder.log)
        try Self.restore(folder, log, to: store)
        let whole = try store.open()
        let last = whole.generation
        whole.close()
        for size in stride(from: 0, through: log.count, by: 1030) {
            for lag in [0, 2, last] {
                try Self.restore(folder, Array(log.prefix(size)), to: store)
                let records = try store.open(noted: last - lag)
                let depth = UInt64(try depth(records, of: 6))
                let missing = 6 - min(lag, 6) > depth ? 6 - min(lag, 6) - depth : 0
                #expect(records.log == (missing > 0 ? .lost(commits: missing) : .whole))
                #expect(records.size?.keptLogs == (missing > 0 ? 1 : 0))
                records.close()
                try Records.removeKeptLogs(inFolder: store.folder.path)
            }
        }
    }

    @Test("a log that is gone, or records that are older than they were, are told as well")
    func gone() throws {
        let folder = try TemporaryFolder()
        let store = try Self.killed(commits: 6, into: folder)
        try Self.restore(folder, [], to: store)
        try remove(store.folder.log)
        let records = try store.open(noted: 8)
        #expect(records.log == .lost(commits: 6))
        #expect(records.size?.keptLogs == 1)
        #expect(records.size?.kept == 0)
    }

    @Test("with another key nothing is changed, and three logs are kept at most")
    func bounded() throws {
        let folder = try TemporaryFolder()
        let store = try Self.killed(commits: 12, into: folder)
        let log = Self.noise(10..<12, in: try contents(folder.log))
        try Self.restore(folder, log, to: store)
        #expect(throws: RecordsError.damaged(.head)) {
            try store.open(id: [UInt8](repeating: 9, count: 16))
        }
        #expect(try contents(store.folder.log) == log)
        #expect(try contents(store.folder.file) == contents(folder.file))
        for round in 1...5 {
            try Self.restore(folder, log, to: store)
            let records = try store.open()
            #expect(records.size?.keptLogs == min(round, 3))
            records.close()
        }
        #expect(Records.size(inFolder: store.folder.path).kept == 3 * log.count)
        try Records.destroy(inFolder: store.folder.path)
        #expect(try store.folder.names().isEmpty)
    }

    @Test("a last transaction that is destroyed gives the state before it, as a power cut would")
    func last() throws {
        let folder = try TemporaryFolder()
        let store = try Self.killed(commits: 5, into: folder)
        try Self.restore(folder, Self.noise(9..<10, in: try contents(folder.log)), to: store)
        let records = try store.open()
        #expect(records.log == .whole)
        try records.verify(buckets: 0..<Records.bucketCount)
        #expect(try records.get(Self.names[4]) == bytes("first"))
        #expect(try records.get(Self.names[3]) == bytes("second"))
    }
}
