internal import Secrets

extension OpenRecords {
    /// A record that a statement stands on, opened.
    struct Opened {
        let parts: RecordBody.Parts
        /// The name inside is the one that was asked for; otherwise it has the same row id by chance.
        let isAsked: Bool
    }

    /// The value's place in the target, or nil where there is no such record.
    @_lifetime(target: copy target)
    func value(
        of name: Span<UInt8>, into target: inout MutableSpan<UInt8>
    ) throws(RecordsError) -> Range<Int>? {
        guard (1...RecordBody.largestName).contains(name.count) else { return nil }
        let id = try keys.identity(of: name)
        try touch(id.bucket)
        lookUp.bind(1, id.row)
        defer { lookUp.reset() }
        guard try step(lookUp, in: id.bucket) else {
            try confirmAbsent(id)
            return nil
        }
        let opened = try open(lookUp, row: id.row, asked: name, into: &target)
        guard opened.isAsked else {
            Secrets.wipe(&target)
            return nil
        }
        return opened.parts.value
    }

    /// As a statement's step, but what SQLite cannot read is the bucket's damage.
    func step(_ statement: borrowing Statement, in bucket: Int) throws(RecordsError) -> Bool {
        do throws(RecordsError) {
            return try statement.step() == .row
        } catch {
            guard case .damaged = error else { throw error }
            ledger.buckets[bucket] = .damaged
            throw .damaged(.bucket(bucket))
        }
    }

    /// Columns: generation, tag, nonce, body. Leaves zeroes in the target where it throws.
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
            try statement.withBytes(1) { (tag) throws(RecordsError) in
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

    private func wipe(_ target: inout MutableSpan<UInt8>, _ count: Int) {
        var used = target._mutatingExtracting(..<count)
        Secrets.wipe(&used)
    }
}

/// Names are no secrets to their owner: a plain comparison.
func isEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    for index in left.indices where left[index] != right[index] { return false }
    return true
}
