#include "bare.h"

#include <sodium.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "measure.h"

struct bare {
    sqlite3 *base;
    sqlite3_stmt *put;
    size_t rows, stored;
    uint64_t numbers;
    unsigned char body[4096];
};

static void need(int status, struct bare *bare, const char *what) {
    if (status == SQLITE_OK || status == SQLITE_DONE) return;
    fprintf(stderr, "bench: %s: %s\n", what, sqlite3_errmsg(bare->base));
    exit(1);
}
static void run(struct bare *bare, const char *text) { need(sqlite3_exec(bare->base, text, 0, 0, 0), bare, text); }

static void put(struct bare *bare, uint64_t row) {
    randombytes_buf(bare->body, 24);
    sqlite3_bind_int64(bare->put, 1, (sqlite3_int64)row);
    sqlite3_bind_blob(bare->put, 2, bare->body, (int)bare->stored, SQLITE_STATIC);
    need(sqlite3_step(bare->put), bare, "insert");
    sqlite3_reset(bare->put);
}

struct bare *bare_again(const char *folder, size_t rows, size_t stored) {
    struct bare *bare = calloc(1, sizeof *bare);
    if (!bare || stored > sizeof bare->body) die("stored size");
    char path[4096];
    snprintf(path, sizeof path, "%s/bare-%zu.db", folder, rows);
    bare->rows = rows;
    bare->stored = stored;
    bare->numbers = 42;
    randombytes_buf(bare->body, stored);
    need(sqlite3_open(path, &bare->base), bare, path);
    run(bare, "PRAGMA locking_mode=EXCLUSIVE");
    run(bare, "PRAGMA journal_mode=WAL");
    run(bare, "PRAGMA synchronous=FULL");
    run(bare, "CREATE TABLE IF NOT EXISTS r(id INTEGER PRIMARY KEY, body BLOB)");
    need(sqlite3_prepare_v2(bare->base, "INSERT OR REPLACE INTO r VALUES(?, ?)", -1, &bare->put, 0), bare, "prepare");
    return bare;
}

// The rows' keys lie all over the space, as a keyed hash of a name does.
static uint64_t key(struct bare *bare, uint64_t number) {
    uint64_t state = number % bare->rows;
    return next_number(&state) >> 1;
}

struct bare *bare_open(const char *folder, size_t rows, size_t stored) {
    struct bare *bare = bare_again(folder, rows, stored);
    sqlite3_stmt *count;
    need(sqlite3_prepare_v2(bare->base, "SELECT count(*) FROM r", -1, &count, 0), bare, "count");
    size_t have = sqlite3_step(count) == SQLITE_ROW ? (size_t)sqlite3_column_int64(count, 0) : 0;
    sqlite3_finalize(count);
    if (have != rows) {
        run(bare, "BEGIN");
        run(bare, "DELETE FROM r");
        for (uint64_t each = 0; each < rows; each++) put(bare, key(bare, each));
        run(bare, "COMMIT");
        run(bare, "PRAGMA wal_checkpoint(TRUNCATE)");
    }
    return bare;
}

void bare_commit(void *context) {
    struct bare *bare = context;
    put(bare, key(bare, next_number(&bare->numbers)));
}

void bare_close(struct bare *bare) {
    sqlite3_finalize(bare->put);
    sqlite3_close(bare->base);
    free(bare);
}
