internal import Posix

/// What is looked at before SQLite is let at the files.
enum FileCheck {
    static func run(path: String) throws(RecordsError) {
        let header: [UInt8]
        do throws(PosixError) {
            let file = try ReadableFile(at: path)
            header = try file.read(at: 0, count: 100)
        } catch {
            throw RecordsError(error)
        }
        try Schema.check(header: header)
        guard try isLogComplete(path + "-wal") else { throw .damaged(.journal) }
    }

    private static func isLogComplete(_ path: String) throws(RecordsError) -> Bool {
        do throws(PosixError) {
            let log = try ReadableFile(at: path)
            return try LogCheck.isComplete(size: try log.size()) { (position, count) throws(PosixError) in
                try log.read(at: position, count: count)
            }
        } catch {
            // None is left behind by a store that was closed.
            if error.isMissing { return true }
            throw RecordsError(error)
        }
    }
}
