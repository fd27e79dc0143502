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
        let header: [UInt8]
        do throws(PosixError) {
            header = try Self.bytes(of: try openForReading(), at: 0, count: 100)
        } catch {
            throw RecordsError(error)
        }
        try Schema.check(header: header)
    }

    private func checkLog() throws(RecordsError) -> LogCheck.Finding {
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

    // MARK: logs that are kept

    /// Takes the log away, so that the next one begins anew, and keeps it. Where there is none, an
    /// empty file says that one is missing.
    func keepLog() throws(RecordsError) {
        let names = Schema.keptNames
        guard let name = names.first(where: { !folder.exists($0) }) ?? names.last else { return }
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

    func removeKept() throws(RecordsError) {
        try overwrite(Schema.keptNames)
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
