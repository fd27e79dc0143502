import Glibc
import Posix
import SealedStore
import Secrets
import Testing

/// A folder that goes with the object.
final class TemporaryFolder {
    let path: String

    init(in parent: String = "/tmp") throws {
        var template = Array((parent + "/appvault-records-XXXXXX").utf8CString)
        // SAFETY: a NUL-terminated template of our own.
        let made = unsafe template.withUnsafeMutableBufferPointer {
            unsafe mkdtemp($0.baseAddress!) != nil
        }
        try #require(made)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    var file: String { path + "/records.db" }
    var log: String { path + "/records.db-wal" }

    func names() throws -> [String] { try TextFile.names(in: path) }

    deinit {
        for name in (try? TextFile.names(in: path)) ?? [] { try? remove(path + "/" + name) }
        // SAFETY: a path of our own.
        _ = unsafe rmdir(path)
    }
}

/// One store's records in a folder of their own, opened and closed at will, always with the same
/// key.
final class Store {
    let folder: TemporaryFolder
    let id: [UInt8]
    private let key: SecretBytes
    /// The one that the records are sealed anew under.
    private let newKey: SecretBytes

    init(in parent: String = "/tmp", id: [UInt8] = Array(1...16)) throws {
        folder = try TemporaryFolder(in: parent)
        self.id = id
        key = try SecretBytes(copying: [UInt8](repeating: 7, count: 32).span)
        newKey = try SecretBytes(copying: [UInt8](repeating: 8, count: 32).span)
    }

    func create() throws -> Records {
        try Records.create(inFolder: folder.path, id: id, key: key)
    }

    func open(id: [UInt8]? = nil, noted: UInt64 = 0) throws -> Records {
        try Records(
            opening: folder.path, id: id ?? self.id, key: key, noted: noted, mayMakeAnew: true)
    }

    func open(with keys: borrowing SecretBytes) throws -> Records {
        try Records(opening: folder.path, id: id, key: keys, .recordKeys)
    }

    func begin() throws -> ComingRecords {
        try ComingRecords.begin(
            inFolder: folder.path, id: id, key: newKey, keyGeneration: 2)
    }

    func openNew(noted: UInt64 = 0, keyGeneration: UInt32 = 2) throws -> Records {
        try Records(
            opening: folder.path, id: id, key: newKey, noted: noted, keyGeneration: keyGeneration,
            mayMakeAnew: true)
    }

    /// Whether the file is sealed under the old key or the new one, each with its generation.
    func isOpened() throws -> (byOld: Bool, byNew: Bool) {
        (
            try Records.opens(inFolder: folder.path, id: id, key: key),
            try Records.opens(inFolder: folder.path, id: id, key: newKey, keyGeneration: 2)
        )
    }

    /// Makes the file, fills it, closes it.
    func filled(_ count: Int, value: (Int) -> [UInt8] = { bytes("value \($0)") }) throws {
        let records = try create()
        var first = 0
        while first < count {
            let batch = first..<min(first + 500, count)
            _ = try records.apply(batch.map { set(bytes("name \($0)"), value($0)) })
            first = batch.upperBound
        }
        records.close()
    }
}

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

func set(_ name: [UInt8], _ value: [UInt8]) -> Change {
    .set(name: name, value: WipedBuffer(copying: value.span))
}

extension Records {
    /// The value as the test's own bytes.
    func get(_ name: [UInt8]) throws -> [UInt8]? {
        do {
            return try get(name, room: 4096)
        } catch RecordsError.bufferTooSmall {
            return try get(name, room: Records.slabSize)
        }
    }

    private func get(_ name: [UInt8], room: Int) throws -> [UInt8]? {
        var slab = [UInt8](repeating: 0xee, count: room)
        var span = slab.mutableSpan
        guard let range = try value(of: name, into: &span) else { return nil }
        return Array(slab[range])
    }

    func put(_ name: [UInt8], _ value: [UInt8]) throws -> ChangeResult {
        try apply([set(name, value)])[0]
    }

    func remove(_ name: [UInt8]) throws -> ChangeResult {
        try apply([.delete(name: name)])[0]
    }

    func allNames(prefix: [UInt8] = [], limit: Int = 1024) throws -> [[UInt8]] {
        var all: [[UInt8]] = []
        var cursor: UInt64 = 0
        repeat {
            let page = try names(prefix: prefix, cursor: cursor, limit: limit)
            all += page.names
            cursor = page.cursor
        } while cursor != 0
        return all
    }
}

/// Numbers that are the same at every run.
struct Steady: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }

    mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: 0...255, using: &self) }
    }
}

extension SecretBytes {
    static func of(_ text: String) throws -> SecretBytes {
        try SecretBytes(copying: Array(text.utf8).span)
    }
}

/// A path's folder and the name in it.
private func split(_ path: String) throws -> (Folder, String) {
    let name = String(path.split(separator: "/").last ?? "")
    return (try Folder(path: String(path.dropLast(name.utf8.count + 1))), name)
}

/// A whole file, in place of what was there.
func write(_ bytes: [UInt8], to path: String) throws {
    let (folder, name) = try split(path)
    try folder.remove(name)
    try folder.file(name, .createNew(mode: 0o644)).write(bytes.span, at: 0)
}

func contents(_ path: String) throws -> [UInt8] {
    let (folder, name) = try split(path)
    let file = try folder.file(name, .read)
    var bytes = [UInt8](repeating: 0, count: try file.size())
    var span = bytes.mutableSpan
    try #require(try file.read(into: &span, at: 0) == span.count)
    return bytes
}

func remove(_ path: String) throws {
    let (folder, name) = try split(path)
    try folder.remove(name)
}
