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
    }
}
