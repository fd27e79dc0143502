import Testing

/// One message of Tests/Vectors/wire.txt: its fields as text, and its frame, cut into the bytes of
/// each field.
struct Vector: Sendable, CustomTestStringConvertible {
    var name: String
    var type: UInt16 = 0
    var tag: UInt32 = 0
    var fields: [Field] = []
    var header: [UInt8] = []
    var parts: [[UInt8]] = []

    var body: [UInt8] { parts.flatMap { $0 } }
    var frame: [UInt8] { header + body }
    var testDescription: String { "\(name) \(tag)" }

    /// The body with one field's bytes replaced.
    func body(replacing index: Int, with bytes: [UInt8]) -> [UInt8] {
        var parts = parts
        parts[index] = bytes
        return parts.flatMap { $0 }
    }
}

struct Field: Equatable, Sendable, CustomStringConvertible {
    var name: String
    var value: String
    var description: String { "\(name) = \(value)" }
}

extension Vector {
    struct Malformed: Error {
        var line: String
    }

    static func all() throws -> [Vector] {
        var vectors: [Vector] = []
        for line in try Repository.text("Tests/Vectors/wire.txt").split(separator: "\n") {
            if line.hasPrefix("#") { continue }
            if line.hasPrefix("[") {
                vectors.append(Vector(name: String(line.dropFirst().dropLast())))
                continue
            }
            guard let equals = line.firstIndex(of: "="), !vectors.isEmpty else {
                throw Malformed(line: String(line))
            }
            let key = String(line[..<equals].dropLast())
            let value = String(line[line.index(after: equals)...].dropFirst())
            let last = vectors.count - 1
            switch key {
            case "type":
                guard let type = UInt16(value.dropFirst(2), radix: 16) else {
                    throw Malformed(line: value)
                }
                vectors[last].type = type
            case "tag" where vectors[last].fields.isEmpty:
                guard let tag = UInt32(value) else { throw Malformed(line: value) }
                vectors[last].tag = tag
            case "frame":
                let parts = try value.split(separator: " ").map { try hex($0) }
                vectors[last].header = parts.prefix(3).flatMap { $0 }
                vectors[last].parts = Array(parts.dropFirst(3))
            default:
                vectors[last].fields.append(Field(name: key, value: value))
            }
        }
        return vectors
    }

    private static func hex(_ text: Substring) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = text
        while !rest.isEmpty {
            guard rest.count >= 2, let byte = UInt8(rest.prefix(2), radix: 16) else {
                throw Malformed(line: String(text))
            }
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        return bytes
    }
}
