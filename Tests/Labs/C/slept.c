/* A machine that has slept: the boot clock is as many seconds ahead of the other as the file $SLEPT has bytes. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *now)
{
    int result = (int)syscall(SYS_clock_gettime, clock, now);
    const char *slept = getenv("SLEPT");
    struct stat file;
    if (result == 0 && clock == CLOCK_BOOTTIME && slept && stat(slept, &file) == 0) now->tv_sec += file.st_size;
    return result;
}

/* And says when libfprint begins anew. */
void *fp_context_new(void)
{
    void *(*make)(void);
    *(void **)&make = dlsym(RTLD_NEXT, "fp_context_new");
    return write(2, "looks for readers\n", 18) < 0 ? NULL : make();
}
