internal import Posix
internal import Secrets

/// Makes a records file anew where SQLite cannot read the present one, or a part of it, with the rows that lie scattered
/// in its pages. A row's seal names its id, and a bucket's sum says whether all of its rows were found, and no other one.
final class Rescue {
    /// Nil where SQLite cannot open the file at all.
    private let present: OpenRecords?
    private let scattered: ScatteredRows
    private let keys: RecordKeys
    private var ledger: Ledger
    private let head: [UInt8]
    private var nodes: [[UInt8]?] = Array(repeating: nil, count: Node.number)
    /// Of the buckets that are not taken over as SQLite reads them: where their rows lie.
    private var chosen: [Int: [ScatteredRows.Place]] = [:]
    /// The buckets of which it is not shown that all of their rows are there, and no other one. They
    /// have all that opens, and what else SQLite reads or lies there.
    private var unproven: Set<Int> = []
    /// Of such buckets, rows that do not open and may still tell their names.
    private var rest: [Int: [ScatteredRows.Place]] = [:]
    /// Whether SQLite reads as many rows as there are: then none is hidden. Counted where it matters.
    private var isTreeComplete: Bool?
    /// Whether the new file has something that SQLite does not read in the present one.
    private(set) var isWorthIt = false
    /// How many records of it SQLite does not read.
    private(set) var found = 0
    /// Whether all of it is as it was stored.
    var isWhole: Bool { unproven.isEmpty && broken == 0 && isHeadSure }
    /// Rows that do not open.
    private var broken = 0
    private var isHeadSure = true
    var generation: UInt64 { ledger.head.generation }

    private let block = Scratch(capacity: 4096)
    private let body = Scratch(capacity: 4096)

    /// Of a file that SQLite has open, and in which these buckets are damaged, or have rows that do not open.
    init(
        of present: OpenRecords, _ pages: RawPages, flawed: [Int]
    ) throws(RecordsError) {
        self.present = present
        let wanted = Set(flawed)
        scattered = try ScatteredRows(in: pages) { wanted.contains($0) }
        keys = try present.keys.again()
        head = try present.sealedHead()
        ledger = Ledger(head: present.ledger.head)
        try chooseNodes()
        for bucket in flawed { try choose(bucket) }
    }

    /// Of a file that SQLite cannot open. Nil where no head in it opens.
    init?(_ pages: RawPages, _ keys: borrowing RecordKeys) throws(RecordsError) {
        present = nil
        scattered = try ScatteredRows(in: pages) { _ in true }
        self.keys = try keys.again()
        guard let latest = try Self.latestHead(in: scattered, keys) else { return nil }
        head = latest.sealed
        ledger = Ledger(head: latest.head)
        isHeadSure = latest.isSure
        isWorthIt = true
        try chooseNodes()
        for bucket in 0..<Bucket.number { try choose(bucket) }
    }

    // MARK: head and nodes

    /// It is not sure where another one does not open: that may be a later one.
    private static func latestHead(
        in scattered: ScatteredRows, _ keys: borrowing RecordKeys
    ) throws(RecordsError) -> (sealed: [UInt8], head: Head, isSure: Bool)? {
        let block = Scratch(capacity: 4096)
        var latest: (sealed: [UInt8], head: Head)?
        var isSure = true
        for place in scattered.heads {
            guard let row = try scattered.row(at: place) else { continue }
            do throws(RecordsError) {
                let head = try Head(row.body, keys, block)
                guard head.generation > latest?.head.generation ?? 0 else { continue }
                latest = ([UInt8](copying: row.body), head)
            } catch {
                guard case .damaged = error else { throw error }
                isSure = false
            }
        }
        return latest.map { ($0.sealed, $0.head, isSure) }
    }

    private func chooseNodes() throws(RecordsError) {
        for index in 0..<Node.number {
            if let sealed = try present?.sealedNode(index), try take(sealed.span, index) {
                continue
            }
            var isFound = false
            for place in scattered.nodes[index] where !isFound {
                guard let row = try scattered.row(at: place) else { continue }
                isFound = try take(row.body, index)
            }
            if isFound { isWorthIt = true }
        }
    }

