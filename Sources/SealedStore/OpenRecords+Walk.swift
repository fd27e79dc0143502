internal import Secrets

/// Whether the caller of a walk wants the next record.
enum Walking { case goOn, stop }

extension OpenRecords {
    /// One call looks at no more than this, and then returns a cursor to go on from. A page of a
    /// huge store takes a few milliseconds, and then others get their turn.
    private static let rowBudget = 4096
    private static let byteBudget = 4 << 20

    /// Opens one record after another in the order of their hashes, beginning at the cursor.
    /// Returns the next cursor, or 0 at the end. A record is given only if its bucket's sum shows
    /// that it is the one that was stored; the others are named as damaged, and the walk goes on.
    func walk(
        from cursor: UInt64, _ visit: (_ name: Span<UInt8>, _ value: Span<UInt8>) -> Walking,
        damaged: (DamagedRecord) -> Walking
    ) throws(RecordsError) -> UInt64 {
        let statement = try database.prepare(
            "SELECT generation, tag, nonce, body, id FROM records WHERE id BETWEEN ?1 AND ?2")
        var rows = 0
        var bytes = 0
        defer { body.clear() }
        for bucket in Bucket.of(cursor)..<Bucket.number {
            // The sum is checked first, so that only unchanged records are given out.
            var proof = try proof(of: bucket)
            let range = Bucket.rows(bucket)
            let isBegun = bucket == Bucket.of(cursor) && Int64(bitPattern: cursor) != range.first
            statement.bind(1, isBegun ? Int64(bitPattern: cursor) : range.first)
            statement.bind(2, range.last)
            defer { statement.reset() }
            var isFull = false
            while !isFull {
                do throws(RecordsError) {
                    guard try step(statement, in: bucket) else { break }
                } catch {
                    guard case .damaged = error else { throw error }
                    proof = .none
                    break
                }
                let row = try statement.number(4)
                let size = statement.withBytes(3) { $0.count }
                let walking = try visitRow(statement, row, proof, visit, damaged)
                rows += 1
                bytes += size
                isFull = walking == .stop || rows >= Self.rowBudget || bytes >= Self.byteBudget
                // Behind a bucket's last row nothing would lead back to what it lacks.
                if isFull, row < range.last { return UInt64(bitPattern: row) + 1 }
            }
            rows += 1
            if let missing = missing(bucket, proof), damaged(missing) == .stop { isFull = true }
            if isFull || rows >= Self.rowBudget {
                return bucket + 1 < Bucket.number ? UInt64(bucket + 1) << 52 : 0
            }
        }
        return 0
    }

    private func visitRow(
        _ statement: borrowing Statement, _ row: Int64, _ proof: Proof,
        _ visit: (_ name: Span<UInt8>, _ value: Span<UInt8>) -> Walking,
        _ damaged: (DamagedRecord) -> Walking
    ) throws(RecordsError) -> Walking {
        let id = UInt64(bitPattern: row)
        body.resize(to: min(statement.withBytes(3) { $0.count }, RecordBody.largest))
        do throws(RecordsError) {
            return try body.withMutableBytes { (target) throws(RecordsError) in
                let opened = try open(statement, row: row, asked: nil, into: &target)
                let record = target.span
                let name = record.extracting(opened.parts.name)
                guard proof.covers(UInt64(bitPattern: try statement.number(0))) else {
                    return damaged(
                        DamagedRecord(kind: .unproven, id: id, name: [UInt8](copying: name)))
                }
                return visit(name, record.extracting(opened.parts.value))
            }
        } catch {
            guard case .damaged = error else { throw error }
        }
        return damaged(
            DamagedRecord(kind: .broken, id: id, name: try name(of: statement, row: row)))
    }

    /// What to tell at the end of a bucket in which something may be missing; of a damaged node
    /// once, at the end of its last bucket.
    private func missing(_ bucket: Int, _ proof: Proof) -> DamagedRecord? {
        if case .all = proof { return nil }
        var first = bucket
        if case .damaged = ledger.nodes[bucket / Node.width] {
            guard bucket % Node.width == Node.width - 1 else { return nil }
            first = bucket - bucket % Node.width
        }
        return DamagedRecord(kind: .missing, id: UInt64(first) << 52, name: [])
    }
}
