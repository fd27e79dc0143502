/// The one block that every commit writes anew: the present generation of each node, and the
/// changes since the nodes were written.
public struct Head: Equatable, Sendable {
    /// A change of a bucket's sum that is not in its node yet.
    struct Entry: Equatable, Sendable {
        let bucket: UInt16
        var delta: Sum
    }

    var generation: UInt64
    var count: UInt64
    var nodeGenerations: [UInt64]
    var journal: [Entry]

    static let journalSize = 128
    /// Generation, count, length of the journal, six zeroes, the nodes' generations, the journal.
    public static let size = 24 + Node.number * 8 + journalSize * 18

    init(nodeGenerations: [UInt64]) {
        generation = 1
        count = 0
        self.nodeGenerations = nodeGenerations
        journal = []
        journal.reserveCapacity(Self.journalSize)
    }

    public init(decoding bytes: Span<UInt8>) throws(FormatError) {
        guard bytes.count == Self.size else { throw .wrongSize }
        var reader = ByteReader()
        generation = try reader.number(bytes, UInt64.self)
        count = try reader.number(bytes, UInt64.self)
        let length = Int(try reader.number(bytes, UInt16.self))
        guard generation > 0, length <= Self.journalSize else { throw .outOfBounds }
        guard try reader.number(bytes, UInt16.self) == 0, try reader.number(bytes, UInt32.self) == 0
        else { throw .notCanonical }
        nodeGenerations = []
        nodeGenerations.reserveCapacity(Node.number)
        for _ in 0..<Node.number {
            let node = try reader.number(bytes, UInt64.self)
            guard node <= generation else { throw .outOfBounds }
            nodeGenerations.append(node)
        }
        journal = []
        journal.reserveCapacity(Self.journalSize)
        for _ in 0..<length {
            let bucket = try reader.number(bytes, UInt16.self)
            guard bucket < Bucket.number else { throw .outOfBounds }
            let delta = Sum(
                first: try reader.number(bytes, UInt64.self),
                second: try reader.number(bytes, UInt64.self))
            guard !journal.contains(where: { $0.bucket == bucket }) else { throw .notCanonical }
            journal.append(Entry(bucket: bucket, delta: delta))
        }
        for index in reader.position..<bytes.count where bytes[index] != 0 { throw .notCanonical }
    }

    /// Into exactly `size` bytes.
    func encode(into target: inout MutableSpan<UInt8>) {
        var writer = ByteWriter()
        writer.put(generation, &target)
        writer.put(count, &target)
        writer.put(UInt16(journal.count), &target)
        writer.put(UInt16(0), &target)
        writer.put(UInt32(0), &target)
        for node in nodeGenerations { writer.put(node, &target) }
        for entry in journal {
            writer.put(entry.bucket, &target)
            writer.put(entry.delta.first, &target)
            writer.put(entry.delta.second, &target)
        }
        for index in writer.position..<target.count { target[index] = 0 }
    }
}
