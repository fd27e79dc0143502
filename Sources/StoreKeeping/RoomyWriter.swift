import Posix
import SealedStore

/// Stores changes within the room that there is for them. Runs on a disk thread.
package struct RoomyWriter {
    package let records: Records
    package let reserve: DiskReserve
    /// What the owner's stores may add with this; nil means no limit.
    package let promise: Allotment.Promise?
    /// What the records took before.
    package let before: RecordsSize

    /// A longer log is emptied at once: SQLite writes over it from its start, but never makes it
    /// shorter by itself.
    private static let longestLog = 8 << 20
    /// If the disk has less than this left for records, nothing stays in the log. What is in the
    /// log needs room in the file as well, and on a small disk the reserve alone would not have
    /// that room.
    private static let tightDisk = 96 << 20

    /// How many pages a row splits on its way into the tree is known only afterwards. So this much
    /// beyond the limit is forgiven where a new record takes the place of a deleted one. It never
    /// adds up to more.
    private static let slack = 64 << 10

    /// What changes need at most, while they are both in the log and in the file.
    package static func most(_ changes: [Change]) -> Int { 2 * Records.most(changes) }

    /// The room for `changes`; nil if they are not known yet.
    package func room(for changes: [Change]?) -> Room {
        var room = Room(owner: nil, disk: try? reserve.roomForRecords())
        guard let promise, !promise.isAmple else { return room }
        // Space that only a log takes is no reason to refuse a change.
        if before.log > 0 { records.emptyLog() }
        let freed = before.log - (records.size?.log ?? before.log)
        room.owner = promise.bytes + freed - max(0, promise.excess - Self.slack)
        return room
    }

    /// Empties the log if the room is tight: the last of it must not be taken by a log. Returns
    /// what the records take then.
    package func tidy(_ room: Room) -> RecordsSize {
        guard let size = records.size else { return before }
        let grown = size.total - before.total
        let isTight =
            promise.map { !$0.isAmple || size.log > $0.bytes + $0.rest - grown } ?? false
        let isTightDisk = room.disk.map { $0 < Self.tightDisk } ?? false
        guard isTight || isTightDisk || size.log > Self.longestLog else { return size }
        records.emptyLog()
        return records.size ?? size
    }

    package struct Applied: Sendable {
        package let results: [Result<ChangeResult, RecordsError>]
        package let size: RecordsSize
    }

    package func apply(_ changes: [Change]) -> Applied {
        do throws(RecordsError) {
            let room = room(for: changes)
            let results = try records.apply(changes, within: room)
            return Applied(results: results.map { .success($0) }, size: tidy(room))
        } catch {
            let results = changes.map { change -> Result<ChangeResult, RecordsError> in
                error == .full && !change.isSet ? delete(change) : .failure(error)
            }
            return Applied(results: results, size: records.size ?? before)
        }
    }

    /// Deletes on a full disk. A delete has to pass through the log before it makes room. So it is
    /// committed alone, and the log is emptied before it and after it, for the next one.
    private func delete(_ change: Change) -> Result<ChangeResult, RecordsError> {
        let result = Result { () throws(RecordsError) in
            try reserve.spending(whereFull: { $0 == .full }) { () throws(RecordsError) in
                records.emptyLog()
                return try records.apply([change])[0]
            }
        }
        records.emptyLog()
        return result
    }

    /// Mends, also on a full disk: what it writes has to pass through the log as well.
    package static func mend(
        _ records: Records, _ reserve: DiskReserve
    ) throws(RecordsError) -> Mended {
        defer { records.emptyLog() }
        // A second file, for which the reserve is not meant.
        let found = try records.bringBack(within: try? reserve.roomForRecords())
        var mended = try reserve.spending(whereFull: { $0 == .full }) { () throws(RecordsError) in
            do throws(RecordsError) {
                return try records.mend()
            } catch {
                guard error == .full else { throw error }
                records.emptyLog()
                return try records.mend()
            }
        }
        mended.found = found
        return mended
    }
}

extension Change {
    package var isSet: Bool {
        switch self {
        case .set: true
        case .delete: false
        }
    }

    /// The length of the value.
    package var bytes: Int {
        switch self {
        case .set(_, let value): value.count
        case .delete: 0
        }
    }
}
