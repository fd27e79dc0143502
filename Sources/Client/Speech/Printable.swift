import Posix
import Wire

/// What may safely reach a terminal: no control bytes, nothing that turns the direction of writing, no broken UTF-8.
package enum Printable {
    package static func escaped(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        write(bytes.span, isKept: { _ in false }) { result.append($0) }
        return result
    }

    /// A value as a terminal may get it: lines and tabs stay what they are.
    static func escape(_ value: borrowing SecretBuffer, into result: inout SecretBuffer) {
        value.withSpan { bytes in
            write(bytes, isKept: { $0 == 0x0A || $0 == 0x09 }) { result.append($0) }
        }
    }

    private static func write(
        _ bytes: Span<UInt8>, isKept: (UInt8) -> Bool, _ put: (UInt8) -> Void
    ) {
        var index = 0
        while index < bytes.count {
            let length = sequence(bytes, at: index)
            let isShown =
                length == 1
                ? (0x20..<0x7F).contains(bytes[index]) || isKept(bytes[index])
                : !isTreacherous(bytes, index..<(index + length))
            for place in index..<(index + length) {
                if isShown { put(bytes[place]) } else { hexadecimal(bytes[place], put) }
            }
            index += length
        }
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
    private static func sequence(_ bytes: Span<UInt8>, at index: Int) -> Int {
        let length =
            switch bytes[index] {
            case 0xC2...0xDF: 2
            case 0xE0...0xEF: 3
            case 0xF0...0xF4: 4
            default: 1
            }
        guard UTF8Check.isText(bytes, start: index, count: length) else { return 1 }
        return length
    }

    /// C1 controls, the marks and overrides of bidirectional text, line and paragraph separators.
    private static func isTreacherous(_ bytes: Span<UInt8>, _ place: Range<Int>) -> Bool {
        let (first, second) = (bytes[place.lowerBound], bytes[place.lowerBound + 1])
        if place.count == 2 {
            return first == 0xC2 && second < 0xA0 || first == 0xD8 && second == 0x9C
        }
        guard place.count == 3, first == 0xE2 else { return false }
        switch (second, bytes[place.lowerBound + 2]) {
        case (0x80, 0x8E...0x8F), (0x80, 0xA8...0xAE), (0x81, 0xA6...0xA9): return true
        default: return false
        }
    }

    private static func hexadecimal(_ byte: UInt8, _ put: (UInt8) -> Void) {
        put(0x5C)
        put(0x78)
        for digit in [byte >> 4, byte & 15] {
            put(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
    }
}
