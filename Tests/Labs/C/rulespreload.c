// Stands in for what runs over a candidate, as if an administrator's pattern or a dictionary had taken the worker over:
// the candidate says what it tries. What the sandbox refuses is a match and a good word.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <regex.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REFUSED = 0, DONE = 1, UNKNOWN = 2 };

static int outcome(long result) {
    if (result != -1) return DONE;
    return errno == EPERM || errno == EACCES ? REFUSED : UNKNOWN;
}
static int child(long pid) {
    if (pid == 0) _exit(0);
    if (pid > 0) waitpid((pid_t)pid, NULL, 0);
    return outcome(pid);
}
static void *nothing(void *argument) { return argument; }
static const char *after(const char *text, const char *word) {
    size_t length = strlen(word);
    return strncmp(text, word, length) == 0 ? text + length : NULL;
}
static int unix_connect(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd < 0) return outcome(fd);
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    return outcome(connect(fd, (struct sockaddr *)&address, sizeof address));
}

int attempt(const char *what) {
    const char *rest;
    errno = 0;
    if (!strcmp(what, "fork")) return child(fork());
    if (!strcmp(what, "raw-fork")) return child(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
    if (!strcmp(what, "clone3")) {
        uint64_t arguments[11] = {0, 0, 0, 0, SIGCHLD};
        return child(syscall(SYS_clone3, arguments, sizeof arguments));
    }
    if (!strcmp(what, "thread")) {
        pthread_t thread;
        int failed = pthread_create(&thread, NULL, nothing, NULL);
        if (!failed) pthread_join(thread, NULL);
        errno = failed;
        return outcome(failed ? -1 : 0);
    }
    if (!strcmp(what, "exec")) {
        char *none[] = {NULL};
        return outcome(execve("/bin/true", none, none));
    }
    if ((rest = after(what, "read:"))) return outcome(open(rest, O_RDONLY));
    if ((rest = after(what, "list:"))) return outcome(open(rest, O_RDONLY | O_DIRECTORY));
    if ((rest = after(what, "path:"))) return outcome(open(rest, O_PATH));
    if ((rest = after(what, "write:"))) return outcome(open(rest, O_WRONLY));
    if ((rest = after(what, "create:"))) return outcome(open(rest, O_WRONLY | O_CREAT, 0600));
    if ((rest = after(what, "unnamed:"))) return outcome(open(rest, O_TMPFILE | O_RDWR, 0600));
    if ((rest = after(what, "mkdir:"))) return outcome(mkdirat(AT_FDCWD, rest, 0700));
    if ((rest = after(what, "unlink:"))) return outcome(unlinkat(AT_FDCWD, rest, 0));
    if ((rest = after(what, "connect:"))) return unix_connect(rest);
    if (!strcmp(what, "internet")) return outcome(socket(AF_INET, SOCK_STREAM, 0));
    if (!strcmp(what, "netlink")) return outcome(socket(AF_NETLINK, SOCK_RAW, 0));
    if (!strcmp(what, "socketpair")) {
        int pair[2];
        return outcome(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    }
    if (!strcmp(what, "pipe")) {
        int pair[2];
        return outcome(pipe(pair));
    }
    if (!strcmp(what, "print")) return outcome(write(2, "", 0));
    if ((rest = after(what, "kill:"))) return outcome(kill(atoi(rest), 0));
    if ((rest = after(what, "trace:"))) {
        long result = ptrace(PTRACE_ATTACH, atoi(rest), 0, 0);
        int found = outcome(result);
        if (result == 0) {
            waitpid(atoi(rest), NULL, 0);
            ptrace(PTRACE_DETACH, atoi(rest), 0, 0);
        }
        return found;
    }
    if ((rest = after(what, "peek:"))) {
        char byte;
        struct iovec here = {&byte, 0}, there = {&byte, 0};
        return outcome(process_vm_readv(atoi(rest), &here, 1, &there, 1, 0));
    }
    if ((rest = after(what, "limits:"))) {
        struct rlimit limit;
        return outcome(prlimit(atoi(rest), RLIMIT_CORE, NULL, &limit));
    }
    if (!strcmp(what, "code"))
        return outcome((long)mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (!strcmp(what, "make-code")) {
        void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        return outcome(mprotect(page, 4096, PROT_READ | PROT_EXEC));
    }
    if (!strcmp(what, "memory-file")) return outcome(memfd_create("x", 0));
    if (!strcmp(what, "more-time")) {
        struct itimerval later = {{0, 0}, {60, 0}};
        return outcome(setitimer(ITIMER_REAL, &later, NULL));
    }
    if (!strcmp(what, "ignore-alarm")) return signal(SIGALRM, SIG_IGN) == SIG_ERR ? outcome(-1) : DONE;
    if (!strcmp(what, "dumpable")) return outcome(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0));
    if (!strcmp(what, "namespace")) return outcome(unshare(CLONE_NEWUSER));
    if (!strcmp(what, "mount")) return outcome(mount("none", "/mnt", "tmpfs", 0, "size=4k"));
    if (!strcmp(what, "root")) return outcome(setuid(0));
    if (!strcmp(what, "filter")) {
        uint32_t action = SECCOMP_RET_ALLOW;
        return outcome(syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action));
    }
    if (!strcmp(what, "ring")) {
        char parameters[256] = {0};
        return outcome(syscall(SYS_io_uring_setup, 1, parameters));
    }
    return UNKNOWN;
}

// What hangs, dies or floods instead of judging.
static void misbehave(const char *what) {
    if (!strcmp(what, "hang")) {
        struct timespec day = {86400, 0};
        for (;;) {
            nanosleep(&day, NULL);
        }
    }
    if (!strcmp(what, "crash")) *(volatile int *)8 = 1;
    if (!strcmp(what, "abort")) abort();
    if (!strcmp(what, "eat"))
        for (;;) memset(malloc(1 << 20), 1, 1 << 20);
    if (!strcmp(what, "flood")) {
        static char bytes[65536];
        for (int fd = 3; fd < 16; fd++)
            while (send(fd, bytes, sizeof bytes, MSG_NOSIGNAL) > 0) {
            }
    }
}

int regexec(const regex_t *pattern, const char *text, size_t count, regmatch_t found[restrict count], int flags) {
    (void)pattern, (void)found, (void)flags;
    misbehave(text);
    int tried = attempt(text);
    return tried == REFUSED ? 0 : tried == DONE ? REG_NOMATCH : REG_ESPACE;
}

int pwquality_check(void *settings, const char *word, const char *old, const char *user, void **details) {
    (void)settings, (void)old, (void)user, (void)details;
    misbehave(word);
    int tried = attempt(word);
    // -15 is an opinion, -8 a failure.
    return tried == REFUSED ? 100 : tried == DONE ? -15 : -8;
}
