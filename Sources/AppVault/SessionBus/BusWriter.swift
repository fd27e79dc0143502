internal import Wire

/// Writes values as the D-Bus specification lays them out, little-endian.
struct BusWriter: ~Copyable {
    var bytes = WipedBytes(capacity: 512)

    mutating func align(_ size: Int) {
        while bytes.count % size != 0 { bytes.put(0) }
    }

    mutating func put(_ value: BusValue) {
        switch value {
        case .byte(let number): bytes.put(number)
        case .boolean(let flag): put32(flag ? 1 : 0)
        case .int32(let number): put32(UInt32(bitPattern: number))
        case .uint32(let number): put32(number)
        case .uint64(let number):
            align(8)
            bytes.put64(number)
        case .number(let type, let number):
            let size = BusSignature.alignment(of: type)
            align(size)
            for index in 0..<size {
                bytes.put(UInt8(truncatingIfNeeded: number >> (8 * UInt64(index))))
            }
        case .string(let text), .path(let text):
            put32(UInt32(text.utf8.count))
            bytes.put(Array(text.utf8).span)
            bytes.put(0)
        case .signature(let text):
            bytes.put(UInt8(truncatingIfNeeded: text.utf8.count))
            bytes.put(Array(text.utf8).span)
            bytes.put(0)
        case .bytes(let content):
            put32(UInt32(content.count))
            bytes.put(content.span)
        case .array(let element, let elements): put(elements, of: element)
        case .structure(let fields):
            align(8)
            for field in fields { put(field) }
        case .entry(let key, let value):
            align(8)
            put(key)
            put(value)
        case .variant(let value):
            put(.signature(value.signature))
            put(value)
        }
    }

    mutating func put32(_ number: UInt32) {
        align(4)
        bytes.put32(number)
    }

    /// The length does not count the padding before the first element.
    private mutating func put(_ elements: [BusValue], of signature: String) {
        align(4)
        let lengthAt = bytes.count
        bytes.put32(0)
        align(BusSignature.alignment(of: signature.utf8.first))
        let begin = bytes.count
        for element in elements { put(element) }
        bytes.replace32(at: lengthAt, with: UInt32(bytes.count - begin))
    }
}

enum BusSignature {
    static func alignment(of first: UInt8?) -> Int {
        switch first {
        case UInt8(ascii: "("), UInt8(ascii: "{"), UInt8(ascii: "t"), UInt8(ascii: "x"),
            UInt8(ascii: "d"):
            8
        case UInt8(ascii: "b"), UInt8(ascii: "i"), UInt8(ascii: "u"), UInt8(ascii: "s"),
            UInt8(ascii: "o"), UInt8(ascii: "a"), UInt8(ascii: "h"):
            4
        case UInt8(ascii: "n"), UInt8(ascii: "q"): 2
        default: 1
        }
    }
}
