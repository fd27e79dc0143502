// SQLite, imported by SealedStore alone.
#ifndef APPVAULT_CSQLITE_H
#define APPVAULT_CSQLITE_H

#include <sqlite3.h>

// sqlite3_config is variadic, which Swift cannot call.
static inline int appvault_sqlite_without_statistics(void) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

// So is sqlite3_db_config. Whether closing leaves the write-ahead log as it is.
static inline int appvault_sqlite_leave_log(sqlite3 *database, int leaves) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, leaves, (int *)0);
}

#endif
