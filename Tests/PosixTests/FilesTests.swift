import Testing

@testable import Posix

@Suite struct FilesTests {
    /// A folder of its own under /tmp, emptied by the test.
    private func withFolder(_ body: (Folder) throws -> Void) throws {
        let parent = try Folder(path: "/tmp")
        let name = "appvault-files-\(UInt64.random(in: 0...(.max)))"
        try parent.makeFolder(name)
        let folder = try parent.folder(name)
        defer {
            for name in (try? folder.names()) ?? [] { try? folder.remove(name) }
            try? parent.removeFolder(name)
        }
        try body(folder)
    }

    @Test("what is written at a place is read there, and no more than there is")
    func readWrite() throws {
        try withFolder { folder in
            let file = try folder.file("one", .createNew(mode: 0o600))
            let bytes: [UInt8] = [1, 2, 3]
            try file.write(bytes.span, at: 2)
            try file.syncData()
            var read = [UInt8](repeating: 9, count: 8)
            var span = read.mutableSpan
            let count = try file.read(into: &span, at: 0)
            #expect(count == 5)
            #expect(read == [0, 0, 1, 2, 3, 9, 9, 9])
            let size = try file.size()
            #expect(size == 5)
        }
    }

    @Test("a symbolic link is never followed, neither to a file nor to a folder")
    func links() throws {
        // The kernel keeps some ready: cwd is one to a folder, exe to a file.
        let proc = try Folder(path: "/proc/self/task").folder("\(ThisProcess.pid)")
        #expect(throws: PosixError.self) { _ = try proc.folder("cwd") }
        #expect(throws: PosixError.self) { _ = try proc.file("exe", .read) }
        #expect(throws: PosixError.self) { _ = try Folder(path: "\(proc.path)/cwd") }
    }

    @Test("a name that is taken is neither made again nor linked over")
    func taken() throws {
        try withFolder { folder in
            _ = try folder.file("one", .createNew(mode: 0o600))
            _ = try folder.file("two", .createNew(mode: 0o600))
            do throws(PosixError) {
                _ = try folder.file("one", .createNew(mode: 0o600))
                Issue.record("made twice")
            } catch {
                #expect(error.isExisting)
            }
            do throws(PosixError) {
                try folder.link("one", to: "two")
                Issue.record("linked over")
            } catch {
                #expect(error.isExisting)
            }
            try folder.rename("one", to: "two")
            let names = try folder.names()
            #expect(names == ["two"])
        }
    }

    @Test("a lock that another holds is said to be held, and is free when the file is closed")
    func lock() throws {
        try withFolder { folder in
            func hold() throws -> [File.Lock] {
                let first = try folder.file("lock", .createOrOpen)
                let second = try folder.file("lock", .createOrOpen)
                return [try first.lock(), try second.lock(), try first.lock()]
            }
            let once = try hold()
            #expect(once == [.taken, .heldByAnother, .taken])
            let again = try hold()
            #expect(again == once)
        }
    }
}
