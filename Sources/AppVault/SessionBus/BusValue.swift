/// A value of a D-Bus message: those types that the calls of this library need.
indirect enum BusValue: Equatable, Sendable {
    case byte(UInt8)
    case boolean(Bool)
    case int32(Int32)
    case uint32(UInt32)
    case uint64(UInt64)
    /// Another kind of number, by its type's letter and as it was: nothing here needs its meaning.
    case number(UInt8, UInt64)
    case string(String)
    case path(String)
    case signature(String)
    /// `ay`, in one piece.
    case bytes([UInt8])
    /// With the signature of one element.
    case array(String, [BusValue])
    case structure([BusValue])
    case entry(BusValue, BusValue)
    case variant(BusValue)

    var signature: String {
        switch self {
        case .byte: "y"
        case .boolean: "b"
        case .int32: "i"
        case .uint32: "u"
        case .uint64: "t"
        case .number(let type, _): String(UnicodeScalar(type))
        case .string: "s"
        case .path: "o"
        case .signature: "g"
        case .bytes: "ay"
        case .array(let element, _): "a" + element
        case .structure(let fields): "(" + fields.map(\.signature).joined() + ")"
        case .entry(let key, let value): "{" + key.signature + value.signature + "}"
        case .variant: "v"
        }
    }

    /// `a{ss}`
    static func dictionary(_ texts: [String: String]) -> BusValue {
        .array("{ss}", texts.sorted { $0.key < $1.key }.map { .entry(.string($0), .string($1)) })
    }

    /// `a{sv}`
    static func properties(_ values: [String: BusValue]) -> BusValue {
        .array("{sv}", values.sorted { $0.key < $1.key }.map { .entry(.string($0), .variant($1)) })
    }

    var text: String? {
        switch self {
        case .string(let text), .path(let text), .signature(let text): text
        case .byte, .boolean, .int32, .uint32, .uint64, .number, .bytes, .array, .structure,
            .entry, .variant:
            nil
        }
    }

    var elements: [BusValue]? {
        switch self {
        case .array(_, let elements), .structure(let elements): elements
        case .byte, .boolean, .int32, .uint32, .uint64, .number, .string, .path, .signature,
            .bytes, .entry, .variant:
            nil
        }
    }

    var content: BusValue? {
        if case .variant(let value) = self { return value }
        return nil
    }
}
