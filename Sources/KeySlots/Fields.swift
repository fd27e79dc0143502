// Numbers in payloads are little-endian, and payloads are filled up with zeroes.

package struct FieldWriter {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    package mutating func put<T: FixedWidthInteger & UnsignedInteger>(_ number: T) {
        for index in 0..<(T.bitWidth / 8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> T(8 * index)))
        }
    }

    package mutating func put(_ part: [UInt8]) {
        bytes.append(contentsOf: part)
    }

    /// One byte of length, then the text, padded with zeroes to the limit.
    package mutating func put(text: [UInt8], limit: Int) throws(KeyError) {
        guard text.count <= limit, limit <= 255 else { throw .tooLong }
        bytes.append(UInt8(text.count))
        bytes.append(contentsOf: text)
        bytes.append(contentsOf: repeatElement(0, count: limit - text.count))
    }
}

package struct FieldReader {
    private let bytes: [UInt8]
    private var offset = 0

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    package mutating func number<T: FixedWidthInteger & UnsignedInteger>(_: T.Type = T.self) -> T? {
        guard let part = bytes(T.bitWidth / 8) else { return nil }
        return part.reversed().reduce(0) { $0 << 8 | T($1) }
    }

    package mutating func flag() -> Bool? {
        guard let byte = number(UInt8.self), byte <= 1 else { return nil }
        return byte == 1
    }

    package mutating func bytes(_ count: Int) -> [UInt8]? {
        guard bytes.count - offset >= count else { return nil }
        defer { offset += count }
        return Array(bytes[offset..<(offset + count)])
    }

    package mutating func text(limit: Int) -> [UInt8]? {
        guard let count = number(UInt8.self), let room = bytes(limit), count <= limit,
            room[Int(count)...].allSatisfy({ $0 == 0 })
        else { return nil }
        return Array(room[..<Int(count)])
    }

    /// Bytes that this version does not know must be zero.
    package var restIsZero: Bool { bytes[offset...].allSatisfy { $0 == 0 } }
}
