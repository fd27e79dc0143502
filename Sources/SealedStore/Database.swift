internal import CSQLite
internal import Posix

/// One SQLite connection, with the settings that a records file needs. Confined to one thread at a time, so SQLite's
/// own mutexes are left out.
@safe struct Database: ~Copyable {
    private let raw: OpaquePointer

    // Before anything else and once: its statistics mutex is held across page faults, and a derivation's page
    // faults would make every other person wait.
    private static let isReady = appvault_sqlite_without_statistics() == SQLITE_OK

    init(path: String) throws(RecordsError) {
        _ = Self.isReady
        var opened: OpaquePointer?
        let flags =
            SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW
            | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_PRIVATECACHE
        // SAFETY: the path is passed as a C string; a connection is given back even on failure.
        let result = unsafe sqlite3_open_v2(path, &opened, flags, nil)
        guard let opened = unsafe opened else { throw .outOfMemory }
        guard result == SQLITE_OK else {
            // SAFETY: also one that did not open is closed, once.
            unsafe sqlite3_close_v2(opened)
            throw RecordsError(sqlite: result)
        }
        unsafe raw = opened
        // SAFETY: raw is open. A changed length must not make SQLite allocate what it says.
        unsafe sqlite3_limit(raw, SQLITE_LIMIT_LENGTH, 2 << 20)
    }

    deinit {
        // SAFETY: opened by us, closed once; it lingers until its last statement is finalised.
        unsafe sqlite3_close_v2(raw)
    }

    func prepare(_ sql: StaticString) throws(RecordsError) -> Statement {
        try unsafe Statement(sql, on: raw)
    }

    /// For what gives no row that matters.
    func run(_ sql: StaticString) throws(RecordsError) {
        // SAFETY: a literal ends with a NUL.
        let result = unsafe sqlite3_exec(
            raw, UnsafeRawPointer(sql.utf8Start).assumingMemoryBound(to: CChar.self), nil, nil, nil)
        guard result == SQLITE_OK else { throw RecordsError(sqlite: result) }
    }

    var isInTransaction: Bool {
        // SAFETY: raw is open.
        unsafe sqlite3_get_autocommit(raw) == 0
    }

    var changedRows: Int32 {
        // SAFETY: raw is open.
        unsafe sqlite3_changes(raw)
    }

    /// Everything of the write-ahead log into the file, as far as it goes.
    func checkpoint() {
        // SAFETY: raw is open; what stays in the log is found there at the next opening.
        _ = unsafe sqlite3_wal_checkpoint_v2(raw, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
    }
}

extension RecordsError {
    init(sqlite code: Int32) {
        switch code & 0xff {
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT, SQLITE_TOOBIG, SQLITE_SCHEMA,
            SQLITE_ERROR,
            SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_RANGE:
            // Our own statements are right: what SQLite cannot make sense of is the file.
            self = .damaged(.file)
        case SQLITE_FULL: self = .full
        case SQLITE_READONLY, SQLITE_PERM: self = .readOnly
        case SQLITE_BUSY, SQLITE_LOCKED: self = .busy
        case SQLITE_NOMEM: self = .outOfMemory
        default: self = .io(code: code)
        }
    }
}
