import Posix
import SealedStore

/// Stores changes within the room that there is for them. On a disk thread.
package struct RoomyWriter {
    package let records: Records
    package let reserve: DiskReserve
    /// What the owner's stores may take by this; nil is no limit.
    package let promise: Allotment.Promise?
    /// What the records took before.
    package let before: RecordsSize

    /// A log that is longer is emptied at once: it is written over from its start, and never shrinks by itself.
    private static let longestLog = 8 << 20
    /// With less than that left for records nothing stays in the log: what is there needs room in the file as well, and
    /// on a small disk the reserve alone would not have it.
    private static let tightDisk = 96 << 20

    /// Pages that a row splits on its way into the tree are known afterwards: so much beyond the limit is forgiven
    /// where a new record has the place of a deleted one, and it never adds up to more.
    private static let slack = 64 << 10

    /// What changes need at the most, while they are in the log and in the file.
    package static func most(_ changes: [Change]) -> Int { 2 * Records.most(changes) }

    /// For `changes`, or for what is not known yet.
    package func room(for changes: [Change]?) -> Room {
        var room = Room(owner: nil, disk: try? reserve.roomForRecords())
        guard let promise, !promise.isAmple else { return room }
        // What only a log takes is no reason to refuse anything.
        if before.log > 0 { records.emptyLog() }
        let freed = before.log - (records.size?.log ?? before.log)
        room.owner = promise.bytes + freed - max(0, promise.excess - Self.slack)
        return room
    }

    /// The last of the owner's room is not left to a log. What the records take then.
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

    /// On a full disk: what makes room has to pass through the log first, so it comes alone, with the log emptied
    /// before it and for the next.
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
}

extension Change {
    package var isSet: Bool {
        switch self {
        case .set: true
        case .delete: false
        }
    }

    /// Of the value.
    package var bytes: Int {
        switch self {
        case .set(_, let value): value.count
        case .delete: 0
        }
    }
}
