/* Preloaded into appvaultd: it is killed before the Nth write or sync of a slots file, counted from when N was written into
   $KILL_STEPS. Each one that is done counts it down; where the file is not there, nothing happens. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

static int is_slots(int fd)
{
    static const char name[] = "/slots";
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path);
    return length >= (ssize_t)sizeof name && memcmp(path + length - (sizeof name - 1), name, sizeof name - 1) == 0;
}

static void step(int fd)
{
    const char *path = getenv("KILL_STEPS");
    if (path == NULL || !is_slots(fd)) return;
    pthread_mutex_lock(&one_at_a_time);
    FILE *file = fopen(path, "r+e");
    if (file != NULL) {
        long left = 0;
        if (fscanf(file, "%ld", &left) != 1) abort();
        if (left <= 0) {
            kill(getpid(), SIGKILL);
            pause();
        }
        rewind(file);
        fprintf(file, "%ld \n", left - 1);
        fclose(file);
    }
    pthread_mutex_unlock(&one_at_a_time);
}

typedef ssize_t writer(int, const void *, size_t, off64_t);
typedef int syncer(int);

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset)
{
    step(fd);
    return ((writer *)dlsym(RTLD_NEXT, "pwrite64"))(fd, bytes, count, offset);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset)
{
    step(fd);
    return ((writer *)dlsym(RTLD_NEXT, "pwrite64"))(fd, bytes, count, offset);
}

int fdatasync(int fd)
{
    step(fd);
    return ((syncer *)dlsym(RTLD_NEXT, "fdatasync"))(fd);
}

int fsync(int fd)
{
    step(fd);
    return ((syncer *)dlsym(RTLD_NEXT, "fsync"))(fd);
}
