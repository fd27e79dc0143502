/* A wall clock that is $WALL_SHIFT seconds off; every other clock is as it was. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *now)
{
    int result = (int)syscall(SYS_clock_gettime, clock, now);
    const char *shift = getenv("WALL_SHIFT");
    if (result == 0 && clock == CLOCK_REALTIME && shift != NULL) now->tv_sec += atoll(shift);
    return result;
}
