// As much of the protocol as the bench speaks; PROTOCOL.md has all of it.
#ifndef WIRE_H
#define WIRE_H

#include <stddef.h>
#include <stdint.h>

enum {
    HELLO = 0x02, REPLY = 0x04, CREATE = 0x22, OPEN_STORE = 0x24, LOCK = 0x26, WATCH = 0x3E, GET = 0x40, SET = 0x42,
    RENAME = 0x90, SHARE = 0x96, UNSHARE = 0x98,
    WELCOME = 0x03, SHOW = 0x05, ASK = 0x07, WORKING = 0x09, REFUSED = 0x0B, DONE = 0x0D, REVEAL = 0x0F, EVENT = 0x3F, VALUE = 0x41
};
enum { HEADER = 10, NAME = 16, VALUE_SIZE = 64 };

struct link {
    int fd;
    const char *store;   // what its requests are about; NULL: `default`
    uint32_t tag;
    size_t size;         // of what goes out
    size_t have, taken;  // of what came in, and of the frame at its start
    // A frame is at most this long here: names and values are small.
    uint8_t out[1024], in[8192];
};

struct link *link_open(const char *path);
// As somebody else, which only root can be.
struct link *link_as(const char *path, uint32_t uid);
// The subject is the peer itself where `user` is NULL.
void make_store(struct link *link, const char *user, uint32_t uid, int way, const char *passcode);
void open_store(struct link *link, const char *passcode);
void lock_store(struct link *link);
void rename_store(struct link *link, const char *name);
void send_rename(struct link *link, const char *name);
// With a person; `role` 0: no more.
void share_store(struct link *link, const char *name, int role, const char *passcode);
void watch(struct link *link);
void get_record(struct link *link, uint64_t number);
// By one set at a time on each of these.
void fill_store(struct link **links, size_t count, size_t records);
void set_record(struct link *link, uint64_t number);

// A request as bytes, for whoever does the sending; the answer's length is what comes back.
size_t get_request(struct link *link, uint64_t number);
size_t set_request(struct link *link, uint64_t number);
void write_all(int fd, const uint8_t *bytes, size_t count);
void read_all(int fd, uint8_t *bytes, size_t count);
// The next answer's type; what is only to be shown is passed over.
int read_answer(struct link *link);
void expect(struct link *link, int type);

#endif
