/// A value of JSON, as far as it is needed here: texts, and objects of values. Everything else is
/// read and dropped.
enum JSONValue: Equatable, Sendable {
    case text([UInt8])
    case object([(name: [UInt8], value: JSONValue)])
    case other

    /// Nil if it is no JSON.
    init?(_ bytes: [UInt8]) {
        var reader = JSONReader(bytes)
        guard let value = reader.value(0), reader.isAtEnd() else { return nil }
        self = value
    }

    var text: [UInt8]? {
        switch self {
        case .text(let text): text
        case .object, .other: nil
        }
    }

    var members: [(name: [UInt8], value: JSONValue)]? {
        switch self {
        case .object(let members): members
        case .text, .other: nil
        }
    }

    static func == (one: JSONValue, other: JSONValue) -> Bool {
        switch (one, other) {
        case (.text(let one), .text(let other)): one == other
        case (.object(let one), .object(let other)): one.elementsEqual(other, by: ==)
        case (.other, .other): true
        case (.text, _), (.object, _), (.other, _): false
        }
    }
}

private struct JSONReader {
    /// No file of ours is half as deep, and each level takes a part of the stack.
    private static let depth = 16

    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipBlanks() {
        while let byte = next, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { position += 1 }
    }

    private mutating func takes(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    mutating func isAtEnd() -> Bool {
        skipBlanks()
        return next == nil
    }

    mutating func value(_ depth: Int) -> JSONValue? {
        guard depth < Self.depth else { return nil }
        skipBlanks()
        switch next {
        case UInt8(ascii: "\""): return text().map { .text($0) }
        case UInt8(ascii: "{"): return object(depth)
        case UInt8(ascii: "["): return array(depth)
        case nil: return nil
        default: return word()
        }
    }

    private mutating func object(_ depth: Int) -> JSONValue? {
        position += 1
        var members: [(name: [UInt8], value: JSONValue)] = []
        skipBlanks()
        if takes(UInt8(ascii: "}")) { return .object([]) }
        while true {
            skipBlanks()
            guard let name = text() else { return nil }
            skipBlanks()
            guard takes(UInt8(ascii: ":")), let value = value(depth + 1) else { return nil }
            members.append((name, value))
            skipBlanks()
            if takes(UInt8(ascii: "}")) { return .object(members) }
            guard takes(UInt8(ascii: ",")) else { return nil }
        }
    }

    private mutating func array(_ depth: Int) -> JSONValue? {
        position += 1
        skipBlanks()
        if takes(UInt8(ascii: "]")) { return .other }
        while true {
            guard value(depth + 1) != nil else { return nil }
            skipBlanks()
            if takes(UInt8(ascii: "]")) { return .other }
            guard takes(UInt8(ascii: ",")) else { return nil }
        }
    }

    /// A number, true, false or null.
    private mutating func word() -> JSONValue? {
        let start = position
        while let byte = next, Self.isOfWord(byte) { position += 1 }
        return position > start ? .other : nil
    }

    private static func isOfWord(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2B, 0x2D, 0x2E: true
        default: false
        }
    }

    private mutating func text() -> [UInt8]? {
        guard takes(UInt8(ascii: "\"")) else { return nil }
        var result: [UInt8] = []
        while let byte = next {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return result
            case UInt8(ascii: "\\"):
                guard let escaped = escape() else { return nil }
                result += escaped
            case 0..<0x20: return nil
            default: result.append(byte)
            }
        }
        return nil
    }

    private mutating func escape() -> [UInt8]? {
        guard let byte = next else { return nil }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "u"):
            guard let first = unit() else { return nil }
            var value = first
            if (0xD800..<0xDC00).contains(first), next == UInt8(ascii: "\\") {
                let before = position
                position += 1
                if takes(UInt8(ascii: "u")), let second = unit(),
                    (0xDC00..<0xE000).contains(second)
                {
                    value = 0x10000 + (first - 0xD800) << 10 + (second - 0xDC00)
                } else {
                    position = before
                }
            }
            return Array(UTF8.encode(Unicode.Scalar(value) ?? "\u{FFFD}")!)
        default: return nil
        }
    }

    private mutating func unit() -> UInt32? {
        guard position + 4 <= bytes.count else { return nil }
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = Unicode.Scalar(bytes[position]).hexadecimal else { return nil }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }
}
