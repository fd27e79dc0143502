import Posix
import Wire

/// Writes one JSON object. It may contain a secret, so it grows in memory that is wiped.
struct JSON: ~Copyable {
    private(set) var bytes = SecretBuffer()
    private var needsComma = false

    init() {
        bytes.append(0x7B)
    }

    consuming func finish() -> SecretBuffer {
        bytes.append(0x7D)
        bytes.append(0x0A)
        return bytes
    }

    mutating func field(_ name: String, _ value: String) {
        key(name)
        string(Array(value.utf8).span)
    }

    mutating func field(_ name: String, _ value: Int) {
        key(name)
        raw(String(value))
    }

    mutating func field(_ name: String, _ value: UInt64) {
        key(name)
        raw(String(value))
    }

    mutating func field(_ name: String, _ value: Bool) {
        key(name)
        raw(value ? "true" : "false")
    }

    mutating func null(_ name: String) {
        key(name)
        raw("null")
    }

    mutating func fieldOrNull(_ name: String, _ value: [UInt8]?) {
        if let value { field(name, value) } else { null(name) }
    }

    /// A text as it is, or as base64 if it is not UTF-8; then `NAMEEncoding` stands beside it.
    mutating func field(_ name: String, _ value: [UInt8]) {
        field(name, value.span)
    }

    mutating func field(_ name: String, _ value: Span<UInt8>) {
        key(name)
        if Printable.isUTF8(value) { return string(value) }
        bytes.append(0x22)
        base64(value)
        bytes.append(0x22)
        field("\(name)Encoding", "base64")
    }

    mutating func object(_ name: String, _ fill: (inout JSON) -> Void) {
        key(name)
        bytes.append(0x7B)
        needsComma = false
        fill(&self)
        bytes.append(0x7D)
        needsComma = true
    }

    /// An array of objects.
    mutating func objects<C: Collection>(
        _ name: String, _ elements: C, _ fill: (inout JSON, C.Element) -> Void
    ) {
        key(name)
        bytes.append(0x5B)
        var first = true
        for element in elements {
            if !first { bytes.append(0x2C) }
            first = false
            bytes.append(0x7B)
            needsComma = false
            fill(&self, element)
            bytes.append(0x7D)
        }
        bytes.append(0x5D)
        needsComma = true
    }

    private mutating func key(_ name: String) {
        if needsComma { bytes.append(0x2C) }
        needsComma = true
        string(Array(name.utf8).span)
        bytes.append(0x3A)
    }

    private mutating func raw(_ text: String) {
        bytes.append(Array(text.utf8))
    }

    private mutating func string(_ text: Span<UInt8>) {
        bytes.append(0x22)
        for index in 0..<text.count {
            let byte = text[index]
            switch byte {
            case 0x22, 0x5C:
                bytes.append(0x5C)
                bytes.append(byte)
            case 0x0A: raw("\\n")
            case 0x0D: raw("\\r")
            case 0x09: raw("\\t")
            case 0..<0x20, 0x7F:
                raw("\\u00")
                bytes.append(JSON.digit(byte >> 4))
                bytes.append(JSON.digit(byte & 15))
            default: bytes.append(byte)
            }
        }
        bytes.append(0x22)
    }

    private static func digit(_ nibble: UInt8) -> UInt8 {
        nibble < 10 ? 0x30 + nibble : 0x57 + nibble
    }

    private mutating func base64(_ data: Span<UInt8>) {
        var index = 0
        while index < data.count {
            let left = data.count - index
            let first = UInt32(data[index]) << 16
            let second = left > 1 ? UInt32(data[index + 1]) << 8 : 0
            let third = left > 2 ? UInt32(data[index + 2]) : 0
            let group = first | second | third
            bytes.append(JSON.letter(group >> 18))
            bytes.append(JSON.letter(group >> 12))
            bytes.append(left > 1 ? JSON.letter(group >> 6) : 0x3D)
            bytes.append(left > 2 ? JSON.letter(group) : 0x3D)
            index += 3
        }
    }

    /// Computed, not looked up: a table would leave traces of the secret in the processor's cache.
    private static func letter(_ bits: UInt32) -> UInt8 {
        let value = UInt8(bits & 63)
        switch value {
        case 0..<26: return 0x41 + value
        case 26..<52: return 0x61 + value - 26
        case 52..<62: return 0x30 + value - 52
        case 62: return 0x2B
        default: return 0x2F
        }
    }
}

extension JSON {
    private static let numbers = [
        "triesRemaining", "minimum", "count", "seconds", "failuresLeft", "limit", "line",
    ]

    mutating func refusal(_ refused: Refused) {
        field("domain", "org.appvault")
        field("code", Int(refused.code))
        field("name", refused.known.name)
        object("parameters") { json in
            for parameter in refused.parameters {
                let name = String(decoding: parameter.name, as: UTF8.self)
                if JSON.numbers.contains(name),
                    let number = Int(String(decoding: parameter.value, as: UTF8.self))
                {
                    json.field(name, number)
                } else {
                    json.field(name, parameter.value)
                }
            }
        }
        field("message", refused.message)
        let reason = refused.parameters.first { $0.name == Array("reason".utf8) }
        field("reason", reason?.value ?? refused.message)
        if !refused.hint.isEmpty { field("hint", refused.hint) }
    }
}
