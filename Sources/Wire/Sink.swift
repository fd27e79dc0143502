/// Where an encoder puts its bytes. The daemon, the clients and the module each bring a buffer of
/// their own, because what crosses may be a secret and the wiping belongs to whoever holds the
/// memory.
public protocol Sink: Coder, ~Copyable {
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

    public mutating func put(payload bytes: Span<UInt8>) {
        put32(UInt32(truncatingIfNeeded: bytes.count))
        put(bytes)
    }
}

/// A sink is given the fields as they are: what is too long is the reader's to refuse.
extension Sink where Self: ~Copyable {
    public mutating func u8(_ field: inout UInt8) { put(field) }
    public mutating func u16(_ field: inout UInt16) { put16(field) }
    public mutating func u32(_ field: inout UInt32) { put32(field) }
    public mutating func u64(_ field: inout UInt64) { put64(field) }
    public mutating func flag(_ field: inout Bool) { put(field ? 1 : 0) }

    public mutating func value<V: RawRepresentable>(_ field: inout V) where V.RawValue == UInt8 {
        put(field.rawValue)
    }

    public mutating func fixed(_ field: inout [UInt8], _ count: Int) {
        for byte in field { put(byte) }
    }

    public mutating func text(_ field: inout [UInt8], limit: Int) {
        bytes(&field, limit: limit)
    }

    /// What is longer than 65,535 is cut: no caller has such a one.
    public mutating func bytes(_ field: inout [UInt8], limit: Int) {
        let count = min(field.count, Int(UInt16.max))
        put16(UInt16(count))
        for byte in field.prefix(count) { put(byte) }
    }

    public mutating func each<Element>(
        _ list: inout [Element], _ length: ListLength, blank: Element,
        _ fields: (inout Self, inout Element) -> Void
    ) {
        let count = length.isCut ? min(list.count, length.allowed.upperBound) : list.count
        if length.isWide {
            put16(UInt16(truncatingIfNeeded: count))
        } else {
            put(UInt8(truncatingIfNeeded: count))
        }
        var index = 0
        while index < count {
            var entry = list[index]
            fields(&self, &entry)
            index += 1
        }
    }

    public mutating func require(_ holds: Bool, else error: WireError) {}
}

/// Counts instead of writing: the length of a frame stands before its body.
public struct Counter: Sink {
    public private(set) var count = 0

    public init() {}

    public mutating func put(_ byte: UInt8) { count += 1 }
    public mutating func put(_ bytes: Span<UInt8>) { count += bytes.count }
}

extension [UInt8]: Sink, Coder {
    public mutating func put(_ byte: UInt8) { append(byte) }
    public mutating func put(_ bytes: Span<UInt8>) {
        // SAFETY: the bytes are copied before the pointer ends. In one piece: there may be a megabyte.
        unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }
}
