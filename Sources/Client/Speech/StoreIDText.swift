/// Converts a store's UUID between its 16 bytes and the text that a person reads.
enum StoreIDText {
    static func parse(_ text: [UInt8]) -> [UInt8]? {
        var digits: [UInt8] = []
        for (index, byte) in text.enumerated() {
            switch byte {
            case 0x30...0x39: digits.append(byte - 0x30)
            case 0x41...0x46: digits.append(byte - 0x37)
            case 0x61...0x66: digits.append(byte - 0x57)
            case 0x2D where text.count == 36 && [8, 13, 18, 23].contains(index): continue
            default: return nil
            }
        }
        guard digits.count == 32 else { return nil }
        return (0..<16).map { digits[2 * $0] << 4 | digits[2 * $0 + 1] }
    }

    static func text(_ bytes: [UInt8]) -> String {
        let hex = Array("0123456789abcdef".utf8)
        var result: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(index) { result.append(0x2D) }
            result += [hex[Int(byte >> 4)], hex[Int(byte & 15)]]
        }
        return String(decoding: result, as: UTF8.self)
    }
}
