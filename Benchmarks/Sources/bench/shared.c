// Stores that several people share, stores that follow another, and who hears of them. The people exist in the bench
// alone (libpeople).
#define _GNU_SOURCE
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure.h"
#include "pairs.h"
#include "wire.h"

enum { FIRST_UID = 200000 };
enum way { OWN_PASSCODE = 2, NO_PASSCODE = 3, FOLLOWS = 6, SHARED = 7 };
enum role { NONE = 0, WRITER = 2, READER = 3 };
static const char passcode[] = "correct horse battery staple";

static struct link *somebody(const char *socket, unsigned number) { return link_as(socket, FIRST_UID + number); }

static struct link *newcomer(const char *socket, unsigned number) {
    struct link *link = somebody(socket, number);
    make_store(link, NULL, 0, OWN_PASSCODE, passcode);
    return link;
}

static void time_get(struct link *link, size_t records, uint64_t *numbers, struct series *into) {
    double began = now_us();
    get_record(link, next_number(numbers) % records);
    add(into, now_us() - began);
}

// Owner, who is removed, a member who stays, and somebody who has nothing to do with it.
int measure_rekey(char **words) {
    enum { AT_ONCE = 12, OTHERS_RECORDS = 100, PAUSE_US = 1000 };
    size_t records = strtoul(words[1], NULL, 10), rounds = strtoul(words[2], NULL, 10);
    struct link *owner = newcomer(words[0], 0), *member = newcomer(words[0], 2), *other = newcomer(words[0], 3);
    newcomer(words[0], 1);
    owner->store = "team";
    make_store(owner, NULL, 0, SHARED, passcode);
    share_store(owner, "bench2", WRITER, passcode);
    struct link *links[AT_ONCE] = {owner};
    for (size_t each = 1; each < AT_ONCE; each++) {
        links[each] = somebody(words[0], 0);
        links[each]->store = owner->store;
    }
    fill_store(links, AT_ONCE, records);
    fill_store(&other, 1, OTHERS_RECORDS);
    member->store = "bench0/team";
    struct series series[] = {{.name = "rekey"}, {.name = "member"}, {.name = "other"}, {.name = "member-before"},
                              {.name = "other-before"}};
    uint64_t numbers = 1;
    for (size_t round = 0; round < rounds; round++) {
        share_store(owner, "bench1", WRITER, passcode);
        for (size_t each = 0; each < 500; each++) {
            time_get(member, records, &numbers, &series[3]);
            time_get(other, OTHERS_RECORDS, &numbers, &series[4]);
            usleep(PAUSE_US);
        }
        double began = now_us();
        pid_t child = fork();
        if (child < 0) die("fork");
        if (child == 0) {
            share_store(owner, "bench1", NONE, passcode);
            _exit(0);
        }
        int status;
        while (waitpid(child, &status, WNOHANG) == 0) {
            time_get(member, records, &numbers, &series[1]);
            time_get(other, OTHERS_RECORDS, &numbers, &series[2]);
            usleep(PAUSE_US);
        }
        add(&series[0], now_us() - began);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return 1;
        // The child has used it, too.
        owner = somebody(words[0], 0);
        owner->store = "team";
    }
    print_row(series, 5, NULL);
    return 0;
}

// One unlock and a first get in each store that follows, against an unlock and a get where none does.
int measure_follow(char **words) {
    enum { MOST = 64 };
    size_t count = strtoul(words[1], NULL, 10), rounds = strtoul(words[2], NULL, 10);
    static char names[MOST][16];
    struct link *many = newcomer(words[0], 0), *none = newcomer(words[0], 1);
    set_record(none, 1);
    if (count > MOST) return 2;
    for (size_t each = 0; each < count; each++) {
        snprintf(names[each], sizeof names[each], "follower%zu", each);
        many->store = names[each];
        make_store(many, NULL, 0, FOLLOWS, passcode);
        set_record(many, 1);
    }
    struct series series[] = {{.name = "ours"}, {.name = "against"}, {.name = "control"}};
    for (size_t round = 0; round <= rounds; round++) {
        for (size_t row = 0; row < 3; row++) {
            struct link *link = row == 0 ? many : none;
            link->store = NULL;
            lock_store(link);
            // What a lock has left to do is not the unlock's business.
            usleep(100000);
            double began = now_us();
            open_store(link, passcode);
            if (row > 0) get_record(link, 1);
            for (size_t each = 0; row == 0 && each < count; each++) {
                link->store = names[each];
                get_record(link, 1);
            }
            if (round > 0) add(&series[row], now_us() - began);
        }
    }
    print_row(series, 3, NULL);
    return 0;
}

