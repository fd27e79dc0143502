/// Any bytes as the name of a file: letters, digits, `-` and `_` stand for themselves, all others
/// are `%` and two hexadecimal digits. A name that is too long for a file system is cut: what stands
/// before a cut is a folder, and ends with a `+`.
enum FileName {
    static let more = "+"
    private static let longest = 200

    /// The same in one piece.
    static func escaped(_ bytes: [UInt8]) -> String {
        bytes.map { isPlain($0) ? String(UnicodeScalar($0)) : "%" + hex($0) }.joined()
    }

    /// Nil for what nothing is written as.
    static func unescaped(_ text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        var bytes: [UInt8] = []
        var index = 0
        while index < digits.count {
            if digits[index] == UInt8(ascii: "%") {
                guard index + 2 < digits.count,
                    let byte = UInt8(
                        String(decoding: digits[index + 1...index + 2], as: UTF8.self), radix: 16)
                else { return nil }
                bytes.append(byte)
                index += 3
            } else {
                guard isPlain(digits[index]) else { return nil }
                bytes.append(digits[index])
                index += 1
            }
        }
        return escaped(bytes) == text ? bytes : nil
    }

    static func encoded(_ bytes: [UInt8]) -> String {
        var parts = [""]
        for byte in bytes {
            let text = isPlain(byte) ? String(UnicodeScalar(byte)) : "%" + hex(byte)
            if parts[parts.count - 1].utf8.count + text.utf8.count > longest {
                parts[parts.count - 1] += more
                parts.append("")
            }
            parts[parts.count - 1] += text
        }
        return parts.joined(separator: "/")
    }

    /// The folders before the last part.
    static func folders(_ bytes: [UInt8]) -> String {
        encoded(bytes).split(separator: "/").dropLast().joined(separator: "/")
    }

    /// Nil for a name that is none of ours, such as one that another program has left.
    static func decoded(_ text: String) -> [UInt8]? {
        guard let bytes = unescaped(text.filter { $0 != "/" && $0 != "+" }) else { return nil }
        // Nothing else is written so.
        return encoded(bytes) == text ? bytes : nil
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func hex(_ byte: UInt8) -> String {
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
}
