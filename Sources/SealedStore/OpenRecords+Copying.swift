internal import Posix

/// Some records on their way into another file.
struct Piece {
    var changes: [Change] = []
    /// The id of the row to go on from; nil at the end.
    var next: UInt64?
}

extension OpenRecords {
    /// A bucket without a record is looked at in microseconds, a full one by the records that are
    /// taken from it.
    private static let mostBuckets = 256
    /// A larger record is alone in its piece.
    static let mostBytes = 128 << 10

    /// Copies of the records from this row on. Unlike `walk`, it throws at the first damage: a copy
    /// would hide what was done to the records beside it.
    func piece(from start: UInt64, atMost count: Int) throws(RecordsError) -> Piece {
        var piece = Piece()
        var bytes = 0
        let statement = try database.prepare(
            "SELECT generation, tag, nonce, body, id FROM records WHERE id BETWEEN ?1 AND ?2")
        defer { body.clear() }
        let first = Bucket.of(start)
        let end = min(first + Self.mostBuckets, Bucket.number)
        for bucket in first..<end {
            // Each time, and not only once: what is copied is taken for proven from then on.
            _ = try check(bucket, for: nil)
            let range = Bucket.rows(bucket)
            statement.bind(1, bucket == first ? Int64(bitPattern: start) : range.first)
            statement.bind(2, range.last)
            defer { statement.reset() }
            while try step(statement, in: bucket) {
                let row = try statement.number(4)
                bytes += statement.withBytes(3) { $0.count }
                let isFull = piece.changes.count >= count || bytes > Self.mostBytes
                if isFull, !piece.changes.isEmpty {
                    piece.next = UInt64(bitPattern: row)
                    return piece
                }
                piece.changes.append(try copy(statement, row))
            }
        }
        piece.next = end < Bucket.number ? UInt64(end) << 52 : nil
        return piece
    }

    private func copy(
        _ statement: borrowing Statement, _ row: Int64
    ) throws(RecordsError) -> Change {
        body.resize(to: min(statement.withBytes(3) { $0.count }, RecordBody.largest))
        return try body.withMutableBytes { (target) throws(RecordsError) in
            let opened = try open(statement, row: row, asked: nil, into: &target)
            let record = target.span
            return .set(
                name: [UInt8](copying: record.extracting(opened.parts.name)),
                value: WipedBuffer(copying: record.extracting(opened.parts.value)))
        }
    }
}
