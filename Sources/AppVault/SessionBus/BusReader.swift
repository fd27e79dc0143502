/// Why bytes are no message.
enum BusFault: Error {
    case cutShort
    case tooLong
    case tooDeep
    case notText
    case unknownType
}

/// Reads values as the D-Bus specification lays them out. Each read measures before it indexes.
struct BusReader {
    private var position: Int
    private let isBigEndian: Bool
    private var depth = 0

    private static let deepest = 32

    init(at position: Int = 0, isBigEndian: Bool = false) {
        self.position = position
        self.isBigEndian = isBigEndian
    }

    var offset: Int { position }

    /// The values of that signature, one after the other.
    mutating func values(
        _ signature: String, _ bytes: Span<UInt8>
    ) throws(BusFault) -> [BusValue] {
        let types = Array(signature.utf8)
        var index = 0
        var values: [BusValue] = []
        while index < types.count { values.append(try value(types, &index, bytes)) }
        return values
    }

    mutating func align(_ size: Int, _ bytes: Span<UInt8>) throws(BusFault) {
        while position % size != 0 { _ = try byte(bytes) }
    }

    private mutating func byte(_ bytes: Span<UInt8>) throws(BusFault) -> UInt8 {
        guard position < bytes.count else { throw .cutShort }
        defer { position += 1 }
        return bytes[position]
    }

    private mutating func number(_ size: Int, _ bytes: Span<UInt8>) throws(BusFault) -> UInt64 {
        try align(size, bytes)
        var number: UInt64 = 0
        for index in 0..<size {
            let next = UInt64(try byte(bytes))
            number = isBigEndian ? number << 8 | next : number | next << (8 * UInt64(index))
        }
        return number
    }

    mutating func uint32(_ bytes: Span<UInt8>) throws(BusFault) -> UInt32 {
        UInt32(truncatingIfNeeded: try number(4, bytes))
    }

    private mutating func run(_ count: Int, _ bytes: Span<UInt8>) throws(BusFault) -> [UInt8] {
        guard count >= 0, count <= bytes.count - position else { throw .cutShort }
        defer { position += count }
        return copied(bytes.extracting(position..<position + count))
    }

    private mutating func text(_ count: Int, _ bytes: Span<UInt8>) throws(BusFault) -> String {
        let content = try run(count, bytes)
        guard try byte(bytes) == 0, !content.contains(0),
            let text = String(validating: content, as: UTF8.self)
        else { throw .notText }
        return text
    }

    private mutating func value(
        _ types: [UInt8], _ index: inout Int, _ bytes: Span<UInt8>
    ) throws(BusFault) -> BusValue {
        guard index < types.count else { throw .cutShort }
        let type = types[index]
        index += 1
        switch type {
        case UInt8(ascii: "y"): return .byte(try byte(bytes))
        case UInt8(ascii: "b"): return .boolean(try uint32(bytes) != 0)
        case UInt8(ascii: "i"): return .int32(Int32(bitPattern: try uint32(bytes)))
        case UInt8(ascii: "u"): return .uint32(try uint32(bytes))
        case UInt8(ascii: "t"): return .uint64(try number(8, bytes))
        case UInt8(ascii: "h"), UInt8(ascii: "n"), UInt8(ascii: "q"), UInt8(ascii: "x"),
            UInt8(ascii: "d"):
            return .number(type, try number(BusSignature.alignment(of: type), bytes))
        case UInt8(ascii: "s"): return .string(try text(Int(try uint32(bytes)), bytes))
        case UInt8(ascii: "o"): return .path(try text(Int(try uint32(bytes)), bytes))
        case UInt8(ascii: "g"): return .signature(try text(Int(try byte(bytes)), bytes))
        case UInt8(ascii: "a"): return try array(types, &index, bytes)
        case UInt8(ascii: "("):
            try align(8, bytes)
            return .structure(try members(types, &index, until: UInt8(ascii: ")"), bytes))
        case UInt8(ascii: "{"):
            try align(8, bytes)
            let both = try members(types, &index, until: UInt8(ascii: "}"), bytes)
            guard both.count == 2 else { throw .unknownType }
            return .entry(both[0], both[1])
        case UInt8(ascii: "v"):
            let inner = Array(try text(Int(try byte(bytes)), bytes).utf8)
            var at = 0
            try deeper()
            defer { depth -= 1 }
            let value = try value(inner, &at, bytes)
            guard at == inner.count else { throw .unknownType }
            return .variant(value)
        default: throw .unknownType
        }
    }

    private mutating func deeper() throws(BusFault) {
        guard depth < BusReader.deepest else { throw .tooDeep }
        depth += 1
    }

    private mutating func members(
        _ types: [UInt8], _ index: inout Int, until end: UInt8, _ bytes: Span<UInt8>
    ) throws(BusFault) -> [BusValue] {
        try deeper()
        defer { depth -= 1 }
        var members: [BusValue] = []
        while index < types.count, types[index] != end {
            members.append(try value(types, &index, bytes))
        }
        guard index < types.count, !members.isEmpty else { throw .unknownType }
        index += 1
        return members
    }

    private mutating func array(
        _ types: [UInt8], _ index: inout Int, _ bytes: Span<UInt8>
    ) throws(BusFault) -> BusValue {
        let length = Int(try uint32(bytes))
        guard index < types.count else { throw .unknownType }
        if types[index] == UInt8(ascii: "y") {
            index += 1
            return .bytes(try run(length, bytes))
        }
        try align(BusSignature.alignment(of: types[index]), bytes)
        guard length <= bytes.count - position else { throw .cutShort }
        try deeper()
        defer { depth -= 1 }
        let end = position + length
        let first = index
        var elements: [BusValue] = []
        while position < end {
            index = first
            let before = position
            elements.append(try value(types, &index, bytes))
            guard position > before else { throw .unknownType }
        }
        guard position == end else { throw .cutShort }
        index = first
        let next = try BusReader.end(types, first, 0)
        index = next
        return .array(String(decoding: types[first..<next], as: UTF8.self), elements)
    }

    /// Where one complete type ends.
    private static func end(
        _ types: [UInt8], _ begin: Int, _ depth: Int
    ) throws(BusFault) -> Int {
        guard begin < types.count, depth < deepest else { throw .unknownType }
        switch types[begin] {
        case UInt8(ascii: "a"): return try end(types, begin + 1, depth + 1)
        case UInt8(ascii: "("), UInt8(ascii: "{"):
            let close =
                types[begin] == UInt8(ascii: "(") ? UInt8(ascii: ")") : UInt8(ascii: "}")
            var index = begin + 1
            while index < types.count, types[index] != close {
                index = try end(types, index, depth + 1)
            }
            guard index < types.count else { throw .unknownType }
            return index + 1
        default: return begin + 1
        }
    }
}
