/// The one block that every commit writes anew: the present generation of each node, the changes
/// since the nodes were written, and which buckets are marked.
public struct Head: Equatable, Sendable {
    /// A change of a bucket's sum that is not in its node yet.
    struct Entry: Equatable, Sendable {
        let bucket: UInt16
        var delta: Sum
    }

    /// A bucket in which something damaged was written over. It stays here until the owner
    /// acknowledges it, so that writing hides nothing else that happened to the bucket.
    struct Mark: Equatable, Sendable {
        let bucket: UInt16
        /// Of the last commit before. What was written since is as it was stored.
        var generation: UInt64
        /// What the bucket's rows lack of its sum. With none, all of them are as they were stored.
        var debt: Sum
    }

    var generation: UInt64
    var count: UInt64
    var nodeGenerations: [UInt64]
    var journal: [Entry]
    var marks: [Mark]

    /// The journal's, if there is no mark.
    static let journalSize = 128
    static let mostMarks = 64
    private static let entrySize = 18
    private static let markSize = 26
    private static let room = journalSize * entrySize
    /// Generation, count, length of the journal, number of marks, four zeroes, the nodes'
    /// generations; then the journal and the marks share the rest.
    public static let size = 24 + Node.number * 8 + room

    init(nodeGenerations: [UInt64]) {
        generation = 1
        count = 0
        self.nodeGenerations = nodeGenerations
        journal = []
        journal.reserveCapacity(Self.journalSize)
        marks = []
    }

    /// Whether so many entries and marks have room together.
    static func fits(journal: Int, marks: Int) -> Bool {
        marks <= mostMarks && journal * entrySize + marks * markSize <= room
    }

    func mark(of bucket: Int) -> Mark? {
        marks.first { Int($0.bucket) == bucket }
    }

    public init(decoding bytes: Span<UInt8>) throws(FormatError) {
        guard bytes.count == Self.size else { throw .wrongSize }
        var reader = ByteReader()
        generation = try reader.number(bytes, UInt64.self)
        count = try reader.number(bytes, UInt64.self)
        let length = Int(try reader.number(bytes, UInt16.self))
        let markCount = Int(try reader.number(bytes, UInt16.self))
        guard generation > 0, Self.fits(journal: length, marks: markCount)
        else { throw .outOfBounds }
        guard try reader.number(bytes, UInt32.self) == 0 else { throw .notCanonical }
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
        marks = []
        for _ in 0..<markCount {
            let bucket = try reader.number(bytes, UInt16.self)
            let before = try reader.number(bytes, UInt64.self)
            guard bucket < Bucket.number, before < generation else { throw .outOfBounds }
            guard mark(of: Int(bucket)) == nil else { throw .notCanonical }
            let debt = Sum(
                first: try reader.number(bytes, UInt64.self),
                second: try reader.number(bytes, UInt64.self))
            marks.append(Mark(bucket: bucket, generation: before, debt: debt))
        }
        for index in reader.position..<bytes.count where bytes[index] != 0 { throw .notCanonical }
    }

    /// Into exactly `size` bytes.
    func encode(into target: inout MutableSpan<UInt8>) {
        var writer = ByteWriter()
        writer.put(generation, &target)
        writer.put(count, &target)
        writer.put(UInt16(journal.count), &target)
        writer.put(UInt16(marks.count), &target)
        writer.put(UInt32(0), &target)
        for node in nodeGenerations { writer.put(node, &target) }
        for entry in journal {
            writer.put(entry.bucket, &target)
            writer.put(entry.delta.first, &target)
            writer.put(entry.delta.second, &target)
        }
        for mark in marks {
            writer.put(mark.bucket, &target)
            writer.put(mark.generation, &target)
            writer.put(mark.debt.first, &target)
            writer.put(mark.debt.second, &target)
        }
        for index in writer.position..<target.count { target[index] = 0 }
    }
}
