/// Where a run of bytes lies in a frame: a secret is never copied out by the decoder.
public struct Slice: Equatable, Sendable {
    public var start: Int
    public var count: Int

    public init(start: Int, count: Int) {
        self.start = start
        self.count = count
    }
}

/// Walks through the body of one frame. Each read measures before it indexes, so that no length a
/// peer sends can trap: a trap in the module would kill sshd, sudo or a display manager.
public struct Reader {
    public private(set) var position = 0

    public init() {}

    private mutating func take(_ count: Int, of body: Span<UInt8>) throws(WireError) -> Int {
        let start = position
        guard count >= 0, count <= body.count - start else { throw .cutShort }
        position = start + count
        return start
    }

    public mutating func u8(_ body: Span<UInt8>) throws(WireError) -> UInt8 {
        body[try take(1, of: body)]
    }

    public mutating func flag(_ body: Span<UInt8>) throws(WireError) -> Bool {
        switch try u8(body) {
        case 0: return false
        case 1: return true
        default: throw .unknownValue
        }
    }

    public mutating func u16(_ body: Span<UInt8>) throws(WireError) -> UInt16 {
        let at = try take(2, of: body)
        return UInt16(body[at]) | UInt16(body[at + 1]) << 8
    }

    public mutating func u32(_ body: Span<UInt8>) throws(WireError) -> UInt32 {
        let low = try u16(body)
        let high = try u16(body)
        return UInt32(low) | UInt32(high) << 16
    }

    public mutating func u64(_ body: Span<UInt8>) throws(WireError) -> UInt64 {
        let low = try u32(body)
        let high = try u32(body)
        return UInt64(low) | UInt64(high) << 32
    }

    /// Exactly `count` bytes, copied.
    public mutating func fixed(_ count: Int, _ body: Span<UInt8>) throws(WireError) -> [UInt8] {
        let start = try take(count, of: body)
        return copy(body, start, count)
    }

    /// Where the next `count` bytes are.
    public mutating func skip(_ count: Int, _ body: Span<UInt8>) throws(WireError) -> Range<Int> {
        let start = try take(count, of: body)
        return start..<start + count
    }

    /// UTF-8 of at most `limit` bytes behind a 16-bit length, without NUL.
    public mutating func text(_ body: Span<UInt8>, limit: Int = Limits.text) throws(WireError)
        -> [UInt8]
    {
        let count = Int(try u16(body))
        guard count <= limit else { throw .fieldTooLong }
        let start = try take(count, of: body)
        guard UTF8Check.isText(body, start: start, count: count) else { throw .notText }
        return copy(body, start, count)
    }

    /// Any bytes of at most `limit` behind a 16-bit length: a record's name.
    public mutating func bytes(_ body: Span<UInt8>, limit: Int) throws(WireError) -> [UInt8] {
        let count = Int(try u16(body))
        guard count <= limit else { throw .fieldTooLong }
        let start = try take(count, of: body)
        return copy(body, start, count)
    }

    /// A run behind a 32-bit length that stays where it is: a secret or a value. Always the last
    /// fields.
    public mutating func payload(_ body: Span<UInt8>, limit: Int) throws(WireError) -> Slice {
        let count = Int(try u32(body))
        guard count <= limit else { throw .fieldTooLong }
        return Slice(start: try take(count, of: body), count: count)
    }

    public func end(_ body: Span<UInt8>) throws(WireError) {
        guard position == body.count else { throw .trailingBytes }
    }

    private func copy(_ body: Span<UInt8>, _ start: Int, _ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        var index = start
        while index < start + count {
            bytes.append(body[index])
            index += 1
        }
        return bytes
    }
}

/// UTF-8 by its table (no overlong form, no surrogate, nothing past U+10FFFF), by hand because
/// Embedded Swift would otherwise bring the whole of String along.
public enum UTF8Check {
    public static func isText(_ bytes: Span<UInt8>, start: Int, count: Int) -> Bool {
        guard start >= 0, count >= 0, count <= bytes.count - start else { return false }
        let end = start + count
        var index = start
        while index < end {
            let lead = bytes[index]
            if lead == 0 { return false }
            if lead < 0x80 {
                index += 1
                continue
            }
            let length: Int
            var low: UInt8 = 0x80
            var high: UInt8 = 0xBF
            switch lead {
            case 0xC2...0xDF: length = 2
            case 0xE0: (length, low) = (3, 0xA0)
            case 0xED: (length, high) = (3, 0x9F)
            case 0xE1...0xEF: length = 3
            case 0xF0: (length, low) = (4, 0x90)
            case 0xF4: (length, high) = (4, 0x8F)
            case 0xF1...0xF3: length = 4
            default: return false
            }
            guard length <= end - index else { return false }
            guard bytes[index + 1] >= low, bytes[index + 1] <= high else { return false }
            var next = 2
            while next < length {
                guard bytes[index + next] & 0xC0 == 0x80 else { return false }
                next += 1
            }
            index += length
        }
        return true
    }
}
