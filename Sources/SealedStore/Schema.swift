internal import Posix

/// The layout of a records file in SQLite.
enum Schema {
    static let fileName = "records.db"
    static let logSuffix = "-wal"
    static let logName = fileName + logSuffix
    /// The records sealed anew, until they take the place of the others.
    static let comingName = "records.new"
    /// Those whose place they took, until they are overwritten.
    static let formerName = "records.old"

    static let presentNames = names(of: fileName)
    static let comingNames = names(of: comingName)
    static let allNames = presentNames + comingNames + [formerName] + keptNames

    /// All files that SQLite may make for a records file. It makes a rollback journal only while
    /// the file is made, and never makes an index (`-shm`).
    private static func names(of file: String) -> [String] {
        [file, file + logSuffix, file + "-journal", file + "-shm"]
    }

    /// Logs that commits were missing from, kept until their owner no longer wants them. A fourth
    /// takes the place of the third.
    static let keptNames = (1...3).map { "records.db-lost-\($0)" }

    static let tables: [StaticString] = [
        "CREATE TABLE head(id INTEGER PRIMARY KEY, body BLOB NOT NULL)",
        "CREATE TABLE nodes(id INTEGER PRIMARY KEY, body BLOB NOT NULL)",
        // The body is the last column, so that a scan of ids and tags does not read its overflow
        // pages.
        """
        CREATE TABLE records(id INTEGER PRIMARY KEY, generation INTEGER NOT NULL, \
        tag BLOB NOT NULL, nonce BLOB NOT NULL, body BLOB NOT NULL)
        """,
    ]

    /// SQLite's application id is "AVrc", and its user version is the version of the format.
    static let make: StaticString = "PRAGMA application_id=1096184419; PRAGMA user_version=1"
    static let application: UInt32 = 1_096_184_419
    static let version: UInt32 = 1

    /// The lock is exclusive before anything is read, so that SQLite makes no shared-memory index.
    /// Every commit is synced. Deleted content is overwritten. SQLite checks pages more closely
    /// than by default.
    static let settings: StaticString = """
        PRAGMA locking_mode=EXCLUSIVE; PRAGMA synchronous=FULL; PRAGMA secure_delete=ON; \
        PRAGMA cell_size_check=ON; PRAGMA trusted_schema=OFF; PRAGMA wal_autocheckpoint=1000
        """
    /// While records are sealed anew, a crash costs the file in any case, so nothing waits for the
    /// disk. Each time the log is moved into the file takes a few milliseconds at most.
    static let settingsOfComing: StaticString =
        "PRAGMA synchronous=OFF; PRAGMA wal_autocheckpoint=500"
    static let syncing: StaticString = "PRAGMA synchronous=FULL"
    /// Only for a new file: the first page fixes the page size, and the first commit fixes the log
    /// mode. Without auto_vacuum a file could never shrink, and only the same store could use the
    /// room of its deleted records.
    static let settingsOfNew: StaticString = """
        PRAGMA page_size=4096; PRAGMA auto_vacuum=INCREMENTAL; PRAGMA locking_mode=EXCLUSIVE; \
        PRAGMA journal_mode=WAL
        """

    static let headerSize = 100

    /// Checks the first bytes of the file before SQLite opens it.
    static func check(header: [UInt8]) throws(RecordsError) {
        guard isSQLite(header),
            header[16] == 0x10, header[17] == 0, header[18] == 2, header[19] == 2, header[20] == 0,
            number(header, 60) == version, number(header, 68) == application
        else { throw .damaged(.file) }
    }

    /// Of a later version of AppVault. What such a file has beyond ours, nobody here knows.
    static func isOfLater(header: [UInt8]) -> Bool {
        isSQLite(header) && number(header, 68) == application
            && (version + 1..<1 << 16).contains(number(header, 60))
    }

    private static func isSQLite(_ header: [UInt8]) -> Bool {
        header.count == headerSize && header.starts(with: "SQLite format 3\0".utf8)
    }

    private static func number(_ header: [UInt8], _ position: Int) -> UInt32 {
        header[position..<position + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// The tables are the ones above, word for word, and there is nothing else: no trigger, no
    /// view.
    static func check(_ database: borrowing Database) throws(RecordsError) {
        let statement = try database.prepare("SELECT type, sql FROM sqlite_schema ORDER BY rowid")
        for table in tables {
            guard try statement.step() == .row,
                statement.equals(0, "table"), statement.equals(1, table)
            else { throw .damaged(.file) }
        }
        guard try statement.step() == .done else { throw .damaged(.file) }
    }

    /// The page where the tree of the records begins.
    static func recordsRoot(_ database: borrowing Database) throws(RecordsError) -> Int {
        let statement = try database.prepare(
            "SELECT rootpage FROM sqlite_schema WHERE name='records'")
        guard try statement.step() == .row else { throw .damaged(.file) }
        return Int(try statement.number(0))
    }
}

extension Statement {
    borrowing func equals(_ column: Int32, _ text: StaticString) -> Bool {
        withBytes(column) { bytes in
            guard bytes.count == text.utf8CodeUnitCount else { return false }
            return text.withUTF8Buffer { text in
                for index in bytes.indices {
                    // SAFETY: the literal and the column have the same number of bytes.
                    guard unsafe bytes[index] == text[index] else { return false }
                }
                return true
            }
        }
    }
}
