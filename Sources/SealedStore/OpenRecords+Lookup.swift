internal import Secrets

extension OpenRecords {
    /// The opened record of a statement's present row.
    struct Opened {
        let parts: RecordBody.Parts
        /// The record has the name that was asked for; otherwise it has the same row id by chance.
        let isAsked: Bool
    }

    /// Whether the record's bucket is on many pages and none of them was read yet.
    func isFarAway(_ name: Span<UInt8>) throws(RecordsError) -> Bool {
        guard ledger.head.count >= ReadAhead.leastRecords else { return false }
        return ledger.buckets[try keys.identity(of: name).bucket] == .untested
    }

    func readAround(_ name: Span<UInt8>) throws(RecordsError) {
        try touch(try keys.identity(of: name).bucket)
    }

    /// The id of the row that a record of this name has.
    func row(of name: [UInt8]) throws(RecordsError) -> UInt64 {
        UInt64(bitPattern: try keys.identity(of: name.span).row)
    }

    /// The value's place in the target, or nil if there is no such record.
    @_lifetime(target: copy target)
    func value(
        of name: Span<UInt8>, into target: inout MutableSpan<UInt8>
    ) throws(RecordsError) -> Range<Int>? {
        guard (1...RecordBody.largestName).contains(name.count) else { return nil }
        let id = try keys.identity(of: name)
        try touch(id.bucket)
        let proof = proofIfWhole(id.bucket)
        lookUp.bind(1, id.row)
        defer { lookUp.reset() }
        guard try step(lookUp, in: id.bucket) else {
            // What is missing from a bucket may be this record.
            guard case .all = proof else { throw .damaged(.bucket(id.bucket)) }
            try confirmAbsent(id)
            return nil
        }
        let opened = try open(lookUp, row: id.row, asked: name, into: &target)
        guard proof.covers(UInt64(bitPattern: try lookUp.number(0))) else {
            Secrets.wipe(&target)
            throw .damaged(.bucket(id.bucket))
        }
        guard opened.isAsked else {
            Secrets.wipe(&target)
            return nil
        }
        return opened.parts.value
    }

    /// Like the statement's own `step`, but if SQLite cannot read the row, the bucket is marked as
    /// damaged.
    func step(_ statement: borrowing Statement, in bucket: Int) throws(RecordsError) -> Bool {
        do throws(RecordsError) {
            return try statement.step() == .row
        } catch {
            guard case .damaged = error else { throw error }
            ledger.buckets[bucket] = .damaged
            throw .damaged(.bucket(bucket))
        }
    }

    /// The columns are generation, tag, nonce, body. If it throws, it leaves zeroes in the target.
    @_lifetime(target: copy target)
    func open(
        _ statement: borrowing Statement, row: Int64, asked: Span<UInt8>?,
        into target: inout MutableSpan<UInt8>
    ) throws(RecordsError) -> Opened {
        let damage = RecordsError.damaged(.record(bucket: Bucket.of(UInt64(bitPattern: row))))
        let generation: UInt64
        do throws(RecordsError) {
            generation = UInt64(bitPattern: try statement.number(0))
        } catch { throw damage }
        let count = try statement.withBytes(3) { (sealed) throws(RecordsError) -> Int in
            guard sealed.count > 0, sealed.count <= RecordBody.largest else { throw damage }
            guard sealed.count <= target.count else { throw .bufferTooSmall }
            try withTag(of: statement, row) { (tag) throws(RecordsError) in
                try statement.withBytes(2) { (nonce) throws(RecordsError) in
                    var text = target._mutatingExtracting(..<sealed.count)
                    try keys.open(
                        sealed, record: row, generation: generation, nonce: nonce, tag: tag,
                        into: &text)
                }
            }
            return sealed.count
        }
        do {
            let body = target.span.extracting(..<count)
            let parts = try RecordBody.decode(body)
            let name = body.extracting(parts.name)
            if let asked, isEqual(name, asked) { return Opened(parts: parts, isAsked: true) }
            if try keys.identity(of: name).row == row {
                return Opened(parts: parts, isAsked: false)
            }
        } catch let error as RecordsError {
            wipe(&target, count)
            throw error
        } catch {}
        wipe(&target, count)
        throw damage
    }

    /// The tag that the row was stored with, which is not always the one that stands there.
    private func withTag(
        of statement: borrowing Statement, _ row: Int64,
        _ body: (Span<UInt8>) throws(RecordsError) -> Void
    ) throws(RecordsError) {
        if case .tag(let tag) = ledger.explained[row] { return try body(tag.span) }
        try statement.withBytes(1, body)
    }

    private func wipe(_ target: inout MutableSpan<UInt8>, _ count: Int) {
        var used = target._mutatingExtracting(..<count)
        Secrets.wipe(&used)
    }
}

func hasPrefix(_ name: Span<UInt8>, _ prefix: [UInt8]) -> Bool {
    name.count >= prefix.count && isEqual(name.extracting(..<prefix.count), prefix.span)
}

/// A plain comparison, not one in constant time: names are no secret to their owner.
func isEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    for index in left.indices where left[index] != right[index] { return false }
    return true
}
