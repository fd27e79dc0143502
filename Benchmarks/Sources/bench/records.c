// Reading and writing records over held connections, against an echo and against bare SQLite.
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "bare.h"
#include "echo.h"
#include "measure.h"
#include "pairs.h"
#include "wire.h"

enum { VALUE_ANSWER = HEADER + 4 + VALUE_SIZE };

static double gets_us(struct link *link, size_t records, size_t batch, uint64_t *numbers) {
    double began = now_us();
    for (size_t each = 0; each < batch; each++) get_record(link, next_number(numbers) % records);
    return (now_us() - began) / (double)batch;
}

// The same client: a request of the same bytes goes out, an answer of the same size is read.
static double echoes_us(struct echo echo, struct link *link, size_t (*request)(struct link *, uint64_t), size_t answer,
                        size_t records, size_t batch, uint64_t *numbers) {
    uint8_t in[1024];
    double began = now_us();
    for (size_t each = 0; each < batch; each++) {
        write_all(echo.fd, link->out, request(link, next_number(numbers) % records));
        for (size_t got = 0; got < answer;) {
            ssize_t done = read(echo.fd, in + got, sizeof in - got);
            if (done <= 0) die("echo");
            got += (size_t)done;
        }
    }
    return (now_us() - began) / (double)batch;
}

int pair_get(char **words) {
    pid_t daemon = atoi(words[1]);
    size_t records = strtoul(words[2], NULL, 10), rounds = strtoul(words[4], NULL, 10);
    size_t batch = strtoul(words[5], NULL, 10);
    int cpu = atoi(words[3]);
    struct link *link = link_open(words[0]);
    open_store(link, "");
    struct echo echo = echo_start(get_request(link, 1), VALUE_ANSWER, 0, NULL, NULL);
    pin(0, cpu);
    pin(daemon, 0);
    struct series series[] = {{.name = "ours"}, {.name = "against"}, {.name = "control"}};
    uint64_t a = 1, b = 1, c = 1;
    gets_us(link, records, batch, &a);
    for (size_t round = 0; round < rounds; round++) {
        add(&series[0], gets_us(link, records, batch, &a));
        add(&series[1], echoes_us(echo, link, get_request, VALUE_ANSWER, records, batch, &b));
        add(&series[2], echoes_us(echo, link, get_request, VALUE_ANSWER, records, batch, &c));
    }
    pin(daemon, -1);
    echo_stop(echo);
    print_row(series, 3, NULL);
    return 0;
}

static double sets_us(struct link *link, size_t records, size_t batch, uint64_t *numbers) {
    double began = now_us();
    for (size_t each = 0; each < batch; each++) set_record(link, next_number(numbers) % records);
    return (now_us() - began) / (double)batch;
}

struct lazy {
    struct bare *bare;
    const char *folder;
    size_t rows, stored;
};
static void lazy_commit(void *context) {
    struct lazy *lazy = context;
    if (!lazy->bare) lazy->bare = bare_again(lazy->folder, lazy->rows, lazy->stored);
    bare_commit(lazy->bare);
}

int pair_set(char **words) {
    pid_t daemon = atoi(words[1]);
    size_t records = strtoul(words[2], NULL, 10), stored = strtoul(words[3], NULL, 10);
    size_t rounds = strtoul(words[5], NULL, 10), batch = strtoul(words[6], NULL, 10);
    struct link *link = link_open(words[0]);
    open_store(link, "");
    bare_close(bare_open(words[4], records, stored));
    struct lazy lazy = {NULL, words[4], records, stored};
    set_record(link, 1);
    size_t done = link->taken;
    struct echo echo = echo_start(set_request(link, 1), done, 0, lazy_commit, &lazy);
    pin(0, 0);
    pin(daemon, 0);
    struct series series[] = {{.name = "ours"}, {.name = "against"}, {.name = "control"}};
    uint64_t a = 1, b = 1, c = 1;
    sets_us(link, records, batch, &a);
    echoes_us(echo, link, set_request, done, records, batch, &b);
    for (size_t round = 0; round < rounds; round++) {
        add(&series[0], sets_us(link, records, batch, &a));
        add(&series[1], echoes_us(echo, link, set_request, done, records, batch, &b));
        add(&series[2], echoes_us(echo, link, set_request, done, records, batch, &c));
    }
    pin(daemon, -1);
    echo_stop(echo);
    print_row(series, 3, NULL);
    return 0;
}

// Commits a second of so many connections with one set under way on each.
static double crowd(struct link **links, size_t count, size_t records, double seconds, uint64_t *numbers) {
    int poller = epoll_create1(EPOLL_CLOEXEC);
    for (size_t each = 0; each < count; each++) {
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = links[each]};
        epoll_ctl(poller, EPOLL_CTL_ADD, links[each]->fd, &event);
        write_all(links[each]->fd, links[each]->out, set_request(links[each], next_number(numbers) % records));
    }
    size_t done = 0, waiting = count;
    double began = now_us(), ended = began;
    while (waiting > 0) {
        struct epoll_event events[64];
        int came = epoll_wait(poller, events, 64, 10000);
        if (came <= 0) die("no answer");
        for (int each = 0; each < came; each++) {
            struct link *link = events[each].data.ptr;
            expect(link, DONE);
            ended = now_us();
            waiting--;
            done++;
            if (ended - began < seconds * 1e6) {
                write_all(link->fd, link->out, set_request(link, next_number(numbers) % records));
                waiting++;
            }
        }
    }
    close(poller);
    return (double)done * 1e6 / (ended - began);
}

