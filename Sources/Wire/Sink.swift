/// Where an encoder puts its bytes. The daemon, the clients and the module each bring a buffer of
/// their own, because what crosses may be a secret and the wiping belongs to whoever holds the
/// memory.
public protocol Sink: ~Copyable {
    mutating func put(_ byte: UInt8)
    mutating func put(_ bytes: Span<UInt8>)
}

extension Sink where Self: ~Copyable {
    public mutating func put16(_ value: UInt16) {
        put(UInt8(truncatingIfNeeded: value))
        put(UInt8(truncatingIfNeeded: value >> 8))
    }

    public mutating func put32(_ value: UInt32) {
        put16(UInt16(truncatingIfNeeded: value))
        put16(UInt16(truncatingIfNeeded: value >> 16))
    }

    public mutating func put64(_ value: UInt64) {
        put32(UInt32(truncatingIfNeeded: value))
        put32(UInt32(truncatingIfNeeded: value >> 32))
    }

    public mutating func put(flag: Bool) {
        put(flag ? 1 : 0)
    }

    public mutating func put(fixed bytes: [UInt8]) {
        for byte in bytes { put(byte) }
    }

    /// A text or a name behind a 16-bit length. What is longer than 65,535 is cut: no caller has
    /// such a one.
    public mutating func put(text bytes: [UInt8]) {
        let count = min(bytes.count, Int(UInt16.max))
        put16(UInt16(count))
        for byte in bytes.prefix(count) { put(byte) }
    }

    public mutating func put(payload bytes: Span<UInt8>) {
        put32(UInt32(truncatingIfNeeded: bytes.count))
        put(bytes)
    }
}

/// Counts instead of writing: the length of a frame stands before its body.
public struct Counter: Sink {
    public private(set) var count = 0

    public init() {}

    public mutating func put(_ byte: UInt8) { count += 1 }
    public mutating func put(_ bytes: Span<UInt8>) { count += bytes.count }
}

extension [UInt8]: Sink {
    public mutating func put(_ byte: UInt8) { append(byte) }
    public mutating func put(_ bytes: Span<UInt8>) {
        reserveCapacity(count + bytes.count)
        var index = 0
        while index < bytes.count {
            append(bytes[index])
            index += 1
        }
    }
}
