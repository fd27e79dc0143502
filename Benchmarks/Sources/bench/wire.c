#include "wire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "measure.h"

static void put(struct link *link, const void *bytes, size_t count) {
    if (link->size + count > sizeof link->out) die("a frame that is too long");
    memcpy(link->out + link->size, bytes, count);
    link->size += count;
}
static void put8(struct link *link, uint8_t value) { put(link, &value, 1); }
static void put16(struct link *link, uint16_t value) { put(link, (uint8_t[]){value & 255, value >> 8}, 2); }
static void put32(struct link *link, uint32_t value) {
    put16(link, value & 0xFFFF);
    put16(link, value >> 16);
}
static void text(struct link *link, const char *value) {
    put16(link, (uint16_t)strlen(value));
    put(link, value, strlen(value));
}

static void begin(struct link *link, int type) {
    link->size = 0;
    put32(link, 0);
    put16(link, (uint16_t)type);
    put32(link, type == REPLY ? link->tag : ++link->tag);
}
static size_t end(struct link *link) {
    uint32_t length = (uint32_t)(link->size - HEADER);
    for (int byte = 0; byte < 4; byte++) link->out[byte] = (uint8_t)(length >> (8 * byte));
    return link->size;
}
static void subject(struct link *link, const char *user, uint32_t uid) {
    text(link, user ? user : "");
    put32(link, user ? uid : UINT32_MAX);
    text(link, link->store ? link->store : "");
}
static void send_frame(struct link *link) { write_all(link->fd, link->out, end(link)); }

void write_all(int fd, const uint8_t *bytes, size_t count) {
    while (count > 0) {
        ssize_t done = write(fd, bytes, count);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) die("write");
        bytes += done;
        count -= (size_t)done;
    }
}

void read_all(int fd, uint8_t *bytes, size_t count) {
    while (count > 0) {
        ssize_t done = read(fd, bytes, count);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) die("read");
        bytes += done;
        count -= (size_t)done;
    }
}

// One read for header and body where both have come, as the echo's client does.
static int read_frame(struct link *link) {
    link->have -= link->taken;
    memmove(link->in, link->in + link->taken, link->have);
    link->taken = 0;
    for (size_t want = HEADER;;) {
        if (link->have >= HEADER) {
            want = HEADER + (link->in[0] | (size_t)link->in[1] << 8 | (size_t)link->in[2] << 16);
            if (want > sizeof link->in || link->in[3] != 0) die("an answer that is too long");
        }
        if (link->have >= want) {
            link->taken = want;
            return link->in[4] | link->in[5] << 8;
        }
        ssize_t done = read(link->fd, link->in + link->have, sizeof link->in - link->have);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) die("read");
        link->have += (size_t)done;
    }
}

int read_answer(struct link *link) {
    int type;
    do type = read_frame(link);
    while (type == WORKING || type == SHOW || type == REVEAL);
    return type;
}

void expect(struct link *link, int type) {
    int came = read_answer(link);
    if (came == type) return;
    if (came == REFUSED) {
        fprintf(stderr, "bench: refused with code %d to tag %u\n", link->in[HEADER] | link->in[HEADER + 1] << 8, link->tag);
    } else {
        fprintf(stderr, "bench: answer 0x%02X instead of 0x%02X\n", came, type);
    }
    exit(1);
}

struct link *link_open(const char *path) {
    struct link *link = calloc(1, sizeof *link);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (!link || strlen(path) >= sizeof address.sun_path) die("socket path");
    strcpy(address.sun_path, path);
    link->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (link->fd < 0 || connect(link->fd, (struct sockaddr *)&address, sizeof address) != 0) die(path);
    begin(link, HELLO);
    put16(link, 1);
    put8(link, 4);
    put8(link, 0);
    put8(link, 0);
    put32(link, geteuid());
    for (int field = 0; field < 5; field++) text(link, "");
    send_frame(link);
    expect(link, WELCOME);
    return link;
}

