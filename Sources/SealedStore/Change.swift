public import Posix

/// What is to be done to one record. The value lies in wiped memory of its own, filled before it is handed over.
public enum Change: Sendable {
    case set(name: [UInt8], value: WipedBuffer)
    case delete(name: [UInt8])
}

/// What changes would do, before they are made.
public struct Effect: Equatable, Sendable {
    /// Bytes.
    public var growth = 0
    /// Names among them that exist already.
    public var existing: [[UInt8]] = []
}

/// What became of one change, told after the commit.
public enum ChangeResult: Equatable, Sendable {
    /// A record that was not there before.
    case stored
    /// In place of an older value.
    case replaced
    case deleted
    /// Nothing to delete.
    case absent
    /// Its bucket or its old record is damaged; nothing there was changed.
    case damaged(Damage)
    /// Another name of this store has the same row id: one store in some ten thousand million with a million records.
    case collision
    /// No name, or one of more than 255 bytes.
    case nameRefused
    /// More than 1 MiB.
    case tooLarge
    /// The file would grow beyond its room; nothing of this change was stored.
    case noRoom(Room.Limit)
}