static double alone(struct bare *bare, double seconds) {
    size_t done = 0;
    double began = now_us(), ended = began;
    for (; ended - began < seconds * 1e6; ended = now_us(), done++) bare_commit(bare);
    return (double)done * 1e6 / (ended - began);
}

int pair_sets(char **words) {
    size_t records = strtoul(words[1], NULL, 10), stored = strtoul(words[2], NULL, 10);
    size_t count = strtoul(words[4], NULL, 10), rounds = strtoul(words[5], NULL, 10);
    struct link **links = calloc(count, sizeof *links);
    for (size_t each = 0; each < count; each++) {
        links[each] = link_open(words[0]);
        if (each == 0) open_store(links[each], "");
    }
    struct bare *bare = bare_open(words[3], records, stored);
    struct series series[] = {{.name = "ours"}, {.name = "against"}, {.name = "control"}};
    uint64_t numbers = 1;
    for (size_t round = 0; round < rounds; round++) {
        add(&series[0], crowd(links, count, records, 0.5, &numbers));
        add(&series[1], alone(bare, 0.5));
        add(&series[2], alone(bare, 0.5));
    }
    bare_close(bare);
    print_row(series, 3, NULL);
    return 0;
}

static double written(pid_t process) {
    char path[64], line[128];
    snprintf(path, sizeof path, process ? "/proc/%d/io" : "/proc/self/io", (int)process);
    FILE *file = fopen(path, "r");
    double bytes = -1;
    if (!file) die(path);
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, "write_bytes:", 12) == 0) bytes = atof(line + 12);
    }
    fclose(file);
    return bytes;
}

int pair_written(char **words) {
    pid_t daemon = atoi(words[1]);
    size_t records = strtoul(words[2], NULL, 10), stored = strtoul(words[3], NULL, 10);
    size_t count = strtoul(words[5], NULL, 10);
    struct link *link = link_open(words[0]);
    open_store(link, "");
    struct bare *bare = bare_open(words[4], records, stored);
    struct series series[] = {{.name = "ours"}, {.name = "against"}, {.name = "control"}};
    uint64_t numbers = 1;
    for (int round = 0; round < 3; round++) {
        double before = written(daemon);
        for (size_t each = 0; each < count; each++) set_record(link, next_number(&numbers) % records);
        add(&series[0], (written(daemon) - before) / (double)count);
        for (int side = 1; side <= 2; side++) {
            before = written(0);
            for (size_t each = 0; each < count; each++) bare_commit(bare);
            add(&series[side], (written(0) - before) / (double)count);
        }
    }
    bare_close(bare);
    print_row(series, 3, NULL);
    return 0;
}

// Stores of several sizes, each shut, opened without a derivation, and read from once.
int pair_reopen(char **words) {
    enum { MOST = 8 };
    struct link *links[MOST];
    size_t records[MOST], count = 0;
    struct series series[MOST] = {0};
    size_t rounds = strtoul(words[0], NULL, 10);
    for (; count < MOST && words[1 + 2 * count] && words[2 + 2 * count]; count++) {
        series[count].name = words[1 + 2 * count];
        records[count] = strtoul(series[count].name, NULL, 10);
        links[count] = link_open(words[2 + 2 * count]);
    }
    uint64_t numbers = 1;
    for (size_t round = 0; round <= rounds; round++) {
        for (size_t each = 0; each < count; each++) {
            lock_store(links[each]);
            usleep(20000);
            double began = now_us();
            open_store(links[each], "");
            get_record(links[each], next_number(&numbers) % records[each]);
            double took = now_us() - began;
            if (round > 0) add(&series[each], took);
            // The scan that follows an unlock is none of the next one's business.
            usleep(records[each] >= 1000000 ? 400000 : 40000);
        }
    }
    print_row(series, count, NULL);
    return 0;
}

int do_create(char **words) {
    struct link *link = link_open(words[0]);
    bool self = strcmp(words[3], "-") == 0;
    make_store(link, self ? NULL : words[3], (uint32_t)strtoul(words[4], NULL, 10), atoi(words[1]), words[2]);
    return 0;
}

int do_fill(char **words) {
    enum { AT_ONCE = 12 };
    struct link *links[AT_ONCE];
    for (size_t each = 0; each < AT_ONCE; each++) {
        links[each] = link_open(words[0]);
        if (each == 0) open_store(links[each], "");
    }
    fill_store(links, AT_ONCE, strtoul(words[1], NULL, 10));
    return 0;
}
