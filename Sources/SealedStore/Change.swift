public import Posix

/// What to do to one record. The value lies in wiped memory of its own, which the caller fills
/// before it hands the change over.
public enum Change: Sendable {
    case set(name: [UInt8], value: WipedBuffer)
    case delete(name: [UInt8])
}

/// What changes would do if they were made.
public struct Effect: Equatable, Sendable {
    /// By how many bytes the records would grow.
    public var growth = 0
    /// Names of the changes that exist already.
    public var existing: [[UInt8]] = []
}

/// The result of one change, given after the commit.
public enum ChangeResult: Equatable, Sendable {
    /// The record was not there before.
    case stored
    /// An older value was replaced.
    case replaced
    case deleted
    /// There was nothing to delete.
    case absent
    /// The record's bucket or the old record is damaged; nothing was changed.
    case damaged(Damage)
    /// Another name of this store has the same row id. In a store with a million records, the
    /// chance of such a pair is about one in 37 million.
    case collision
    /// The name is empty or longer than 255 bytes.
    case nameRefused
    /// The value is longer than 1 MiB.
    case tooLarge
    /// The file would grow beyond the room it has; nothing of this change was stored.
    case noRoom(Room.Limit)
}
