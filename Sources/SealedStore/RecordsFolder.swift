internal import Posix

/// The folder of a records file, and what is done to the file without SQLite.
struct RecordsFolder {
    let folder: Folder
    private let name: String

    init(_ path: String, _ name: String = Schema.fileName) throws(RecordsError) {
        self.name = name
        do throws(PosixError) { folder = try Folder(resolving: path) } catch {
            throw RecordsError(error)
        }
    }

    /// The path of the records file, without any symbolic link in it.
    var file: String { folder.path + "/" + name }

    private var log: String { name + Schema.logSuffix }
    var hasLog: Bool { folder.exists(log) }

    /// Makes an empty file for SQLite to fill. It is an error if the file exists.
    func create() throws(RecordsError) {
        do throws(PosixError) {
            try folder.file(name, .createNew(mode: 0o600)).sync()
        } catch {
            throw RecordsError(error)
        }
    }

    func openForReading() throws(PosixError) -> File {
        try folder.file(name, .read)
    }

    /// Checks the files before SQLite may open them, and puts wrong bits of the log right.
    func check() throws(RecordsError) -> LogCheck.Finding {
        try checkFile()
        return try checkLog()
    }

    func checkFile() throws(RecordsError) {
        try Schema.check(header: try header())
    }

    func header() throws(RecordsError) -> [UInt8] {
        do throws(PosixError) {
            return try Self.bytes(of: try openForReading(), at: 0, count: Schema.headerSize)
        } catch {
            throw RecordsError(error)
        }
    }

    func checkLog() throws(RecordsError) -> LogCheck.Finding {
        do throws(PosixError) {
            let log = try folder.file(log, .readWrite)
            let finding = try LogCheck.finding(size: try log.size()) {
                (position, count) throws(PosixError) in
                try Self.bytes(of: log, at: position, count: count)
            }
            for correction in finding.corrections {
                try log.write([correction.byte].span, at: correction.position)
            }
            if !finding.corrections.isEmpty { try log.syncData() }
            return finding
        } catch {
            // A closed store leaves no log behind.
            if error.isMissing { return LogCheck.Finding() }
            throw RecordsError(error)
        }
    }

    /// Nil where there is no log, as behind a store that was closed, or nothing in it.
    func loggedPages() throws(PosixError) -> LoggedPages? {
        guard hasLog else { return nil }
        let log = try folder.file(self.log, .read)
        let content = try LogCheck.content(size: try log.size()) {
            (position, count) throws(PosixError) in
            try Self.bytes(of: log, at: position, count: count)
        }
        guard let content else { return nil }
        return LoggedPages(log, content)
    }

    /// Moves the log into the file as SQLite would, for a file that SQLite cannot open. The log itself is left as it is,
    /// so that this may be cut short at any instant.
    func copyLog() throws(RecordsError) {
        do throws(PosixError) {
            guard let logged = try loggedPages() else { return }
            let file = try folder.file(name, .readWrite)
            for (page, position) in logged.content.pages {
                let bytes = try Self.bytes(of: logged.log, at: position, count: RawPages.size)
                try file.write(bytes.span, at: (page - 1) * RawPages.size)
            }
            try file.cut(to: logged.content.count * RawPages.size)
            try file.syncData()
        } catch {
            throw RecordsError(error)
        }
    }

    /// After all of it was moved into the file.
    func removeLog() throws(RecordsError) {
        try remove([log])
        try sync()
    }

    // MARK: logs that are kept

    /// Takes the log away, so that the next one begins anew, and keeps it. Where there is none, an
    /// empty file says that one is missing.
    func keepLog() throws(RecordsError) {
        let name = nameToKeep(last: 2)
        do throws(PosixError) {
            if folder.exists(Schema.logName) {
                try folder.rename(Schema.logName, to: name)
            } else {
                try folder.file(name, .createOrOpen).sync()
            }
            try folder.sync()
        } catch {
            throw RecordsError(error)
        }
    }

    /// The first that is free; where none is, what has this one goes.
    func nameToKeep(last: Int) -> String {
        Schema.keptNames.first { !folder.exists($0) } ?? Schema.keptNames[last]
    }

    func removeKept() throws(RecordsError) {
        // A file that was kept may still be the present one, where a switch was cut short.
        try overwrite(try withoutPresent(Schema.keptNames) ?? [])
        try remove(Schema.keptNames)
        try sync()
    }

    /// Fewer bytes than asked for only at the end of the file.
    private static func bytes(
        of file: borrowing File, at position: Int, count: Int
    ) throws(PosixError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var span = bytes.mutableSpan
        let got = try file.read(into: &span, at: position)
        bytes.removeLast(count - got)
        return bytes
    }

    func overwrite(_ names: [String]) throws(RecordsError) {
        let zeroes = [UInt8](repeating: 0, count: 65_536)
        for name in names where folder.exists(name) {
            do throws(PosixError) {
                let file = try folder.file(name, .readWrite)
                let size = try file.size()
                for position in stride(from: 0, to: size, by: zeroes.count) {
                    let count = min(zeroes.count, size - position)
                    try file.write(zeroes.span.extracting(..<count), at: position)
                }
                try file.syncData()
            } catch {
                throw RecordsError(error)
            }
        }
    }

    func remove(_ names: [String]) throws(RecordsError) {
        do throws(PosixError) {
            for name in names { try folder.remove(name) }
        } catch {
            throw RecordsError(error)
        }
    }

    func sync() throws(RecordsError) {
        do throws(PosixError) { try folder.sync() } catch { throw RecordsError(error) }
    }
}
