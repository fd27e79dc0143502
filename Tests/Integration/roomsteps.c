/* Preloaded into appvaultd. It is killed before the Nth call that changes something in the folder $STEPS_FOLDER, counted
   from when N was written into $KILL_STEPS; each call that is done counts it down, and where the file is not there nothing
   happens. While there is a file $COPIES_ON_WRITE, a write of a slots file finds no room for as long as there is a file
   "reserve" in $STEPS_FOLDER: what a full file system does that takes a new block for each write. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

static void count_down(void)
{
    const char *path = getenv("KILL_STEPS");
    if (path == NULL) return;
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

static void path_of(int fd, char path[4096])
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, 4095);
    path[length < 0 ? 0 : length] = 0;
}

static void step(int fd)
{
    const char *folder = getenv("STEPS_FOLDER");
    char path[4096];
    if (folder == NULL) return;
    path_of(fd, path);
    if (strncmp(path, folder, strlen(folder)) == 0) count_down();
}

static int has_no_room(int fd)
{
    const char *copies = getenv("COPIES_ON_WRITE"), *folder = getenv("STEPS_FOLDER");
    char path[4096];
    if (copies == NULL || folder == NULL || access(copies, F_OK) != 0) return 0;
    snprintf(path, sizeof path, "%s/reserve", folder);
    if (access(path, F_OK) != 0) return 0;
    path_of(fd, path);
    size_t length = strlen(path);
    if (length < 6 || strcmp(path + length - 6, "/slots") != 0) return 0;
    errno = ENOSPC;
    return 1;
}

typedef ssize_t writer(int, const void *, size_t, off64_t);

static ssize_t put(int fd, const void *bytes, size_t count, off64_t offset)
{
    step(fd);
    if (has_no_room(fd)) return -1;
    return ((writer *)dlsym(RTLD_NEXT, "pwrite64"))(fd, bytes, count, offset);
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) { return put(fd, bytes, count, offset); }
ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset) { return put(fd, bytes, count, offset); }

int fdatasync(int fd)
{
    step(fd);
    return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(fd);
}

int fsync(int fd)
{
    step(fd);
    return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(fd);
}

int ftruncate64(int fd, off64_t length)
{
    step(fd);
    return ((int (*)(int, off64_t))dlsym(RTLD_NEXT, "ftruncate64"))(fd, length);
}

int unlinkat(int folder, const char *name, int flags)
{
    step(folder);
    return ((int (*)(int, const char *, int))dlsym(RTLD_NEXT, "unlinkat"))(folder, name, flags);
}
