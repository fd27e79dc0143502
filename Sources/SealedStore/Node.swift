/// 4,096 buckets, by the first 12 bits of a name's hash.
enum Bucket {
    static let number = 4096

    static func of(_ hash: UInt64) -> Int {
        Int(hash >> 52)
    }

    /// A bucket's first and last hash, as row ids. The hashes of one bucket have the same sign, so
    /// their order stays the same.
    static func rows(_ bucket: Int) -> (first: Int64, last: Int64) {
        let first = UInt64(bucket) << 52
        return (Int64(bitPattern: first), Int64(bitPattern: first | (1 << 52 - 1)))
    }
}

/// The sums of 64 neighbouring buckets, sealed together.
public struct Node: Equatable, Sendable {
    static let number = 64
    static let width = 64
    public static let size = width * 16

    var sums: [Sum]

    init() {
        sums = Array(repeating: .zero, count: Self.width)
    }

    public init(decoding bytes: Span<UInt8>) throws(FormatError) {
        guard bytes.count == Self.size else { throw .wrongSize }
        var reader = ByteReader()
        sums = []
        sums.reserveCapacity(Self.width)
        for _ in 0..<Self.width {
            sums.append(
                Sum(
                    first: try reader.number(bytes, UInt64.self),
                    second: try reader.number(bytes, UInt64.self)))
        }
    }

    /// Fills exactly `size` bytes.
    func encode(into target: inout MutableSpan<UInt8>) {
        var writer = ByteWriter()
        for sum in sums {
            writer.put(sum.first, &target)
            writer.put(sum.second, &target)
        }
    }
}
