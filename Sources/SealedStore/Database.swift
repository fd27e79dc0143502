internal import CSQLite
internal import Posix

/// One SQLite connection, with the settings that a records file needs. Only one thread uses it at a
/// time, so it is opened without SQLite's own mutexes.
@safe struct Database: ~Copyable {
    private let raw: OpaquePointer

    // Turned off once, before anything else: SQLite holds the mutex of its memory statistics across
    // page faults. A derivation causes page faults, and every other person would wait.
    private static let isReady = appvault_sqlite_without_statistics() == SQLITE_OK

    init(path: String) throws(RecordsError) {
        _ = Self.isReady
        var opened: OpaquePointer?
        let flags =
            SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW
            | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_PRIVATECACHE
        // SAFETY: the path is passed as a C string. SQLite gives back a connection even on failure.
        let result = unsafe sqlite3_open_v2(path, &opened, flags, nil)
        guard let opened = unsafe opened else { throw .outOfMemory }
        guard result == SQLITE_OK else {
            let error = unsafe Self.error(result, opened)
            // SAFETY: a connection that failed to open is closed too, once.
            unsafe sqlite3_close_v2(opened)
            throw error
        }
        unsafe raw = opened
        // SAFETY: raw is open. With the limit, a changed length in the file cannot make SQLite
        // allocate that much.
        unsafe sqlite3_limit(raw, SQLITE_LIMIT_LENGTH, 2 << 20)
    }

    deinit {
        // SAFETY: opened by us, closed once; SQLite keeps it alive until its last statement is
        // finalised.
        unsafe sqlite3_close_v2(raw)
    }

    func prepare(_ sql: StaticString) throws(RecordsError) -> Statement {
        try unsafe Statement(sql, on: raw)
    }

    /// For statements that give no row, or none that matters.
    func run(_ sql: StaticString) throws(RecordsError) {
        // SAFETY: a literal ends with a NUL.
        let result = unsafe sqlite3_exec(
            raw, UnsafeRawPointer(sql.utf8Start).assumingMemoryBound(to: CChar.self), nil, nil, nil)
        guard result == SQLITE_OK else { throw unsafe Self.error(result, raw) }
    }

    /// What SQLite cannot open it gives no reason for, but the system's is known.
    private static func error(_ code: Int32, _ raw: OpaquePointer) -> RecordsError {
        // SAFETY: raw is open, or was tried to be.
        let system = PosixError(call: "open", number: unsafe sqlite3_system_errno(raw))
        guard code & 0xff == SQLITE_CANTOPEN, system.isOutOfDescriptors
        else { return RecordsError(sqlite: code) }
        return .outOfDescriptors
    }

    var isInTransaction: Bool {
        // SAFETY: raw is open.
        unsafe sqlite3_get_autocommit(raw) == 0
    }

    var changedRows: Int32 {
        // SAFETY: raw is open.
        unsafe sqlite3_changes(raw)
    }

    /// Closing moves the log into the file and removes it, unless this is set.
    func leaveLog(_ leaves: Bool) {
        // SAFETY: raw is open.
        _ = unsafe appvault_sqlite_leave_log(raw, leaves ? 1 : 0)
    }

    /// Moves all of the write-ahead log into the file, and leaves the log as it is.
    func copyLog() throws(RecordsError) {
        var all: Int32 = 0
        var moved: Int32 = 0
        // SAFETY: raw is open; both numbers are ours.
        let result = unsafe sqlite3_wal_checkpoint_v2(
            raw, nil, SQLITE_CHECKPOINT_PASSIVE, &all, &moved)
        guard result == SQLITE_OK else { throw RecordsError(sqlite: result) }
        guard all == moved else { throw .busy }
    }

    /// Moves all of the write-ahead log into the file, and empties the log.
    func emptyLog() throws(RecordsError) {
        // SAFETY: raw is open.
        let result = unsafe sqlite3_wal_checkpoint_v2(
            raw, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        guard result == SQLITE_OK else { throw RecordsError(sqlite: result) }
    }

    /// Moves the write-ahead log into the file, as far as that succeeds.
    func checkpoint() {
        // SAFETY: raw is open. What is not moved stays in the log and is found there at the next
        // opening.
        _ = unsafe sqlite3_wal_checkpoint_v2(raw, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
    }
}

extension RecordsError {
    init(sqlite code: Int32) {
        switch code & 0xff {
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT, SQLITE_TOOBIG, SQLITE_SCHEMA,
            SQLITE_ERROR,
            SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_RANGE:
            // Our own statements are correct, so these codes mean that SQLite cannot read the
            // file's content.
            self = .damaged(.file)
        case SQLITE_FULL: self = .full
        case SQLITE_READONLY, SQLITE_PERM: self = .readOnly
        case SQLITE_BUSY, SQLITE_LOCKED: self = .busy
        case SQLITE_NOMEM: self = .outOfMemory
        default: self = .io(code: code)
        }
    }
}
