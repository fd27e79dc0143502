internal import Posix
internal import Secrets

/// An open records file: the connection, the keys, and what is known of the sums.
final class OpenRecords {
    let keys: RecordKeys
    let database: Database
    let pages: FilePages
    private let logPath: String
    let lookUp: Statement
    let scan: Statement
    private let readHead: Statement
    private let readNode: Statement
    /// Prepared at the first change, because most logins only read.
    private var writing: WriteStatements?
    /// Prepared where rows are looked at one by one, because most logins read a few.
    private var reading: RowStatement?

    var ledger: Ledger
    /// The number of the last commit that is on the disk; the ledger's is ahead during a commit.
    private(set) var committed: UInt64 = 0
    /// The ledger was thrown away after a failed commit and could not be read again yet.
    private var isStale = false

    /// Scratch memory for one record's body, and for one sealed block.
    let body = Scratch(capacity: 4096)
    let block = Scratch(capacity: 4096)

    /// For a file with many records. Declared after all that belongs to SQLite, because it has a
    /// descriptor of its own of the file, and what is declared last is closed last: when a process
    /// closes any descriptor of a file, it loses all its locks on it.
    private let ahead: ReadAhead?

    init(
        _ folder: RecordsFolder, store: [UInt8], key: borrowing SecretBytes,
        _ kind: RecordKeyKind = .storeKey, keyGeneration: UInt32
    ) throws(RecordsError) {
        let path = folder.file
        logPath = path + Schema.logSuffix
        let hasLog = folder.hasLog
        keys = try RecordKeys(store: store, key: key, kind, generation: keyGeneration)
        database = try Database(path: path)
        // What is not opened is not changed: its log stays, and one that reading made goes again.
        database.leaveLog(hasLog)
        try database.run(Schema.settings)
        try Schema.check(database)
        pages = try FilePages(database)
        readHead = try database.prepare("SELECT body FROM head WHERE id=0")
        readNode = try database.prepare("SELECT body FROM nodes WHERE id=?1")
        lookUp = try database.prepare(
            "SELECT generation, tag, nonce, body FROM records WHERE id=?1")
        scan = try database.prepare("SELECT id, tag FROM records WHERE id BETWEEN ?1 AND ?2")
        let head = try Self.head(from: readHead, keys, block)
        ledger = Ledger(head: head)
        committed = head.generation
        ahead =
            head.count < ReadAhead.leastRecords
            ? nil : ReadAhead(folder, root: try Schema.recordsRoot(database))
        try countPages()
    }

    /// To be called before each operation.
    func prepare() throws(RecordsError) {
        guard isStale else { return }
        ledger = ledger.rolledBack(to: try Self.head(from: readHead, keys, block))
        committed = ledger.head.generation
        isStale = false
    }

    func commit(with writing: WriteStatements) throws(RecordsError) {
        try writing.commit.run()
        committed = ledger.head.generation
    }

    /// Makes a commit that changes nothing but its number, which is then above this one.
    func raise(above generation: UInt64) throws(RecordsError) {
        let writing = try statements()
        try writing.begin.run()
        do throws(RecordsError) {
            let latest = max(generation, ledger.head.generation)
            guard latest < .max else { throw .damaged(.head) }
            ledger.head.generation = latest + 1
            try write(head: ledger.head, with: writing)
            try commit(with: writing)
        } catch {
            abandon()
            throw error
        }
    }

    /// To be called after a commit failed or was given up: what memory knows of the sums may be
    /// wrong.
    func abandon() {
        isStale = true
        // SQLite has already rolled back after many failures. If this fails too, the next operation
        // meets the same error.
        if database.isInTransaction { try? database.run("ROLLBACK") }
        try? prepare()
    }

    func statements() throws(RecordsError) -> WriteStatements {
        if let writing { return writing }
        let made = try WriteStatements(database)
        writing = made
        return made
    }

    func rowStatement() throws(RecordsError) -> RowStatement {
        if let reading { return reading }
        let made = try RowStatement(database)
        reading = made
        return made
    }

    // MARK: The disk

