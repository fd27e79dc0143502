import Posix

/// The files of the repository that tests read.
enum Repository {
    static func text(_ path: String, from file: String = #filePath) throws -> String {
        let root = file.split(separator: "/").dropLast(3).joined(separator: "/")
        return String(
            decoding: try TextFile.read(at: "/\(root)/\(path)", limit: 1 << 20), as: UTF8.self)
    }
}
