// SQLite, imported by SealedStore alone.
#ifndef APPVAULT_CSQLITE_H
#define APPVAULT_CSQLITE_H

#include <sqlite3.h>

// sqlite3_config is variadic, which Swift cannot call.
static inline int appvault_sqlite_without_statistics(void) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

#endif