    /// As of the last commit, without the log.
    private var counted = RecordsSize()

    /// Called before a commit, where it costs next to nothing: afterwards the file is no longer in
    /// the processor's caches.
    func countPages() throws(RecordsError) {
        counted.file = try pages.bytes()
        counted.free = try pages.freeBytes()
    }

    var size: RecordsSize {
        var size = counted
        size.log = Records.length(logPath)
        return size
    }

    /// Gives back some pages in a transaction of its own, which takes a few milliseconds. Returns
    /// how many bytes are still to be given back.
    func shrink() throws(RecordsError) -> Int {
        let before = try pages.freeBytes()
        guard before > 0 else { return 0 }
        try database.run("PRAGMA incremental_vacuum(256)")
        try countPages()
        let left = counted.free
        // A file that was made without auto_vacuum does not shrink.
        return left < before ? left : 0
    }

    // MARK: Head and nodes

    private static func head(
        from statement: borrowing Statement, _ keys: borrowing RecordKeys, _ block: Scratch
    ) throws(RecordsError) -> Head {
        defer { statement.reset() }
        guard try statement.step() == .row else { throw .damaged(.head) }
        return try statement.withBytes(0) { (sealed) throws(RecordsError) in
            try Head(sealed, keys, block)
        }
    }

    /// The head's nonce is drawn anew with each commit, so two commits of the same number differ.
    func mark() throws(RecordsError) -> [UInt8] {
        defer { readHead.reset() }
        guard !isStale, try readHead.step() == .row else { throw .damaged(.head) }
        return readHead.withBytes(0) { sealed in
            [UInt8](copying: sealed.extracting(..<min(RecordKeys.overhead, sealed.count)))
        }
    }

    private func readNode(_ index: Int) throws(RecordsError) -> Node {
        readNode.bind(1, Int64(index))
        defer { readNode.reset() }
        guard try readNode.step() == .row else { throw .damaged(.node(index)) }
        return try readNode.withBytes(0) { (sealed) throws(RecordsError) in
            try Node(
                sealed, at: index, generation: ledger.head.nodeGenerations[index], keys, block)
        }
    }

    /// As they lie in the file, for a copy of it; nil where SQLite cannot read it.
    func sealedNode(_ index: Int) throws(RecordsError) -> [UInt8]? {
        readNode.bind(1, Int64(index))
        defer { readNode.reset() }
        do throws(RecordsError) {
            guard try readNode.step() == .row else { return nil }
        } catch {
            guard case .damaged = error else { throw error }
            return nil
        }
        return readNode.withBytes(0) { [UInt8](copying: $0) }
    }

    func sealedHead() throws(RecordsError) -> [UInt8] {
        defer { readHead.reset() }
        guard try readHead.step() == .row else { throw .damaged(.head) }
        return readHead.withBytes(0) { [UInt8](copying: $0) }
    }

    /// The sum that a bucket must have.
    func expected(_ bucket: Int) throws(RecordsError) -> Sum {
        let index = bucket / Node.width
        switch ledger.nodes[index] {
        case .read(let node): return node.sums[bucket % Node.width]
        case .damaged: throw .damaged(.node(index))
        case .unread: break
        }
        do throws(RecordsError) {
            ledger.take(try readNode(index), at: index)
        } catch {
            if case .damaged = error {
                ledger.nodes[index] = .damaged
                throw .damaged(.node(index))
            }
            throw error
        }
        return try expected(bucket)
    }

    func write(head: Head, with writing: WriteStatements) throws(RecordsError) {
        block.resize(to: Head.size + RecordKeys.overhead)
        defer { block.clear() }
        try block.withMutableBytes { (bytes) throws(RecordsError) in
            var text = bytes._mutatingExtracting(RecordKeys.overhead...)
            head.encode(into: &text)
            try keys.seal(block: &bytes, .head, 0, generation: 0)
        }
        defer { writing.writeHead.reset() }
        try writing.writeHead.bind(1, inPlace: block)
        guard try writing.writeHead.step() == .done, database.changedRows == 1
        else { throw .damaged(.head) }
    }

