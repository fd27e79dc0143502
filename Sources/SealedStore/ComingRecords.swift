internal import Posix
public import Secrets

/// The records of a store, sealed anew under another key, in a file of their own beside the present
/// one. The present file stays what counts until the switch.
///
/// Like `Records`, it is used from one thread at a time. What takes both is called where neither is
/// in use elsewhere.
public final class ComingRecords: @unchecked Sendable {
    private let folder: RecordsFolder
    private let presentFolder: RecordsFolder
    /// Nil after `finish` and `abandon`.
    private(set) var records: OpenRecords?
    /// The id of the present file's row to go on from; nil when all were copied.
    private var next: UInt64? = 0
    private var copied = 0
    /// For one record on its way.
    private let slab = Scratch(capacity: 4096)

    /// How far the copying is.
    public struct Progress: Equatable, Sendable {
        /// How many records were copied so far. What was followed up is not counted.
        public let copied: Int
        public let isDone: Bool
    }

    /// A piece of so many takes a few milliseconds at most, and a larger one is hardly cheaper.
    public static let usualPiece = 64

    private init(
        _ folder: RecordsFolder, beside presentFolder: RecordsFolder, id: [UInt8],
        key: borrowing SecretBytes, _ keyGeneration: UInt32
    ) throws(RecordsError) {
        self.folder = folder
        self.presentFolder = presentFolder
        let records = try OpenRecords(folder, store: id, key: key, keyGeneration: keyGeneration)
        try records.database.run(Schema.settingsOfComing)
        self.records = records
    }

    /// Removes what an earlier attempt has left, and makes an empty file. The key generation is one
    /// more than that of the present file.
    public static func begin(
        inFolder path: String, id: [UInt8], key: borrowing SecretBytes, keyGeneration: UInt32
    ) throws(RecordsError) -> ComingRecords {
        let presentFolder = try RecordsFolder(path)
        try presentFolder.sweep()
        let folder = try RecordsFolder(path, Schema.comingName)
        try folder.create()
        do throws(RecordsError) {
            try NewRecords.fill(
                path: folder.file, store: id, key: key, keyGeneration: keyGeneration)
            return try ComingRecords(
                folder, beside: presentFolder, id: id, key: key, keyGeneration)
        } catch {
            // The file was made a moment ago and holds no record.
            try? folder.remove(Schema.comingNames)
            throw error
        }
    }

    /// Copies the next records, in one commit that is not synced. If it throws, nothing of them was
    /// stored, and the next call begins with the same ones. It throws `.damaged` where the present
    /// records are damaged or marked: they have to be mended first. It throws `.exists` where two
    /// names have the same row id under the new key, which takes another key.
    public func copyNext(
        from present: Records, atMost count: Int = usualPiece
    ) throws(RecordsError) -> Progress {
        let present = try present.undamaged()
        guard records != nil else { throw .closed }
        if let start = next {
            let piece = try present.piece(from: start, atMost: count)
            try store(piece.changes)
            copied += piece.changes.count
            next = piece.next
        }
        return Progress(copied: copied, isDone: next == nil)
    }

    /// Gives these names what they have in the present file, or removes them if they are not there:
    /// for names that were set or deleted since the beginning, in any order and more than once.
    public func follow(_ names: [[UInt8]], from present: Records) throws(RecordsError) {
        let present = try present.undamaged()
        var changes: [Change] = []
        var bytes = 0
        for name in names where (1...RecordBody.largestName).contains(name.count) {
            let change = try self.change(of: name, in: present)
            changes.append(change)
            if case .set(_, let value) = change { bytes += value.count }
            guard bytes >= OpenRecords.mostBytes || changes.count >= Self.usualPiece
            else { continue }
            try store(changes)
            changes = []
            bytes = 0
        }
        try store(changes)
    }

    private func change(
        of name: [UInt8], in present: OpenRecords
    ) throws(RecordsError) -> Change {
        defer { slab.clear() }
        slab.resize(to: slab.capacity)
        do throws(RecordsError) {
            return try read(name, in: present)
        } catch {
            guard error == .bufferTooSmall else { throw error }
            slab.resize(to: RecordBody.largest)
            return try read(name, in: present)
        }
    }

