/// A walk through bytes that a foreign program wrote, or somebody who would like us to believe so:
/// each step checks that what it takes is there. Numbers are big-endian.
struct Walk {
    private(set) var position: Int
    let end: Int

    init(_ position: Int = 0, to end: Int) {
        self.position = position
        self.end = end
    }

    var isAtEnd: Bool { position >= end }
    var left: Int { end - position }

    mutating func take(_ count: Int) throws(ForeignProblem) -> Range<Int> {
        guard count >= 0, count <= left else { throw .damaged }
        defer { position += count }
        return position..<(position + count)
    }

    mutating func byte(_ bytes: Span<UInt8>) throws(ForeignProblem) -> UInt8 {
        bytes[try take(1).lowerBound]
    }

    mutating func uint32(_ bytes: Span<UInt8>) throws(ForeignProblem) -> UInt32 {
        try take(4).reduce(0) { $0 << 8 | UInt32(bytes[$1]) }
    }

    mutating func uint64(_ bytes: Span<UInt8>) throws(ForeignProblem) -> UInt64 {
        try take(8).reduce(0) { $0 << 8 | UInt64(bytes[$1]) }
    }

    /// Bytes behind their count. A count of all ones is no bytes at all.
    mutating func counted(_ bytes: Span<UInt8>) throws(ForeignProblem) -> Range<Int>? {
        let count = try uint32(bytes)
        return count == .max ? nil : try take(Int(count))
    }

    /// How many entries follow, each of at least this many bytes: no count makes us ask for more
    /// memory than the file itself has.
    mutating func count(
        _ bytes: Span<UInt8>, ofAtLeast size: Int
    ) throws(ForeignProblem) -> Int {
        let count = Int(try uint32(bytes))
        guard count <= left / size else { throw .damaged }
        return count
    }
}

extension Span<UInt8> {
    func copy(_ range: Range<Int>) -> [UInt8] { range.map { self[$0] } }

    func holds(_ bytes: [UInt8], at start: Int) -> Bool {
        guard start >= 0, bytes.count <= count - start else { return false }
        return bytes.indices.allSatisfy { self[start + $0] == bytes[$0] }
    }
}