    /// The head names the generation of each node, so there is only one that can be the right one.
    private func take(_ sealed: Span<UInt8>, _ index: Int) throws(RecordsError) -> Bool {
        let generation = ledger.head.nodeGenerations[index]
        let node = try unlessDamaged { () throws(RecordsError) in
            try Node(sealed, at: index, generation: generation, keys, block)
        }
        guard let node else { return false }
        ledger.take(node, at: index)
        nodes[index] = [UInt8](copying: sealed)
        return true
    }

    // MARK: the rows of a bucket

    private func choose(_ bucket: Int) throws(RecordsError) {
        var choice = BucketChoice()
        for place in scattered.records[bucket] {
            guard let row = try scattered.row(at: place) else { continue }
            choice.add(
                BucketChoice.Row(place: place, opens: try opens(row)), generation: row.generation,
                try keys.term(row: row.id, tag: row.tag))
        }
        // Below none where SQLite cannot read the bucket.
        let given = try present?.opening(in: bucket) ?? -1
        let isGivenWhole = try present?.isWhole(bucket) ?? false
        if let rows = choice.rows(addingUpTo: try due(bucket)) {
            let opening = rows.count { $0.opens }
            broken += rows.count - opening
            if opening > given || !isGivenWhole { take(rows, of: bucket, given) }
            return
        }
        if isGivenWhole, ledger.head.mark(of: bucket)?.debt ?? .zero == .zero { return }
        unproven.insert(bucket)
        // What SQLite gives is right where nothing is hidden from it: what lies there besides was
        // deleted or moved.
        let isTreeRight = given < 0 ? false : try isComplete()
        if choice.latest.count > given, !isTreeRight {
            take(choice.latest, of: bucket, given)
            rest[bucket] = choice.rest
        }
    }

    /// The sum of all rows; nil where it is not known. What was found missing from a bucket when it
    /// was marked may lie there as well.
    private func due(_ bucket: Int) throws(RecordsError) -> Sum? {
        guard case .read(let node) = ledger.nodes[bucket / Node.width],
            ledger.head.mark(of: bucket)?.debt ?? .zero == .zero
        else { return nil }
        return node.sums[bucket % Node.width]
    }

    private func isComplete() throws(RecordsError) -> Bool {
        if let isTreeComplete { return isTreeComplete }
        let count = try unlessDamaged { () throws(RecordsError) in try present?.countRows() }
        let isComplete = count == ledger.head.count
        isTreeComplete = isComplete
        return isComplete
    }

    private func take(_ rows: [BucketChoice.Row], of bucket: Int, _ given: Int) {
        chosen[bucket] = rows.map(\.place)
        found += max(0, rows.count { $0.opens } - max(0, given))
        isWorthIt = true
    }

    private func opens(_ row: ScatteredRow) throws(RecordsError) -> Bool {
        body.resize(to: row.body.count)
        defer { body.clear() }
        let opened: Void? = try unlessDamaged { () throws(RecordsError) in
            try body.withMutableBytes { (text) throws(RecordsError) in
                try keys.open(
                    row.body, record: row.id, generation: UInt64(bitPattern: row.generation),
                    nonce: row.nonce, tag: row.tag, into: &text)
            }
        }
        return opened != nil
    }

    // MARK: the new file

    /// Reads the new file as it will be read. Throws where it has not all that was found.
    func check(_ coming: RecordsFolder) throws(RecordsError) {
        let made = try OpenRecords(
            coming, store: keys.store, key: try keys.all(), .recordKeys,
            keyGeneration: keys.generation)
        for bucket in 0..<Bucket.number where !unproven.contains(bucket) { try made.touch(bucket) }
        // Whatever is proven of it or not.
        for (bucket, places) in chosen {
            guard try made.rows(in: bucket) >= Set(places.map(\.row)).count
            else { throw .damaged(.bucket(bucket)) }
        }
    }