    private func read(_ name: [UInt8], in present: OpenRecords) throws(RecordsError) -> Change {
        try slab.withMutableBytes { (bytes) throws(RecordsError) in
            guard let value = try present.value(of: name.span, into: &bytes) else {
                return .delete(name: name)
            }
            return .set(
                name: name, value: WipedBuffer(copying: bytes.span.extracting(value)))
        }
    }

    /// All of them, in one commit.
    private func store(_ changes: [Change]) throws(RecordsError) {
        guard !changes.isEmpty else { return }
        let results = try write { (records) throws(RecordsError) in
            try records.apply(changes, within: .unlimited)
        }
        for result in results {
            switch result {
            case .stored, .replaced, .deleted, .absent: break
            case .collision: throw .exists
            case .noRoom: throw .full
            // What was stored once under a name can be stored so again.
            case .damaged, .nameRefused, .tooLarge: throw Self.unusable
            }
        }
    }

    /// Damage of this file is another matter than damage of the present one: nothing is lost, and
    /// there is nothing to mend.
    private static let unusable = RecordsError.io(code: 5)

    private func write<R>(
        _ body: (OpenRecords) throws(RecordsError) -> R
    ) throws(RecordsError) -> R {
        guard let records else { throw .closed }
        do throws(RecordsError) {
            try records.prepare()
            return try body(records)
        } catch {
            if case .damaged = error { throw Self.unusable }
            throw error
        }
    }

    /// Brings to the disk what was copied so far, so that little is left for `finish`. It takes
    /// as long as the disk takes, and leaves the present records alone: they may be in use. If it
    /// throws, only `abandon` is left.
    public func sync() throws(RecordsError) {
        do throws(RecordsError) {
            try write { (records) throws(RecordsError) in
                try records.database.run(Schema.syncing)
                // SQLite syncs the file only where the log had something for it.
                try records.raise(above: 0)
                try records.database.emptyLog()
                try records.database.run(Schema.settingsOfComing)
            }
        } catch {
            // What a disk has failed to take, a later sync may not tell again.
            close()
            throw error
        }
    }

    /// To be called when all was copied and followed up. Afterwards both files hold the same, and
    /// this one is closed and on the disk. From the last `follow` on, until the switch, nothing of
    /// the present file may be changed.
    public func finish(after present: Records) throws(RecordsError) -> FinishedRecords {
        let present = try present.undamaged()
        try write { (records) throws(RecordsError) in
            guard next == nil, records.ledger.head.count == present.ledger.head.count
            else { throw Self.unusable }
            // A lower number would look like lost commits.
            try records.raise(above: present.committed)
            try records.database.emptyLog()
        }
        records = nil
        try folder.syncClosed()
        return FinishedRecords(folder: folder, presentFolder: presentFolder)
    }

    /// Overwrites and removes what was made, also where it was finished. The present file stays as it is.
    public func abandon() throws(RecordsError) {
        close()
        try folder.sweepComing()
    }

    private func close() {
        // There may be no room for moving its log into the file.
        records?.database.leaveLog(true)
        records = nil
    }

    /// Overwrites and removes what is left of the records before a switch, or of a file that was
    /// never finished. It costs next to nothing where there is nothing. Not to be called while
    /// there is a ComingRecords of this folder.
    public static func sweep(inFolder path: String) throws(RecordsError) {
        try RecordsFolder(path).sweep()
    }
}

/// Records that were sealed anew, closed and on the disk beside the present ones.
public struct FinishedRecords: Sendable {
    fileprivate let folder: RecordsFolder
    fileprivate let presentFolder: RecordsFolder

    /// Puts them in the place of the present ones, which must be closed, too; `.busy` where a log
    /// shows that they are not. What was there before is still whole, under another name, until
    /// `ComingRecords.sweep` overwrites and removes it. If this throws, `Records.opens` tells which
    /// of the two is there.
    public func switchOver() throws(RecordsError) {
        try presentFolder.switchOver(to: folder)
    }
}

extension Records {
    /// Throws where something is known to be damaged, or was and is not acknowledged yet.
    fileprivate func undamaged() throws(RecordsError) -> OpenRecords {
        let records = try ready()
        if let mark = records.ledger.head.marks.first { throw .damaged(.bucket(Int(mark.bucket))) }
        if let bucket = records.ledger.buckets.firstIndex(of: .damaged) {
            throw .damaged(.bucket(bucket))
        }
        return records
    }
}
