import Posix
import Secrets
import Testing

@testable import SealedStore

@Suite struct ExportTests {
    /// As cheap as it can be: what Argon2id costs is tested where it lives.
    static func cost() throws -> KeyDerivation.Cost {
        try KeyDerivation.Cost(memoryKiB: 8, passes: 1)
    }
    static let salt = [UInt8](repeating: 3, count: 16)

    static func key(_ passphrase: String = "words") throws -> SecretBytes {
        try KeyDerivation.derive(try .of(passphrase), salt: salt, cost: cost())
    }

    /// The file's pieces, its header first.
    static func export(_ records: Records) throws -> [[UInt8]] {
        let writer = try ExportWriter(key: try key(), salt: salt, cost: cost())
        var pieces = [writer.header]
        while let piece = try writer.next(from: records) { pieces.append(piece) }
        #expect(writer.done == records.count)
        #expect(try writer.next(from: records) == nil)
        return pieces
    }

    /// Piece by piece: a test's build takes seconds for ten million single bytes.
    static func joined(_ pieces: some Sequence<[UInt8]>) -> [UInt8] {
        pieces.reduce(into: []) { $0 += $1 }
    }

    static func reader(_ header: [UInt8], _ passphrase: String = "words") throws -> ExportReader {
        try ExportReader(header: try Self.header(header), key: try key(passphrase))
    }

    static func header(_ bytes: [UInt8]) throws -> ExportHeader {
        try ExportHeader(decoding: bytes.span)
    }

    static func push(_ bytes: [UInt8], to reader: ExportReader) throws {
        _ = try reader.push(bytes.span)
    }

    @Test(
        "what was exported comes back, whatever the pieces it is cut into",
        arguments: [
            (0, 0, 1000), (3, 10, 1), (700, 40, 313), (9, 1 << 20, 100_000), (9, 1 << 20, 1 << 19),
        ])
    func roundTrip(count: Int, size: Int, cut: Int) throws {
        let source = try Store()
        try source.filled(count) {
            [UInt8](repeating: UInt8(truncatingIfNeeded: $0), count: size + $0).suffix(1 << 20)
        }
        let old = try source.open()
        let pieces = try Self.export(old)
        #expect(pieces.allSatisfy { $0.count <= 262_144 + 21 })
        let body = Self.joined(pieces.dropFirst())
        let target = try Store(id: Array(17...32))
        let new = try target.create()
        _ = try new.put(bytes("name 1"), bytes("older"))

        let checking = try Self.reader(pieces[0])
        for start in stride(from: 0, to: body.count, by: cut) {
            try checking.check(
                body[start..<min(start + cut, body.count)].asArray.span, against: new)
        }
        try checking.finish()
        #expect(checking.done == UInt64(count))
        #expect(checking.existing == (count > 1 ? 1 : 0))
        #expect(checking.existingNames == (count > 1 ? [bytes("name 1")] : []))
        #expect(new.count == 1)

        let storing = try Self.reader(pieces[0])
        for start in stride(from: 0, to: body.count, by: cut) {
            let piece = body[start..<min(start + cut, body.count)].asArray
            try storing.store(piece.span, in: new, replace: true)
        }
        try storing.finish()
        for index in 0..<count {
            let name = bytes("name \(index)")
            #expect(try new.get(name) == old.get(name))
        }
        #expect(new.count == UInt64(max(count, 1)))
    }

    @Test("a file cut short anywhere is refused")
    func cutShort() throws {
        let store = try Store()
        try store.filled(2000) { _ in [UInt8](repeating: 1, count: 300) }
        let records = try store.open()
        let pieces = try Self.export(records)
        let body = Self.joined(pieces.dropFirst())
        #expect(pieces.count == 4)
        for end in [0, 3, 4, 5, pieces[1].count, pieces[1].count + pieces[2].count, body.count - 1]
        {
            let reader = try Self.reader(pieces[0])
            try Self.push(body[..<end].asArray, to: reader)
            #expect(throws: ExportError.cutShort) { try reader.finish() }
        }
    }

    @Test("a changed byte anywhere is refused")
    func changed() throws {
        let store = try Store()
        try store.filled(3)
        let pieces = try Self.export(try store.open())
        let file = Self.joined(pieces)
        for index in file.indices {
            for bit in [0, 7] {
                var changed = file
                changed[index] ^= 1 << bit
                #expect(throws: (any Error).self, "byte \(index)") {
                    let header = try Self.header(changed[..<60].asArray)
                    // A changed cost or salt gives another key, and a derivation at a changed cost
                    // may take long. So the test uses the key of the original header. The change is
                    // still noticed, because the stream is bound to the header.
                    let reader = try ExportReader(header: header, key: try Self.key())
                    try Self.push(changed[60...].asArray, to: reader)
                    try reader.finish()
                }
            }
        }
    }

    @Test("another passphrase opens nothing")
    func wrongPassphrase() throws {
        let store = try Store()
        try store.filled(3)
        let pieces = try Self.export(try store.open())
        let reader = try Self.reader(pieces[0], "other words")
        #expect(throws: ExportError.notAuthentic) { try Self.push(pieces[1], to: reader) }
    }

    @Test("chunks in another order, twice, or behind the last are refused")
    func order() throws {
        let store = try Store()
        try store.filled(2000) { _ in [UInt8](repeating: 1, count: 300) }
        let pieces = try Self.export(try store.open())
        for order in [[2, 1, 3], [1, 1, 2, 3], [1, 3], [1, 2, 3, 3], [1, 2, 3, 1]] {
            let reader = try Self.reader(pieces[0])
            #expect(throws: (any Error).self) {
                for index in order { try Self.push(pieces[index], to: reader) }
                try reader.finish()
            }
        }
    }

    @Test("a cost beyond the caps is refused before anything is derived")
    func cost() throws {
        let store = try Store()
        var header = try Self.export(try store.create())[0]
        header[12...15] = [0xff, 0xff, 0xff, 0xff]
        #expect(throws: FormatError.outOfBounds) { try Self.header(header) }
        header[0] = 0
        #expect(throws: FormatError.foreign) { try Self.header(header) }
    }
}

extension ArraySlice {
    var asArray: [Element] { Array(self) }
}