    /// Fills the new file. It is not synced yet; what SQLite has open of it is closed.
    func fill(_ coming: RecordsFolder) throws(RecordsError) {
        try NewRecords.fill(path: coming.file, keys)
        let database = try Database(path: coming.file)
        try database.run(Schema.settings)
        try database.run(Schema.settingsOfComing)
        let writing = try WriteStatements(database)
        try writing.begin.run()
        // In the order of the ids, of which the half is negative: so each row is added at the end of
        // the tree.
        let half = Bucket.number / 2
        for bucket in Array(half..<Bucket.number) + Array(0..<half) {
            for place in chosen[bucket] ?? [] { try insert(place, writing) }
            if unproven.contains(bucket) {
                try insertRest(of: bucket, writing)
            } else if chosen[bucket] == nil {
                try present?.copyRows(of: bucket, with: writing)
            }
            guard bucket % Node.width == 0 else { continue }
            try writing.commit.run()
            try writing.begin.run()
        }
        for (index, sealed) in nodes.enumerated() {
            let sealed = sealed ?? [0]
            writing.writeNode.bind(1, Int64(index))
            try writing.writeNode.bind(2, copying: sealed.span)
            try writing.writeNode.run()
        }
        let head = head
        try writing.writeHead.bind(1, copying: head.span)
        try writing.writeHead.run()
        try writing.commit.run()
        try database.emptyLog()
    }

    /// What else there is, as far as it can be read and its id is not taken.
    private func insertRest(
        of bucket: Int, _ writing: WriteStatements
    ) throws(RecordsError) {
        _ = try unlessDamaged { () throws(RecordsError) in
            try present?.copyRows(of: bucket, with: writing)
        }
        for place in rest[bucket] ?? [] {
            _ = try unlessDamaged { () throws(RecordsError) in try insert(place, writing) }
        }
    }

    private func insert(
        _ place: ScatteredRows.Place, _ writing: WriteStatements
    ) throws(RecordsError) {
        guard let row = try scattered.row(at: place) else { throw .damaged(.file) }
        writing.insert.bind(1, row.id)
        writing.insert.bind(2, row.generation)
        try writing.insert.bind(3, copying: row.tag)
        try writing.insert.bind(4, copying: row.nonce)
        try writing.insert.bind(5, copying: row.body)
        try writing.insert.run()
    }
}

extension OpenRecords {
    func isWhole(_ bucket: Int) throws(RecordsError) -> Bool {
        try unlessDamaged { () throws(RecordsError) in try touch(bucket) } != nil
    }

    /// How many rows of the bucket open; nil where SQLite cannot read it.
    fileprivate func opening(in bucket: Int) throws(RecordsError) -> Int? {
        try unlessDamaged { () throws(RecordsError) in
            var count = 0
            try rows(of: bucket) { (statement, row) throws(RecordsError) in
                if try opens(statement, row) { count += 1 }
                return .goOn
            }
            return count
        }
    }

    fileprivate func rows(in bucket: Int) throws(RecordsError) -> Int {
        var count = 0
        try rows(of: bucket) { (_, _) throws(RecordsError) in
            count += 1
            return .goOn
        }
        return count
    }

    /// As they stand there, also those that do not open. What was never stored is left out, what is no
    /// row of this table, and those whose id is taken.
    fileprivate func copyRows(
        of bucket: Int, with writing: WriteStatements
    ) throws(RecordsError) {
        try rows(of: bucket) { (statement, row) throws(RecordsError) in
            if case .foreign = ledger.explained[row] { return .goOn }
            writing.insert.bind(1, row)
            for column in 0..<4 {
                writing.insert.bind(Int32(column + 2), Int32(column), of: statement)
            }
            _ = try unlessDamaged { () throws(RecordsError) in try writing.insert.run() }
            return .goOn
        }
    }
}

/// Nil where something is damaged; what else went wrong is thrown.
private func unlessDamaged<R>(
    _ body: () throws(RecordsError) -> R
) throws(RecordsError) -> R? {
    do throws(RecordsError) { return try body() } catch {
        guard case .damaged = error else { throw error }
        return nil
    }
}
