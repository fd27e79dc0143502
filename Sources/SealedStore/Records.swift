internal import Posix
public import Secrets

/// A store's unlocked records. They are made with the store key, which is not kept.
///
/// Sendable without a check: its owner uses it from one thread at a time, and hands it over in
/// between. A second reader at the same time would check old rows against new sums.
public final class Records: @unchecked Sendable {
    /// The size of the buffer for `value`: the largest value with its name, padded with zeroes.
    public static let slabSize = RecordBody.largest
    public static let bucketCount = Bucket.number
    public static let largestValue = RecordBody.largestValue
    public static let largestName = RecordBody.largestName
    /// Of a store whose records were never sealed anew.
    public static let firstKeyGeneration: UInt32 = 1

    /// Nil after `close`.
    var records: OpenRecords?
    let folder: RecordsFolder
    /// The pages were looked at without SQLite. Kept as long as SQLite has the file, and declared after
    /// it: when a process closes any descriptor of a file, it loses all its locks on it.
    var pages: RawPages?
    /// While the file is exchanged for a new one.
    var toReopen: HeldKeys?

    /// What was found of the log when the records were opened.
    public enum LogState: Equatable, Sendable {
        case whole
        /// Wrong bits were put right, in the log or in the file; nothing is missing.
        case repaired
        /// At least so many commits that were answered are gone. The log is kept.
        case lost(commits: UInt64)
    }

    public private(set) var log = LogState.whole
    /// The logs that are kept, and their bytes.
    private var kept = RecordsSize()

    /// Opens the records of the store with this 16-byte id. It takes the same time with a hundred
    /// records and with a million. `noted` is the generation of a commit that was answered: where
    /// the records are older than that, commits are missing. Then all that is whole opens. A file that
    /// SQLite cannot open is made anew where that is allowed: nothing else may be at work then on what
    /// is in the folder beside it.
    public init(
        opening path: String, id: [UInt8], key: borrowing SecretBytes,
        _ kind: RecordKeyKind = .storeKey, noted: UInt64 = 0,
        keyGeneration: UInt32 = firstKeyGeneration, mayMakeAnew: Bool = false
    ) throws(RecordsError) {
        folder = try RecordsFolder(path)
        var finding = LogCheck.Finding()
        var isLogKept = false
        var opened: OpenRecords?
        do throws(RecordsError) {
            finding = try folder.check()
            opened = try OpenRecords(
                folder, store: id, key: key, kind, keyGeneration: keyGeneration)
        } catch {
            guard mayMakeAnew else { throw error }
            let keys = try RecordKeys(store: id, key: key, kind, generation: keyGeneration)
            let rescued = try folder.rescue(from: error, with: keys, noted: noted)
            finding = rescued.log
            isLogKept = rescued.isLogKept
            if rescued.isWhole { log = .repaired }
            opened = try OpenRecords(
                folder, store: id, key: key, kind, keyGeneration: keyGeneration)
        }
        let found = opened?.committed ?? 0
        let missing = max(UInt64(finding.missing), noted > found ? noted - found : 0)
        if missing > 0 {
            // What SQLite can reach of the log goes into the file. The log itself is left as it is,
            // so that this may be cut short at any instant.
            try opened?.database.copyLog()
            opened = nil
            if !isLogKept { try folder.keepLog() }
            opened = try OpenRecords(
                folder, store: id, key: key, kind, keyGeneration: keyGeneration)
            log = .lost(commits: missing)
        } else if !finding.corrections.isEmpty {
            log = .repaired
        }
        opened?.database.leaveLog(false)
        records = opened
        kept = Self.kept(inFolder: path)
    }

    /// The keys of the open records, for whoever opens them next.
    public func keys() throws(RecordsError) -> SecretBytes {
        guard let records else { throw .closed }
        return try records.keys.all()
    }

    /// The number of the last commit, which is on the disk.
    public var generation: UInt64 { records?.committed ?? 0 }

    /// What the last commit has left in the file and no other one leaves, of this store or of
    /// another: the nonce and the tag of the head. Nil where it cannot be read.
    public var mark: [UInt8]? { try? records?.mark() }

    /// Whether the records are sealed under this key, of this generation. Nothing is changed; the
    /// records must not be open.
    public static func opens(
        inFolder path: String, id: [UInt8], key: borrowing SecretBytes,
        keyGeneration: UInt32 = firstKeyGeneration
    ) throws(RecordsError) -> Bool {
        let folder = try RecordsFolder(path)
        try folder.checkFile()
        do throws(RecordsError) {
            _ = try OpenRecords(folder, store: id, key: key, keyGeneration: keyGeneration)
            return true
        } catch {
            guard error == .damaged(.head) else { throw error }
            return false
        }
    }

