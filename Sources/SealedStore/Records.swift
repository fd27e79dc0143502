internal import Posix
public import Secrets

/// A store's records, unlocked: made with the store key, which is not kept.
///
/// Sendable without a check: whoever owns it uses it from one thread at a time, with a hand-over in between. A second
/// reader at the same time would check old rows against new sums.
public final class Records: @unchecked Sendable {
    /// What the buffer given to `value` must hold: the largest value, its name, and zeroes.
    public static let slabSize = RecordBody.largest
    public static let bucketCount = Bucket.number
    public static let largestValue = RecordBody.largestValue
    public static let largestName = RecordBody.largestName

    /// Nil once closed.
    private var records: OpenRecords?

    /// Opens the records of the store with this 16-byte id. Costs the same at a hundred records and at a million.
    public init(opening path: String, id: [UInt8], key: borrowing SecretBytes) throws(RecordsError)
    {
        let folder = try RecordsFolder(path)
        try folder.check()
        records = try OpenRecords(path: folder.file, store: id, key: key)
    }

    /// Makes an empty records file, synced together with its folder, and opens it.
    public static func create(
        inFolder path: String, id: [UInt8], key: borrowing SecretBytes
    ) throws(RecordsError) -> Records {
        let folder = try RecordsFolder(path)
        try folder.create()
        do throws(RecordsError) {
            try NewRecords.fill(path: folder.file, store: id, key: key)
            try folder.sync()
        } catch {
            // It was made a moment ago and holds nothing.
            try? folder.remove()
            throw error
        }
        return try Records(opening: path, id: id, key: key)
    }

    /// Overwrites and removes whatever is there of a records file. May be called again after it was interrupted, and
    /// where there is nothing.
    public static func destroy(inFolder path: String) throws(RecordsError) {
        let folder = try RecordsFolder(path)
        // All overwritten before the first is unlinked: what is unlinked cannot be overwritten any more.
        try folder.overwrite()
        try folder.remove()
        try folder.sync()
    }

    /// The value's place in the slab, which must hold `slabSize` bytes; nil where there is no such record. The slab
    /// holds the whole opened record afterwards, and zeroes where nothing was found: the caller wipes it.
    public func value(
        of name: [UInt8], into slab: inout MutableSpan<UInt8>
    ) throws(RecordsError) -> Range<Int>? {
        try ready().value(of: name.span, into: &slab)
    }

    /// As above, into a slab.
    public func value(
        of name: [UInt8], into slab: inout WipedSlab
    ) throws(RecordsError) -> Range<Int>? {
        try slab.withMutableBytes { (bytes) throws(RecordsError) in
            try value(of: name, into: &bytes)
        }
    }

    /// All of them in one durable transaction, in their order: answered after its commit, each for itself. Throws
    /// where nothing at all was stored.
    public func apply(
        _ changes: [Change], within room: Room = .unlimited
    ) throws(RecordsError) -> [ChangeResult] {
        guard !changes.isEmpty else { return [] }
        return try ready().apply(changes, within: room)
    }

    /// More than these changes can make the records take; the log apart.
    public static func most(_ changes: [Change]) -> Int {
        changes.reduce(0) { $0 + RowSize($1).most }
    }

    /// What an empty records file takes.
    public static let sizeOfNew = 31 * 4096

    /// What these changes would do.
    public func effect(of changes: [Change]) throws(RecordsError) -> Effect {
        try ready().effect(of: changes)
    }

    // MARK: the disk

    /// Of an open store; asks the file system for the log's length.
    public var size: RecordsSize? { records?.size }

    /// Of a store that is shut, or that nobody can open.
    public static func size(inFolder path: String) -> RecordsSize {
        var size = RecordsSize()
        size.file = length("\(path)/\(Schema.fileName)")
        size.log = length("\(path)/\(Schema.logName)")
        return size
    }

    static func length(_ path: String) -> Int {
        (try? FileFacts(of: path, following: false))?.size ?? 0
    }

    /// Brings the log into the file, as far as the disk lets it, and makes it empty.
    public func emptyLog() {
        records?.database.checkpoint()
    }

    /// Gives some of what deleted records have left back to the disk, which has it when the log was emptied; how many
    /// bytes are left to be given back.
    public func shrink() throws(RecordsError) -> Int {
        try ready().shrink()
    }

    /// How many records there are.
    public var count: UInt64 {
        records?.ledger.head.count ?? 0
    }

    /// One page of the names that start with a prefix, in no order that means anything. Cursor 0 starts, cursor 0
    /// ends; a page may be empty and yet not be the last, for a call looks at a bounded number of records.
    public func names(
        prefix: [UInt8], cursor: UInt64, limit: Int
    ) throws(RecordsError) -> (names: [[UInt8]], cursor: UInt64) {
        var names: [[UInt8]] = []
        let next = try ready().walk(from: cursor) { name, _ in
            if name.count >= prefix.count, isEqual(name.extracting(..<prefix.count), prefix.span) {
                names.append([UInt8](copying: name))
            }
            return names.count < limit ? .goOn : .stop
        }
        return (names, next)
    }

    /// Which of these names exist already.
    public func existing(among names: [[UInt8]]) throws(RecordsError) -> [[UInt8]] {
        let records = try ready()
        var existing: [[UInt8]] = []
        for name in names where try records.contains(name) { existing.append(name) }
        return existing
    }

    /// Looks at the rows of these buckets, without opening a record: for a scan in slices after unlocking. Goes through
    /// all of them before it throws what it found first.
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

    /// The buckets found damaged since opening.
    public var damagedBuckets: Int {
        records?.ledger.buckets.count { $0 == .damaged } ?? 0
    }

    /// Brings the log into the file and forgets the keys. Whatever is asked afterwards is refused.
    public func close() {
        records?.database.checkpoint()
        records = nil
    }

    func ready() throws(RecordsError) -> OpenRecords {
        guard let records else { throw .closed }
        try records.prepare()
        return records
    }
}

extension RecordsError {
    init(_ error: PosixError) {
        if error.isNoSpace {
            self = .full
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
