#ifndef BARE_H
#define BARE_H

#include <stddef.h>
#include <stdint.h>

// SQLite as bare as it durably gets: WAL, synchronous=FULL, one prepared statement, opaque blobs.
struct bare;
struct bare *bare_open(const char *folder, size_t rows, size_t stored);
// Opened anew, in the process that will use it: a connection does not survive a fork.
struct bare *bare_again(const char *folder, size_t rows, size_t stored);
void bare_commit(void *bare);
void bare_close(struct bare *bare);

#endif