    /// Makes an empty records file, syncs it and its folder, and opens it.
    public static func create(
        inFolder path: String, id: [UInt8], key: borrowing SecretBytes,
        keyGeneration: UInt32 = firstKeyGeneration
    ) throws(RecordsError) -> Records {
        let folder = try RecordsFolder(path)
        try folder.create()
        do throws(RecordsError) {
            try NewRecords.fill(
                path: folder.file, store: id, key: key, keyGeneration: keyGeneration)
            try folder.sync()
        } catch {
            // The file was made a moment ago and holds no record.
            try? folder.remove(Schema.presentNames)
            throw error
        }
        return try Records(opening: path, id: id, key: key, keyGeneration: keyGeneration)
    }

    /// Overwrites and removes all files of the records. It may be called again after an
    /// interruption, and also if there is nothing.
    public static func destroy(inFolder path: String) throws(RecordsError) {
        let folder = try RecordsFolder(path)
        // Overwrite all before removing the first: a file that is removed cannot be overwritten any
        // more.
        try folder.overwrite(Schema.allNames)
        try folder.remove(Schema.allNames)
        try folder.sync()
    }

    /// The value's place in the slab, which must hold `slabSize` bytes; nil if there is no such
    /// record. Afterwards the slab holds the whole opened record, or zeroes if nothing was found.
    /// The caller wipes it.
    public func value(
        of name: [UInt8], into slab: inout MutableSpan<UInt8>
    ) throws(RecordsError) -> Range<Int>? {
        try ready().value(of: name.span, into: &slab)
    }

    /// The same, into a WipedSlab.
    public func value(
        of name: [UInt8], into slab: inout WipedSlab
    ) throws(RecordsError) -> Range<Int>? {
        try slab.withMutableBytes { (bytes) throws(RecordsError) in
            try value(of: name, into: &bytes)
        }
    }

    /// Whether the first reading of this record has to read much of the disk, which `readAround`
    /// does without opening anything.
    public func isFarAway(_ name: [UInt8]) throws(RecordsError) -> Bool {
        try ready().isFarAway(name.span)
    }

    /// Damage is noted; whoever then reads the record is told.
    public func readAround(_ name: [UInt8]) throws(RecordsError) {
        try ready().readAround(name.span)
    }

    /// Makes all changes, in their order, in one durable transaction. Returns after its commit,
    /// with one result for each. Throws if nothing at all was stored.
    public func apply(
        _ changes: [Change], within room: Room = .unlimited
    ) throws(RecordsError) -> [ChangeResult] {
        guard !changes.isEmpty else { return [] }
        return try ready().apply(changes, within: room)
    }

    /// An upper limit of what these changes can add to the records file, without the log.
    public static func most(_ changes: [Change]) -> Int {
        changes.reduce(0) { $0 + RowSize($1).most }
    }

    /// The size of an empty records file.
    public static let sizeOfNew = 31 * 4096

    /// What these changes would do.
    public func effect(of changes: [Change]) throws(RecordsError) -> Effect {
        try ready().effect(of: changes)
    }

    // MARK: the disk

    /// Of an open store. Asks the file system for the length of the log.
    public var size: RecordsSize? {
        guard var size = records?.size else { return nil }
        (size.kept, size.keptLogs) = (kept.kept, kept.keptLogs)
        return size
    }

    /// Of a store that is locked or cannot be opened.
    public static func size(inFolder path: String) -> RecordsSize {
        var size = kept(inFolder: path)
        size.file = length("\(path)/\(Schema.fileName)")
        size.log = length("\(path)/\(Schema.logName)")
        for name in Schema.comingNames { size.leftover += length("\(path)/\(name)") }
        let former = "\(path)/\(Schema.formerName)"
        let present = try? FileIdentity(of: "\(path)/\(Schema.fileName)")
        if (try? FileIdentity(of: former)) != present {
            size.leftover += length(former)
        }
        return size
    }

    private static func kept(inFolder path: String) -> RecordsSize {
        var size = RecordsSize()
        for name in Schema.keptNames {
            guard let facts = try? FileFacts(of: "\(path)/\(name)", following: false) else {
                continue
            }
            size.kept += facts.size
            size.keptLogs += 1
        }
        return size
    }

    /// After they were removed.
    public func forgetKeptLogs() { kept = RecordsSize() }

    /// Overwrites and removes the logs that are kept.
    public static func removeKeptLogs(inFolder path: String) throws(RecordsError) {
        try RecordsFolder(path).removeKept()
    }

    static func length(_ path: String) -> Int {
        (try? FileFacts(of: path, following: false))?.size ?? 0
    }

    /// Moves the log into the file, as far as the disk has room for it, and empties it.
    public func emptyLog() {
        records?.database.checkpoint()
    }

    /// Gives back some of the room that deleted records have left; the disk has it once the log is
    /// emptied. Returns how many bytes are still to be given back.
    public func shrink() throws(RecordsError) -> Int {
        try ready().shrink()
    }

