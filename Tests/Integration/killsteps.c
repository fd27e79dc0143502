/* Preloaded into appvaultd: it is killed before the Nth write, sync, renaming or removal of a slots file, of a finger's
   file or in a runtime folder, counted from when N was written into $KILL_STEPS. Each one that is done counts it down; where the file is not there,
   nothing happens. The sync of a finger's file waits as long as there is a file $HOLD_FINGERS. While there is a file
   $FAIL_DISK that says "write N" or "sync N", these fail with errno N. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

static int is_finger(const char *path) { return strstr(path, "/fingers") != NULL; }
static int is_runtime(const char *path) { return strstr(path, "/runtime") != NULL; }

static int is_ours(int fd, char path[4096])
{
    static const char name[] = "/slots";
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, 4095);
    if (length < 0) return 0;
    path[length] = 0;
    return is_finger(path) || is_runtime(path)
        || (length >= (ssize_t)sizeof name && memcmp(path + length - (sizeof name - 1), name, sizeof name - 1) == 0);
}

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

static int fails(int fd, const char *what)
{
    const char *told = getenv("FAIL_DISK");
    char path[4096], word[8] = "";
    int number = 0;
    if (told == NULL || !is_ours(fd, path)) return 0;
    FILE *file = fopen(told, "re");
    if (file == NULL) return 0;
    if (fscanf(file, "%7s %d", word, &number) != 2) number = 0;
    fclose(file);
    if (number == 0 || strcmp(word, what) != 0) return 0;
    errno = number;
    return 1;
}

static void step(int fd)
{
    char path[4096];
    if (is_ours(fd, path)) count_down();
}

static void hold(int fd)
{
    const char *held = getenv("HOLD_FINGERS");
    char path[4096];
    if (held == NULL || !is_ours(fd, path) || strstr(path, ".new") == NULL) return;
    while (access(held, F_OK) == 0) usleep(2000);
}

typedef ssize_t writer(int, const void *, size_t, off64_t);
typedef int syncer(int);

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset)
{
    step(fd);
    if (fails(fd, "write")) return -1;
    return ((writer *)dlsym(RTLD_NEXT, "pwrite64"))(fd, bytes, count, offset);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset)
{
    step(fd);
    if (fails(fd, "write")) return -1;
    return ((writer *)dlsym(RTLD_NEXT, "pwrite64"))(fd, bytes, count, offset);
}

int fdatasync(int fd)
{
    step(fd);
    if (fails(fd, "sync")) return -1;
    return ((syncer *)dlsym(RTLD_NEXT, "fdatasync"))(fd);
}

int fsync(int fd)
{
    hold(fd);
    step(fd);
    if (fails(fd, "sync")) return -1;
    return ((syncer *)dlsym(RTLD_NEXT, "fsync"))(fd);
}

ssize_t write(int fd, const void *bytes, size_t count)
{
    char path[4096];
    if (is_ours(fd, path) && is_finger(path)) {
        step(fd);
        if (fails(fd, "write")) return -1;
    }
    return ((ssize_t (*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write"))(fd, bytes, count);
}

int rename(const char *old, const char *new)
{
    if (is_finger(new)) count_down();
    return ((int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename"))(old, new);
}

int unlinkat(int folder, const char *name, int flags)
{
    step(folder);
    return ((int (*)(int, const char *, int))dlsym(RTLD_NEXT, "unlinkat"))(folder, name, flags);
}

int renameat(int from, const char *old, int to, const char *new)
{
    step(from);
    return ((int (*)(int, const char *, int, const char *))dlsym(RTLD_NEXT, "renameat"))(from, old, to, new);
}
