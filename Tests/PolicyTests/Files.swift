import Glibc

/// The bytes of a file of the checkout, by its path from the top folder.
func contents(of path: String) throws -> [UInt8] {
    let top = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()
    // SAFETY: both are NUL-terminated; the stream is closed below.
    guard let stream = unsafe fopen("\(top)/\(path)", "r") else { throw FileMissing(path: path) }
    // SAFETY: open, and not used afterwards.
    defer { unsafe fclose(stream) }
    var bytes = [UInt8]()
    while true {
        // SAFETY: the stream is open.
        let byte = unsafe getc(stream)
        guard byte != EOF else { return bytes }
        bytes.append(UInt8(truncatingIfNeeded: byte))
    }
}

struct FileMissing: Error {
    let path: String
}

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
