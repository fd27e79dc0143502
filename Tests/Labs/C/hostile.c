// A client that does its worst: many uids, many connections each, for so many seconds.
//
//     hostile SOCKET MODE UIDS COUNT CONNECTIONS SECONDS GREETING
//
// UIDS is the first uid, COUNT how many, CONNECTIONS what each holds. MODE is one of pipeline, slow, leave, half, unread,
// mixed. GREETING is a file with the frames: the greeting, then the requests that are sent again and again.
// It prints "ready" when each of its clients had a turn, and at its end how many connections it made, bytes it sent and bytes it read. Run as root.
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum mode { PIPELINE, SLOW, LEAVE, HALF, UNREAD, MODES, MIXED = MODES };
static const char *names[] = {"pipeline", "slow", "leave", "half", "unread", "mixed"};

// One byte short of a frame whose body is 1 MiB: `set` of a value.
enum { BODY = 1 << 20 };

struct client {
    int fd;
    uid_t uid;
    enum mode mode;
    size_t sent;
    uint64_t again;
};

static struct sockaddr_un address = {.sun_family = AF_UNIX};
static unsigned char *frames, *half;
static size_t greeting, frames_size;
static unsigned long connections, sent, got;
static int poll_fd;

static uint64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static uint32_t little(const unsigned char *at) {
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static void load(const char *path) {
    FILE *file = fopen(path, "rb");
    unsigned char once[16384];
    if (!file) exit(2);
    size_t size = fread(once, 1, sizeof once, file);
    fclose(file);
    greeting = 10 + little(once);
    if (size < 10 || greeting >= size) exit(2);
    // The requests over and over, so that each write carries many.
    size_t piece = size - greeting;
    size_t times = 65536 / piece + 1;
    frames_size = greeting + piece * times;
    frames = malloc(frames_size);
    memcpy(frames, once, greeting);
    for (size_t i = 0; i < times; i++) memcpy(frames + greeting + i * piece, once + greeting, piece);
    half = calloc(1, 10 + BODY);
    half[2] = 0x10;
    half[4] = 0x42;
}

static void drop(struct client *client, uint64_t pause) {
    if (client->fd >= 0) close(client->fd);
    client->fd = -1;
    client->sent = 0;
    client->again = now_ms() + pause;
}

// SO_PEERCRED is the effective uid of the moment; the real one stays root's, so that the next one can be taken.
static void come(struct client *client) {
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) exit(3);
    syscall(SYS_setresuid, -1, client->uid, -1);
    int failed = connect(fd, (struct sockaddr *)&address, sizeof address);
    int error = errno;
    syscall(SYS_setresuid, -1, 0, -1);
    if (failed != 0) {
        close(fd);
        client->again = now_ms() + (error == EAGAIN ? 1 : 50);
        return;
    }
    connections++;
    client->fd = fd;
    client->sent = 0;
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = client};
    epoll_ctl(poll_fd, EPOLL_CTL_ADD, fd, &event);
}

// So much of it as goes; false where the connection is over.
static int push(struct client *client, const unsigned char *bytes, size_t count) {
    ssize_t gone = send(client->fd, bytes, count, MSG_NOSIGNAL);
    if (gone > 0) {
        client->sent += (size_t)gone;
        sent += (unsigned long)gone;
        return 1;
    }
    return gone < 0 && errno == EAGAIN ? -1 : 0;
}

static void swallow(struct client *client) {
    static unsigned char into[1 << 18];
    while (1) {
        ssize_t count = recv(client->fd, into, sizeof into, 0);
        if (count > 0) {
            got += (unsigned long)count;
            continue;
        }
        if (count == 0 || (errno != EAGAIN && errno != EINTR)) drop(client, 2);
        return;
    }
}

static void work(struct client *client) {
    if (client->fd < 0) {
        if (now_ms() < client->again) return;
        come(client);
        if (client->fd < 0) return;
    }
    int state = 1;
    switch (client->mode) {
    case LEAVE: drop(client, 0); return;
    case SLOW:
        // A byte at a time, as fast as it goes.
        if (client->sent >= frames_size) client->sent = greeting;
        state = push(client, frames + client->sent, 1);
        break;
    case HALF: {
        size_t whole = greeting + 10 + BODY - 1;
        while (state > 0 && client->sent < whole) {
            int greets = client->sent < greeting;
            size_t at = greets ? client->sent : client->sent - greeting;
            state = push(client, greets ? frames + at : half + at, greets ? greeting - at : 10 + BODY - 1 - at);
        }
        break;
    }
    default:
        for (int i = 0; state > 0 && i < 4; i++) {
            if (client->sent >= frames_size) client->sent = greeting;
            state = push(client, frames + client->sent, frames_size - client->sent);
        }
    }
    if (state == 0) {
        drop(client, 2);
        return;
    }
    if (client->mode != UNREAD) {
        swallow(client);
        return;
    }
    // Whoever never reads still hears of the end.
    unsigned char byte;
    ssize_t end = recv(client->fd, &byte, 0, MSG_PEEK);
    if (end < 0 && errno != EAGAIN) drop(client, 2);
}

int main(int count, char **words) {
    if (count != 8) return 2;
    enum mode mode = PIPELINE;
    while (mode < MIXED && strcmp(words[2], names[mode]) != 0) mode++;
    uid_t first = (uid_t)strtoul(words[3], NULL, 10);
    size_t uids = strtoul(words[4], NULL, 10), each = strtoul(words[5], NULL, 10);
    uint64_t end = now_ms() + strtoul(words[6], NULL, 10) * 1000;
    strncpy(address.sun_path, words[1], sizeof address.sun_path - 1);
    load(words[7]);
    signal(SIGPIPE, SIG_IGN);
    if (setgroups(0, NULL) != 0) return 3;
    poll_fd = epoll_create1(EPOLL_CLOEXEC);
    size_t all = uids * each;
    struct client *clients = calloc(all, sizeof *clients);
    for (size_t i = 0; i < all; i++)
        clients[i] = (struct client){-1, first + (uid_t)(i % uids), mode == MIXED ? (enum mode)(i / uids % MODES) : mode, 0, 0};
    half[0] = BODY & 0xFF;
    half[1] = BODY >> 8 & 0xFF;
    half[2] = BODY >> 16 & 0xFF;
    // Everybody in turn: those that may go on at once, and those of whom something was heard.
    size_t next = 0;
    int ready = 0;
    struct epoll_event events[256];
    while (now_ms() < end) {
        size_t busy = 0;
        for (size_t i = 0; i < 64; i++, next = (next + 1) % all) {
            struct client *client = &clients[next];
            if (!ready && next == all - 1) {
                ready = 1;
                puts("ready");
                fflush(stdout);
            }
            if (client->fd < 0 || client->mode == SLOW || client->mode == LEAVE) {
                work(client);
                busy += client->mode == LEAVE || client->mode == SLOW;
            }
        }
        int found = epoll_wait(poll_fd, events, 256, busy ? 0 : 1);
        for (int i = 0; i < found; i++)
            if (((struct client *)events[i].data.ptr)->fd >= 0) work(events[i].data.ptr);
    }
    printf("%lu %lu %lu\n", connections, sent, got);
    return 0;
}
