/// What is damaged in a records file, as far as it can be told.
public enum Damage: Equatable, Hashable, Sendable {
    /// SQLite cannot read the file, or it is not laid out as a records file.
    case file
    /// The sealed head does not open: it was changed, it is of another store, or the key is another
    /// one.
    case head
    /// One of the 64 sealed nodes does not open.
    case node(Int)
    /// The records of a bucket are not the ones that were stored.
    case bucket(Int)
    /// A record of this bucket does not open.
    case record(bucket: Int)
}

/// Why an operation on the records failed.
public enum RecordsError: Error, Equatable, Sendable {
    case damaged(Damage)
    /// There is a records file already.
    case exists
    /// There is no records file.
    case missing
    /// The records were closed.
    case closed
    /// No space is left on the disk.
    case full
    case readOnly
    /// Another process holds the file.
    case busy
    case outOfMemory
    /// Too many files are open.
    case outOfDescriptors
    /// The caller's buffer is too small for the record.
    case bufferTooSmall
    /// The disk or the system failed, with SQLite's extended code or errno.
    case io(code: Int32)
}