    func write(node: Node, at index: Int, with writing: WriteStatements) throws(RecordsError) {
        block.resize(to: Node.size + RecordKeys.overhead)
        defer { block.clear() }
        let generation = ledger.head.generation
        try block.withMutableBytes { (bytes) throws(RecordsError) in
            var text = bytes._mutatingExtracting(RecordKeys.overhead...)
            node.encode(into: &text)
            try keys.seal(block: &bytes, .node, index, generation: generation)
        }
        defer { writing.writeNode.reset() }
        writing.writeNode.bind(1, Int64(index))
        try writing.writeNode.bind(2, inPlace: block)
        guard try writing.writeNode.step() == .done, database.changedRows == 1
        else { throw .damaged(.node(index)) }
    }

    // MARK: Buckets

    /// Throws if the bucket is damaged. Checks a bucket that was not used since the file was
    /// opened.
    func touch(_ bucket: Int) throws(RecordsError) {
        switch ledger.buckets[bucket] {
        case .whole: return
        case .damaged: throw .damaged(.bucket(bucket))
        case .untested: _ = try check(bucket, for: nil)
        }
    }

    /// Whether the row is one of the bucket's. Throws if the bucket's rows are not the ones that
    /// were stored.
    func check(_ bucket: Int, for row: Int64?) throws(RecordsError) -> Bool {
        if ledger.buckets[bucket] == .untested { ahead?.ask(for: Bucket.rows(bucket)) }
        let due = ledger.due(bucket, of: try expected(bucket))
        let found: (sum: Sum, isThere: Bool)
        do throws(RecordsError) {
            found = try sum(of: bucket, for: row)
        } catch {
            guard case .damaged = error else { throw error }
            ledger.buckets[bucket] = .damaged
            throw .damaged(.bucket(bucket))
        }
        var isWhole = found.sum == due
        if !isWhole { isWhole = try explain(bucket, lacking: due - found.sum) }
        guard isWhole else {
            ledger.buckets[bucket] = .damaged
            throw .damaged(.bucket(bucket))
        }
        ledger.buckets[bucket] = .whole
        return found.isThere
    }

    /// To be called if a row was not found where the tree says it must be. A changed key inside the
    /// tree can hide a row from such a search, but not from a scan of the whole bucket. So "absent"
    /// is answered only after that scan.
    func confirmAbsent(_ id: RecordID) throws(RecordsError) {
        guard try check(id.bucket, for: id.row) else { return }
        ledger.buckets[id.bucket] = .damaged
        throw .damaged(.bucket(id.bucket))
    }
}

/// The rows of a bucket, with all their columns.
final class RowStatement {
    let statement: Statement

    init(_ database: borrowing Database) throws(RecordsError) {
        statement = try database.prepare(
            "SELECT generation, tag, nonce, body, id FROM records WHERE id BETWEEN ?1 AND ?2")
    }
}

/// Prepared at the first change.
final class WriteStatements {
    let begin: Statement
    let commit: Statement
    let insert: Statement
    let update: Statement
    let delete: Statement
    let writeHead: Statement
    let writeNode: Statement
    /// For mending alone, as is `writeTag`.
    let ensureNode: Statement
    let writeTag: Statement

    init(_ database: borrowing Database) throws(RecordsError) {
        begin = try database.prepare("BEGIN IMMEDIATE")
        commit = try database.prepare("COMMIT")
        insert = try database.prepare("INSERT INTO records VALUES(?1, ?2, ?3, ?4, ?5)")
        update = try database.prepare(
            "UPDATE records SET generation=?2, tag=?3, nonce=?4, body=?5 WHERE id=?1")
        delete = try database.prepare("DELETE FROM records WHERE id=?1")
        writeHead = try database.prepare("UPDATE head SET body=?1 WHERE id=0")
        writeNode = try database.prepare("UPDATE nodes SET body=?2 WHERE id=?1")
        ensureNode = try database.prepare("INSERT OR IGNORE INTO nodes VALUES(?1, zeroblob(1))")
        writeTag = try database.prepare("UPDATE records SET tag=?2 WHERE id=?1")
    }
}
