internal import Secrets

/// Which records of a bucket are known to be the ones that were stored last.
enum Proof {
    case all
    /// Only those that were written since this commit.
    case since(UInt64)
    case none

    func covers(_ generation: UInt64) -> Bool {
        switch self {
        case .all: true
        case .since(let before): generation > before
        case .none: false
        }
    }
}

extension OpenRecords {
    /// Of a bucket that was found whole.
    func proofIfWhole(_ bucket: Int) -> Proof {
        guard !ledger.head.marks.isEmpty, let mark = ledger.head.mark(of: bucket),
            mark.debt != .zero
        else { return .all }
        return .since(mark.generation)
    }

    /// What the rows of a bucket add up to, and whether the row is one of them. A tag of a wrong
    /// size adds nothing.
    func sum(of bucket: Int, for row: Int64?) throws(RecordsError) -> (sum: Sum, isThere: Bool) {
        var sum = Sum.zero
        var isThere = false
        let rows = Bucket.rows(bucket)
        scan.bind(1, rows.first)
        scan.bind(2, rows.last)
        defer { scan.reset() }
        while try scan.step() == .row {
            let found = try scan.number(0)
            if found == row { isThere = true }
            sum += try scan.withBytes(1) { (tag) throws(RecordsError) in
                tag.count == Sealing.tagSize ? try keys.term(row: found, tag: tag) : .zero
            }
        }
        return (sum, isThere)
    }

    /// What the bucket of a damaged sum owes. Throws if its rows cannot be read, or its sum.
    func debt(of bucket: Int, for row: Int64) throws(RecordsError) -> (debt: Sum, isThere: Bool) {
        let expected = try expected(bucket)
        do throws(RecordsError) {
            let found = try sum(of: bucket, for: row)
            return (expected - found.sum, found.isThere)
        } catch {
            guard case .damaged = error else { throw error }
            throw .damaged(.bucket(bucket))
        }
    }

    /// The highest number of a commit that a row of the bucket is of. Only rows that open count:
    /// nothing else vouches for the number.
    func latest(of bucket: Int) throws(RecordsError) -> UInt64 {
        var latest: UInt64 = 0
        try rows(of: bucket) { (statement, row) throws(RecordsError) in
            if try opens(statement, row) {
                latest = max(latest, UInt64(bitPattern: try statement.number(0)))
            }
            return .goOn
        }
        return latest
    }

    // MARK: Rows that do not open

    /// A row that does not open, and what else than its stored tag it may have added to the sum.
    private struct Suspect {
        let row: Int64
        let stored: Sum
        let tag: [UInt8]?
        let tagged: Sum
    }

    /// More rows that do not open in one bucket are not sorted out: each triples the work.
    private static let mostSuspects = 5

    /// Whether rows that do not open are all that is wrong with a bucket whose rows lack this much
    /// of its sum: each may have been stored with another tag, or not at all. If they are, what
    /// they are is noted.
    func explain(_ bucket: Int, lacking: Sum) throws(RecordsError) -> Bool {
        var suspects: [Suspect] = []
        do throws(RecordsError) {
            try rows(of: bucket) { (statement, row) throws(RecordsError) in
                guard suspects.count <= Self.mostSuspects else { return .stop }
                // What it was taken for before means nothing now.
                ledger.explained[row] = nil
                if try !opens(statement, row) { suspects.append(try suspect(statement, row)) }
                return .goOn
            }
        } catch {
            guard case .damaged = error else { throw error }
            return false
        }
        guard !suspects.isEmpty, suspects.count <= Self.mostSuspects else { return false }
        var choice = [Int](repeating: 0, count: suspects.count)
        repeat {
            var rest = lacking
            for (suspect, chosen) in zip(suspects, choice) where chosen > 0 {
                rest += suspect.stored
                if chosen == 2 { rest -= suspect.tagged }
            }
            if rest == .zero {
                note(suspects, choice)
                return true
            }
        } while Self.next(&choice, suspects)
        return false
    }

