import Wire

/// What may safely reach a terminal: no control bytes, nothing that turns the direction of writing, no broken UTF-8.
enum Printable {
    static func escaped(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            let length = sequence(bytes, at: index)
            if length == 1 {
                let byte = bytes[index]
                if byte < 0x20 || byte == 0x7F || byte >= 0x80 {
                    result += hexadecimal(byte)
                } else {
                    result.append(byte)
                }
            } else if isTreacherous(bytes[index..<(index + length)]) {
                for byte in bytes[index..<(index + length)] { result += hexadecimal(byte) }
            } else {
                result += bytes[index..<(index + length)]
            }
            index += length
        }
        return result
    }

    static func isUTF8(_ bytes: [UInt8]) -> Bool {
        isUTF8(bytes.span)
    }

    /// A value may contain NUL. Wire's check is for texts, which may not, so the parts between NULs
    /// are checked.
    static func isUTF8(_ bytes: Span<UInt8>) -> Bool {
        var start = 0
        var index = 0
        while index <= bytes.count {
            if index == bytes.count || bytes[index] == 0 {
                guard UTF8Check.isText(bytes, start: start, count: index - start) else {
                    return false
                }
                start = index + 1
            }
            index += 1
        }
        return true
    }

    /// The length of the complete character at `index`; 1 for ASCII and for a byte that begins no
    /// character.
    private static func sequence(_ bytes: [UInt8], at index: Int) -> Int {
        let length =
            switch bytes[index] {
            case 0xC2...0xDF: 2
            case 0xE0...0xEF: 3
            case 0xF0...0xF4: 4
            default: 1
            }
        guard UTF8Check.isText(bytes.span, start: index, count: length) else { return 1 }
        return length
    }

    /// C1 controls, the marks and overrides of bidirectional text, line and paragraph separators.
    private static func isTreacherous(_ character: ArraySlice<UInt8>) -> Bool {
        let bytes = Array(character)
        if bytes.count == 2 {
            return bytes[0] == 0xC2 && bytes[1] < 0xA0 || bytes[0] == 0xD8 && bytes[1] == 0x9C
        }
        guard bytes.count == 3, bytes[0] == 0xE2 else { return false }
        switch (bytes[1], bytes[2]) {
        case (0x80, 0x8E...0x8F), (0x80, 0xA8...0xAE), (0x81, 0xA6...0xA9): return true
        default: return false
        }
    }

    private static func hexadecimal(_ byte: UInt8) -> [UInt8] {
        let digits = Array("0123456789abcdef".utf8)
        return [0x5C, 0x78, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
}