struct link *link_as(const char *path, uint32_t uid) {
    if (seteuid(uid) != 0) die("seteuid");
    struct link *link = link_open(path);
    if (seteuid(0) != 0) die("seteuid");
    return link;
}

static void converse(struct link *link, const char *passcode) {
    for (int type; (type = read_answer(link)) != DONE;) {
        if (type != ASK) {
            fprintf(stderr, "bench: 0x%02X code %d in a conversation\n", type, link->in[HEADER] | link->in[HEADER + 1] << 8);
            exit(1);
        }
        uint8_t question[4];
        memcpy(question, link->in + HEADER, 4);
        int purpose = link->in[HEADER + 4];
        const char *answer = purpose <= 3 ? passcode : "";
        begin(link, REPLY);
        put(link, question, 4);
        put32(link, (uint32_t)strlen(answer));
        put(link, answer, strlen(answer));
        send_frame(link);
    }
}

void make_store(struct link *link, const char *user, uint32_t uid, int way, const char *passcode) {
    begin(link, CREATE);
    subject(link, user, uid);
    put8(link, (uint8_t)way);
    put8(link, 0);
    // A store of its own: it follows none, no ID is asked for, and it has no policy key.
    text(link, "");
    for (int i = 0; i < 16; i++) { put8(link, 0); }
    text(link, "");
    send_frame(link);
    converse(link, passcode);
}

void open_store(struct link *link, const char *passcode) {
    begin(link, OPEN_STORE);
    subject(link, NULL, 0);
    send_frame(link);
    converse(link, passcode);
}

void lock_store(struct link *link) {
    begin(link, LOCK);
    subject(link, NULL, 0);
    send_frame(link);
    expect(link, DONE);
}

void send_rename(struct link *link, const char *name) {
    begin(link, RENAME);
    subject(link, NULL, 0);
    text(link, name);
    send_frame(link);
}

void rename_store(struct link *link, const char *name) {
    send_rename(link, name);
    expect(link, DONE);
}

void share_store(struct link *link, const char *name, int role, const char *passcode) {
    begin(link, role ? SHARE : UNSHARE);
    subject(link, NULL, 0);
    put8(link, 1);
    text(link, name);
    if (role) put8(link, (uint8_t)role);
    send_frame(link);
    converse(link, passcode);
}

void watch(struct link *link) {
    begin(link, WATCH);
    put8(link, 0);
    send_frame(link);
}

static void record(struct link *link, uint64_t number) {
    char name[NAME + 1];
    snprintf(name, sizeof name, "record-%09u", (unsigned)(number % 1000000000u));
    text(link, link->store ? link->store : "");
    text(link, name);
}

size_t get_request(struct link *link, uint64_t number) {
    begin(link, GET);
    record(link, number);
    return end(link);
}

size_t set_request(struct link *link, uint64_t number) {
    uint8_t value[VALUE_SIZE];
    uint64_t seed = number;
    for (size_t at = 0; at < sizeof value; at += 8) {
        uint64_t word = next_number(&seed);
        memcpy(value + at, &word, 8);
    }
    begin(link, SET);
    record(link, number);
    put32(link, sizeof value);
    put(link, value, sizeof value);
    return end(link);
}

void get_record(struct link *link, uint64_t number) {
    write_all(link->fd, link->out, get_request(link, number));
    expect(link, VALUE);
}

void set_record(struct link *link, uint64_t number) {
    write_all(link->fd, link->out, set_request(link, number));
    expect(link, DONE);
}

void fill_store(struct link **links, size_t count, size_t records) {
    for (size_t next = 0; next < records;) {
        size_t sent = 0;
        for (; sent < count && next < records; sent++, next++) {
            write_all(links[sent]->fd, links[sent]->out, set_request(links[sent], next));
        }
        for (size_t each = 0; each < sent; each++) expect(links[each], DONE);
    }
}
