// Preloaded into labdriver: a journal that a test can read, a clock that it can move, a slow directory, and a look
// at all memory that is given back.
//   LAB_JOURNAL=PATH  what goes to syslog, one line each, behind its priority
//   LAB_CLOCK=PATH    the seconds in this file are added to the monotonic clock
//   LAB_SLOW=SECONDS  every look-up of a name takes so long
//   LAB_SECRET=TEXT   memory that holds this when it is freed is written to the journal as "0 spilled"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void write_down(int priority, const char *format, va_list arguments) {
    const char *path = getenv("LAB_JOURNAL");
    FILE *file = path != NULL ? fopen(path, "ae") : NULL;
    if (file == NULL) return;
    fprintf(file, "%d ", priority & 7);
    vfprintf(file, format, arguments);
    fputc('\n', file);
    fclose(file);
}

void vsyslog(int priority, const char *format, va_list arguments) { write_down(priority, format, arguments); }

void __vsyslog_chk(int priority, int flag, const char *format, va_list arguments) {
    (void)flag;
    write_down(priority, format, arguments);
}

void syslog(int priority, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    write_down(priority, format, arguments);
    va_end(arguments);
}

void __syslog_chk(int priority, int flag, const char *format, ...) {
    (void)flag;
    va_list arguments;
    va_start(arguments, format);
    write_down(priority, format, arguments);
    va_end(arguments);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int result = (int)syscall(SYS_clock_gettime, clock, now);
    const char *path = getenv("LAB_CLOCK");
    if (clock == CLOCK_MONOTONIC && path != NULL) {
        FILE *file = fopen(path, "re");
        long more = 0;
        if (file != NULL) {
            if (fscanf(file, "%ld", &more) == 1) now->tv_sec += more;
            fclose(file);
        }
    }
    return result;
}

int getpwnam_r(const char *name, struct passwd *entry, char *buffer, size_t size, struct passwd **result) {
    int (*real)(const char *, struct passwd *, char *, size_t, struct passwd **) = dlsym(RTLD_NEXT, "getpwnam_r");
    const char *slow = getenv("LAB_SLOW");
    if (slow != NULL) sleep((unsigned)atoi(slow));
    return real(name, entry, buffer, size, result);
}

extern void __libc_free(void *memory);

void free(void *memory) {
    const char *secret = getenv("LAB_SECRET");
    const char *path = getenv("LAB_JOURNAL");
    if (memory != NULL && secret != NULL && path != NULL
        && memmem(memory, malloc_usable_size(memory), secret, strlen(secret)) != NULL) {
        int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
        if (fd >= 0) {
            if (write(fd, "0 spilled\n", 10) < 0) abort();
            close(fd);
        }
    }
    __libc_free(memory);
}