enum { WATCHES = 4 };

// Until every one of them has heard something, and then reads what else has come.
static double heard_us(int poller, struct link **links, size_t count, double began) {
    bool *has_heard = calloc(count, sizeof *has_heard);
    double last = began;
    for (size_t left = count; left > 0;) {
        struct epoll_event events[64];
        int came = epoll_wait(poller, events, 64, 10000);
        if (came <= 0) die("no event");
        double now = now_us();
        for (int each = 0; each < came; each++) {
            size_t number = events[each].data.u64;
            expect(links[number], EVENT);
            if (!has_heard[number]) {
                has_heard[number] = true;
                left--;
                last = now;
            }
        }
    }
    free(has_heard);
    return last - began;
}

static void quiet(int poller, struct link **links) {
    struct epoll_event events[64];
    for (int came; (came = epoll_wait(poller, events, 64, 50)) > 0;) {
        for (int each = 0; each < came; each++) {
            struct link *link = links[events[each].data.u64];
            do expect(link, EVENT);
            while (link->have > link->taken);
        }
    }
}

static double anonymous_kb(pid_t process) {
    char path[64], line[128];
    snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)process);
    FILE *file = fopen(path, "r");
    double found = -1;
    if (!file) die(path);
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, "Anonymous:", 10) == 0) found = atof(line + 10);
    }
    fclose(file);
    return found;
}

// A shared store gets another name, of which each of its members hears, on several connections each; and in turn with it
// one that is shared with nobody: what that takes is no event's.
int measure_watch(char **words) {
    pid_t daemon = atoi(words[1]);
    size_t people = strtoul(words[2], NULL, 10), rounds = strtoul(words[3], NULL, 10), count = people * WATCHES;
    struct link *owner = newcomer(words[0], 0);
    // A long name soon fills the socket of who does not read.
    char names[2][201] = {{0}}, others[2][201] = {{0}};
    for (int each = 0; each < 2; each++) {
        memset(names[each], 'a' + each, sizeof names[each] - 1);
        memset(others[each], 'y' + each, sizeof others[each] - 1);
    }
    owner->store = others[0];
    make_store(owner, NULL, 0, SHARED, passcode);
    owner->store = names[0];
    make_store(owner, NULL, 0, SHARED, passcode);
    struct series series[] = {{.name = "ours"}, {.name = "against"}, {.name = "stuck"}, {.name = "memory"},
                              {.name = "stuck-against"}};
    // The last of them is who does not read.
    for (size_t each = 1; each <= people + 1; each++) {
        char name[32];
        snprintf(name, sizeof name, "bench%zu", each);
        struct link *link = newcomer(words[0], (unsigned)each);
        share_store(owner, name, READER, passcode);
        close(link->fd);
        free(link);
    }
    int now_named = 0;
    struct link **links = calloc(count, sizeof *links);
    int poller = epoll_create1(EPOLL_CLOEXEC);
    if (!links) die("memory");
    for (size_t each = 0; each < count; each++) {
        links[each] = somebody(words[0], 1 + (unsigned)(each / WATCHES));
        watch(links[each]);
        struct epoll_event event = {.events = EPOLLIN, .data.u64 = each};
        epoll_ctl(poller, EPOLL_CTL_ADD, links[each]->fd, &event);
    }
    quiet(poller, links);
    for (int stuck = 0; stuck < 2; stuck++) {
        if (stuck) watch(somebody(words[0], 1 + (unsigned)people));
        for (size_t round = 0; round < rounds; round++, now_named = !now_named) {
            owner->store = others[now_named];
            double began = now_us();
            rename_store(owner, others[!now_named]);
            add(&series[stuck ? 4 : 1], now_us() - began);
            owner->store = names[now_named];
            began = now_us();
            send_rename(owner, names[!now_named]);
            add(&series[stuck ? 2 : 0], heard_us(poller, links, count, began));
            expect(owner, DONE);
            quiet(poller, links);
        }
        add(&series[3], anonymous_kb(daemon));
    }
    print_row(series, 5, NULL);
    return 0;
}
