// Stands in for a daemon that was taken over: when it says that it is ready it tries what a keeper of keys must not be
// able to do, and writes the errno of each (0: done) to the file ATTEMPTS.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static void note(FILE *file, const char *what, long result) {
    fprintf(file, "%s %d\n", what, result < 0 ? errno : 0);
}
static long child(long pid) {
    if (pid == 0) _exit(0);
    if (pid > 0) waitpid((pid_t)pid, NULL, 0);
    return pid;
}
static void *nothing(void *argument) { return argument; }

// In a child of its own, because a success does not come back.
static long program(void) {
    char *arguments[] = {"true", NULL};
    return execve("/bin/true", arguments, arguments + 1);
}

int sd_notify(int unset, const char *state) {
    const char *path = getenv("ATTEMPTS");
    if (path && !strncmp(state, "READY=1", 7)) {
        FILE *file = fopen(path, "w");
        if (!file) abort();
        uint64_t arguments[11] = {0, 0, 0, 0, SIGCHLD};
        char byte, other;
        struct iovec local = {&byte, 1}, remote = {&other, 1};
        pthread_t thread;
        note(file, "fork", child(fork()));
        note(file, "clone", child(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)));
        note(file, "clone3", child(syscall(SYS_clone3, arguments, sizeof arguments)));
        note(file, "peek", process_vm_readv(getppid(), &local, 1, &remote, 1, 0) < 0 && errno == EPERM ? -1 : 0);
        note(file, "trace", ptrace(PTRACE_SEIZE, getppid(), 0, 0));
        note(file, "thread", pthread_create(&thread, NULL, nothing, NULL) == 0 ? pthread_join(thread, NULL) : -1);
        fflush(file);
        note(file, "program", program());
        fclose(file);
    }
    int (*next)(int, const char *) = (int (*)(int, const char *))dlsym(RTLD_NEXT, "sd_notify");
    return next(unset, state);
}