    /// The next combination; false after the last.
    private static func next(_ choice: inout [Int], _ suspects: [Suspect]) -> Bool {
        for index in choice.indices {
            choice[index] += 1
            if choice[index] <= (suspects[index].tag == nil ? 1 : 2) { return true }
            choice[index] = 0
        }
        return false
    }

    private func note(_ suspects: [Suspect], _ choice: [Int]) {
        for (suspect, chosen) in zip(suspects, choice) {
            switch chosen {
            case 0: ledger.explained[suspect.row] = nil
            case 1: ledger.explained[suspect.row] = .foreign
            default: ledger.explained[suspect.row] = suspect.tag.map { .tag($0) }
            }
        }
    }

    private func suspect(
        _ statement: borrowing Statement, _ row: Int64
    ) throws(RecordsError) -> Suspect {
        let stored = try statement.withBytes(1) { (tag) throws(RecordsError) in
            tag.count == Sealing.tagSize ? try keys.term(row: row, tag: tag) : .zero
        }
        let tag = try unverified(statement, row: row) { _, tag in tag }
        let tagged = if let tag { try keys.term(row: row, tag: tag.span) } else { Sum.zero }
        return Suspect(row: row, stored: stored, tag: tag, tagged: tagged)
    }

    /// The text of a row that nothing vouches for, and the tag that it would have been stored with.
    /// Nil if it is no record at all.
    private func unverified<R>(
        _ statement: borrowing Statement, row: Int64,
        _ body: (_ text: Span<UInt8>, _ tag: [UInt8]) -> R
    ) throws(RecordsError) -> R? {
        let size = statement.withBytes(3) { $0.count }
        guard size > 0, size <= RecordBody.largest,
            statement.withBytes(2, { $0.count }) == Sealing.nonceSize,
            let number = try? statement.number(0)
        else { return nil }
        self.body.resize(to: size)
        defer { self.body.clear() }
        let tag = try self.body.withMutableBytes { (text) throws(RecordsError) in
            statement.withBytes(3) { copy($0, to: &text, at: 0) }
            return try statement.withBytes(2) { (nonce) throws(RecordsError) in
                try keys.unverified(
                    &text, record: row, generation: UInt64(bitPattern: number), nonce: nonce)
            }
        }
        return self.body.withBytes { text in body(text, tag) }
    }

    /// The name of a row that does not open; empty if it is gone. It is the record's, because the
    /// row's id is a keyed hash of it.
    func name(of statement: borrowing Statement, row: Int64) throws(RecordsError) -> [UInt8] {
        let found = try unverified(statement, row: row) { text, _ -> [UInt8] in
            let count = Int(text[0])
            guard count > 0, count < text.count else { return [] }
            return [UInt8](copying: text.extracting(1..<1 + count))
        }
        guard let found, !found.isEmpty, try keys.identity(of: found.span).row == row
        else { return [] }
        return found
    }

    func opens(_ statement: borrowing Statement, _ row: Int64) throws(RecordsError) -> Bool {
        body.resize(to: min(statement.withBytes(3) { $0.count }, RecordBody.largest))
        defer { body.clear() }
        do throws(RecordsError) {
            _ = try body.withMutableBytes { (target) throws(RecordsError) in
                try open(statement, row: row, asked: nil, into: &target)
            }
            return true
        } catch {
            guard case .damaged = error else { throw error }
            return false
        }
    }

    /// Every row of a bucket; the columns are generation, tag, nonce, body, id.
    func rows(
        of bucket: Int,
        _ visit: (borrowing Statement, _ row: Int64) throws(RecordsError) -> Walking
    ) throws(RecordsError) {
        let reading = try rowStatement()
        let range = Bucket.rows(bucket)
        reading.statement.bind(1, range.first)
        reading.statement.bind(2, range.last)
        defer { reading.statement.reset() }
        while try reading.statement.step() == .row {
            if try visit(reading.statement, try reading.statement.number(4)) == .stop { return }
        }
    }
}
