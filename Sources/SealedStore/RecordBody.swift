/// The text that is sealed for a record: name length (1), name, value length (4), value, zeroes up
/// to a size class.
public enum RecordBody {
    public static let largestName = 255
    public static let largestValue = 1 << 20
    /// The size of the largest body. A buffer for `Records.value` must hold it.
    public static let largest = padded(5 + largestName + largestValue)

    /// Sizes grow in steps of 64 bytes up to 2 KiB, then in steps that grow with the size (Padme).
    /// Above 2 KiB at most 6.25 % are zeroes, and the size of a body of n bytes reveals only O(log
    /// log n) bits of its length.
    static func padded(_ count: Int) -> Int {
        let step: Int
        if count <= 2048 {
            step = 64
        } else {
            let exponent = Int.bitWidth - 1 - count.leadingZeroBitCount
            let kept = Int.bitWidth - exponent.leadingZeroBitCount
            step = 1 << (exponent - kept)
        }
        return (count + step - 1) / step * step
    }

    static func size(name: Int, value: Int) -> Int {
        padded(5 + name + value)
    }

    /// Fills the whole target, which must have the size that `size` gave.
    @_lifetime(target: copy target)
    static func encode(name: Span<UInt8>, value: Span<UInt8>, into target: inout MutableSpan<UInt8>)
    {
        var writer = ByteWriter()
        writer.put(UInt8(name.count), &target)
        writer.put(name, &target)
        writer.put(UInt32(value.count), &target)
        writer.put(value, &target)
        for index in writer.position..<target.count { target[index] = 0 }
    }

    public struct Parts: Equatable, Sendable {
        public let name: Range<Int>
        public let value: Range<Int>
    }

    /// Where name and value lie. Refuses every other encoding of the same record.
    public static func decode(_ body: Span<UInt8>) throws(FormatError) -> Parts {
        var reader = ByteReader()
        let nameCount = Int(try reader.number(body, UInt8.self))
        guard nameCount > 0 else { throw .outOfBounds }
        let name = try reader.bytes(body, nameCount)
        let valueCount = Int(try reader.number(body, UInt32.self))
        guard valueCount <= largestValue else { throw .outOfBounds }
        let value = try reader.bytes(body, valueCount)
        guard body.count == size(name: nameCount, value: valueCount) else { throw .wrongSize }
        var padding: UInt8 = 0
        for index in reader.position..<body.count { padding |= body[index] }
        guard padding == 0 else { throw .notCanonical }
        return Parts(name: name, value: value)
    }
}
