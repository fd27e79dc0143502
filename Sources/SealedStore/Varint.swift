/// SQLite's numbers of one to nine bytes: seven bits a byte, the highest first, as long as the eighth is set; the ninth
/// byte gives all its bits.
enum Varint {
    /// The number that begins at a position, and where it ends; nil where the bytes end before.
    static func read(_ bytes: Span<UInt8>, at position: Int) -> (value: UInt64, end: Int)? {
        var value: UInt64 = 0
        for offset in 0..<9 {
            guard position >= 0, position + offset < bytes.count else { return nil }
            let byte = bytes[position + offset]
            if offset == 8 { return (value << 8 | UInt64(byte), position + 9) }
            value = value << 7 | UInt64(byte & 0x7f)
            if byte & 0x80 == 0 { return (value, position + offset + 1) }
        }
        return nil
    }
}
