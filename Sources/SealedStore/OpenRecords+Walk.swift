internal import Secrets

/// Whether the caller of a walk wants the next record.
enum Walking { case goOn, stop }

extension OpenRecords {
    /// One call looks at no more than this, and then returns a cursor to go on from. A page of a
    /// huge store takes a few milliseconds, and then others get their turn.
    private static let rowBudget = 4096
    private static let byteBudget = 4 << 20

    /// Opens one record after another in the order of their hashes, beginning at the cursor.
    /// Returns the next cursor, or 0 at the end. The records of a bucket are given only if its rows
    /// are exactly the ones that were stored; a damaged bucket ends the walk.
    func walk(
        from cursor: UInt64, _ visit: (_ name: Span<UInt8>, _ value: Span<UInt8>) -> Walking
    ) throws(RecordsError) -> UInt64 {
        let statement = try database.prepare(
            "SELECT generation, tag, nonce, body, id FROM records WHERE id BETWEEN ?1 AND ?2")
        var rows = 0
        var bytes = 0
        defer { body.clear() }
        for bucket in Bucket.of(cursor)..<Bucket.number {
            // The sum is checked first, so that only complete, unchanged buckets are given out.
            _ = try check(bucket, for: nil)
            let range = Bucket.rows(bucket)
            statement.bind(
                1,
                max(
                    range.first,
                    bucket == Bucket.of(cursor) ? Int64(bitPattern: cursor) : range.first))
            statement.bind(2, range.last)
            defer { statement.reset() }
            while try step(statement, in: bucket) {
                let row = try statement.number(4)
                let size = statement.withBytes(3) { $0.count }
                body.resize(to: min(size, RecordBody.largest))
                let walking = try body.withMutableBytes { (target) throws(RecordsError) in
                    let opened = try open(statement, row: row, asked: nil, into: &target)
                    let record = target.span
                    return visit(
                        record.extracting(opened.parts.name), record.extracting(opened.parts.value))
                }
                rows += 1
                bytes += size
                if walking == .stop || rows >= Self.rowBudget || bytes >= Self.byteBudget {
                    // After the last of all hashes this is 0, the end.
                    return UInt64(bitPattern: row) &+ 1
                }
            }
            rows += 1
            if rows >= Self.rowBudget, bucket + 1 < Bucket.number {
                return UInt64(bucket + 1) << 52
            }
        }
        return 0
    }
}