    public var count: UInt64 {
        records?.ledger.head.count ?? 0
    }

    /// One page of the names that start with a prefix, in no particular order, without those that
    /// start with the hidden one. Cursor 0 starts; a returned cursor of 0 is the end. A page may be
    /// empty without being the last, because a call looks at a limited number of records.
    public func names(
        prefix: [UInt8], hiding hidden: [UInt8]? = nil, cursor: UInt64, limit: Int
    ) throws(RecordsError) -> Page {
        var page = Page()
        page.cursor = try ready().walk(from: cursor) { name, _ in
            let isHidden = hidden.map { hasPrefix(name, $0) } ?? false
            if !isHidden, hasPrefix(name, prefix) { page.names.append([UInt8](copying: name)) }
            return page.names.count < limit ? .goOn : .stop
        } damaged: { record in
            let isHidden = hidden.map { record.name.starts(with: $0) } ?? false
            if record.name.isEmpty || (record.name.starts(with: prefix) && !isHidden) {
                page.damaged.append(record)
            }
            return page.damaged.count < limit ? .goOn : .stop
        }
        return page
    }

    /// Shows one record after another, in no particular order, until `visit` returns false or the
    /// call has looked at a limited number of them. The cursors are as those of `names`.
    public func walk(
        from cursor: UInt64, _ visit: (_ name: Span<UInt8>, _ value: Span<UInt8>) -> Bool,
        damaged: (DamagedRecord) -> Void
    ) throws(RecordsError) -> UInt64 {
        try ready().walk(from: cursor) { name, value in
            visit(name, value) ? .goOn : .stop
        } damaged: { record in
            damaged(record)
            return .goOn
        }
    }

    /// What a listing says of a record that could not be given because of this damage.
    public func damagedRecord(
        _ name: [UInt8], _ damage: Damage
    ) throws(RecordsError) -> DamagedRecord {
        let kind: DamagedRecord.Kind =
            switch damage {
            case .record: .broken
            case .file, .head, .node, .bucket: .unproven
            }
        return DamagedRecord(kind: kind, id: try ready().row(of: name), name: name)
    }

    public struct Page: Equatable, Sendable {
        public var names: [[UInt8]] = []
        /// What could not be given; those whose name is gone, whatever the prefix.
        public var damaged: [DamagedRecord] = []
        public var cursor: UInt64 = 0
    }

    // MARK: damage

    /// The buckets in which something damaged was written over, and whose owner has not said yet
    /// that they know of it.
    public var marked: Int {
        records?.ledger.head.marks.count ?? 0
    }

    /// Looks at every record of these buckets for a mend, so that the mend itself is short.
    public func examine(buckets: Range<Int>) throws(RecordsError) {
        try ready().examine(buckets.clamped(to: 0..<Self.bucketCount))
    }

    /// The owner knows of all damage. What does not open is removed; what opens is what the store holds
    /// from now on. What `bringBack` would find is lost then.
    public func mend() throws(RecordsError) -> Mended {
        try ready().mend()
    }

    /// Which of these names exist already.
    public func existing(among names: [[UInt8]]) throws(RecordsError) -> [[UInt8]] {
        let records = try ready()
        var existing: [[UInt8]] = []
        for name in names where try records.contains(name) { existing.append(name) }
        return existing
    }

    /// Checks the rows of these buckets without opening a record: for a scan in slices after
    /// unlocking. It checks all of them, and then throws the first error.
    public func verify(buckets: Range<Int>) throws(RecordsError) {
        let records = try ready()
        var first: RecordsError?
        for bucket in buckets.clamped(to: 0..<Self.bucketCount) {
            do throws(RecordsError) {
                try records.touch(bucket)
            } catch {
                guard case .damaged = error else { throw error }
                first = first ?? error
            }
        }
        if let first { throw first }
    }

    /// The number of buckets found damaged since the file was opened.
    public var damagedBuckets: Int {
        records?.ledger.buckets.count { $0 == .damaged } ?? 0
    }

    /// Moves the log into the file and forgets the keys. Every later call is refused.
    public func close() {
        records?.database.checkpoint()
        records = nil
        pages = nil
        toReopen = nil
    }

    func ready() throws(RecordsError) -> OpenRecords {
        try reopen()
        guard let records else { throw .closed }
        try records.prepare()
        return records
    }
}

extension RecordsError {
    init(_ error: PosixError) {
        if error.isNoSpace {
            self = .full
        } else if error.isOutOfDescriptors {
            self = .outOfDescriptors
        } else if error.isMissing {
            self = .missing
        } else if error.isExisting {
            self = .exists
        } else if error.isReadOnly {
            self = .readOnly
        } else {
            self = .io(code: error.number)
        }
    }
}

extension [UInt8] {
    init(copying bytes: Span<UInt8>) {
        self = []
        reserveCapacity(bytes.count)
        for index in bytes.indices { append(bytes[index]) }
    }
}
