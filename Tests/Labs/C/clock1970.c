/* The machine's clock, as it is where a battery is empty: it counts from 1970 on. For /etc/ld.so.preload. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long now(void)
{
    struct timespec boot;
    syscall(SYS_clock_gettime, CLOCK_BOOTTIME, &boot);
    return boot.tv_sec;
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    int result = (int)syscall(SYS_clock_gettime, clock, time);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) time->tv_sec = now();
    return result;
}

int gettimeofday(struct timeval *restrict value, void *restrict zone)
{
    (void)zone;
    value->tv_sec = now();
    value->tv_usec = 0;
    return 0;
}

time_t time(time_t *out)
{
    time_t value = now();
    if (out) *out = value;
    return value;
}
