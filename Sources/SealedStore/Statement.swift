internal import CSQLite

/// A prepared statement. It is kept as long as its connection, and reset after each use.
@safe struct Statement: ~Copyable {
    enum Step { case row, done }

    private let raw: OpaquePointer

    init(_ sql: StaticString, on connection: OpaquePointer) throws(RecordsError) {
        var prepared: OpaquePointer?
        // SAFETY: a literal ends with a NUL; -1 reads up to it.
        let result = unsafe sqlite3_prepare_v3(
            connection, UnsafeRawPointer(sql.utf8Start).assumingMemoryBound(to: CChar.self), -1,
            UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
        guard result == SQLITE_OK, let prepared = unsafe prepared else {
            throw RecordsError(sqlite: result)
        }
        unsafe raw = prepared
    }

    deinit {
        // SAFETY: prepared by us, finalised once; the connection is freed after its last statement.
        unsafe sqlite3_finalize(raw)
    }

    borrowing func bind(_ index: Int32, _ value: Int64) {
        // SAFETY: raw lives as long as self. Binding a number fails only for an index that does not exist.
        _ = unsafe sqlite3_bind_int64(raw, index, value)
    }

    /// For short values: SQLite copies them.
    borrowing func bind(_ index: Int32, copying bytes: Span<UInt8>) throws(RecordsError) {
        let result = unsafe bytes.withUnsafeBufferPointer { bytes in
            // SAFETY: -1 is SQLITE_TRANSIENT, a cast that is not imported: copy at once.
            let copy = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
            return unsafe sqlite3_bind_blob(
                raw, index, bytes.baseAddress, Int32(bytes.count), copy)
        }
        guard result == SQLITE_OK else { throw RecordsError(sqlite: result) }
    }

    /// For a body: SQLite reads it where it lies, so the memory must stay until `reset`.
    borrowing func bind(_ index: Int32, inPlace buffer: Scratch) throws(RecordsError) {
        let result = buffer.withBytes { bytes in
            unsafe bytes.withUnsafeBufferPointer { bytes in
                // SAFETY: the buffer is not touched before the statement is reset; nil is SQLITE_STATIC.
                unsafe sqlite3_bind_blob(raw, index, bytes.baseAddress, Int32(bytes.count), nil)
            }
        }
        guard result == SQLITE_OK else { throw RecordsError(sqlite: result) }
    }

    /// What stands in a column of another statement's present row, whatever its type is.
    borrowing func bind(_ index: Int32, _ column: Int32, of other: borrowing Statement) {
        // SAFETY: the other one stands on a row; SQLite copies the value.
        _ = unsafe sqlite3_bind_value(raw, index, sqlite3_column_value(other.raw, column))
    }

    borrowing func step() throws(RecordsError) -> Step {
        // SAFETY: raw lives as long as self.
        let result = unsafe sqlite3_step(raw)
        if result == SQLITE_ROW { return .row }
        if result == SQLITE_DONE { return .done }
        throw RecordsError(sqlite: result)
    }

    /// For statements that give no row.
    borrowing func run() throws(RecordsError) {
        defer { reset() }
        guard try step() == .done else { throw .damaged(.file) }
    }

    borrowing func reset() {
        // SAFETY: raw lives as long as self. `step` has already reported an error.
        unsafe sqlite3_reset(raw)
        unsafe sqlite3_clear_bindings(raw)
    }

    /// A column of the present row. A value that is no integer is damage.
    borrowing func number(_ column: Int32) throws(RecordsError) -> Int64 {
        // SAFETY: raw lives as long as self and stands on a row.
        guard unsafe sqlite3_column_type(raw, column) == SQLITE_INTEGER else {
            throw .damaged(.file)
        }
        return unsafe sqlite3_column_int64(raw, column)
    }

    /// A column of the present row as bytes, whatever its type is.
    borrowing func withBytes<R, E: Error>(
        _ column: Int32, _ body: (Span<UInt8>) throws(E) -> R
    ) throws(E) -> R {
        // SAFETY: the bytes stay valid until the statement moves on, which the closure does not do.
        let start = unsafe sqlite3_column_blob(raw, column)
        let count = Int(unsafe sqlite3_column_bytes(raw, column))
        let bytes = unsafe UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count)
        return try body(unsafe bytes.bindMemory(to: UInt8.self).span)
    }
}
