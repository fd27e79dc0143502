/* Preloaded into appvaultd: it is killed before the Nth write, sync, renaming or removal of a slots file, of a finger's
   file or in a runtime folder, counted from when N was written into $KILL_STEPS; with $STEPS_FOLDER, of anything that
   changes in that folder instead, a second name of a file included, and with $STEPS_MESSAGES also before each message that
   it sends and after each that it has read. Each one that is done counts it down; where the file is not there, nothing
   happens. The sync of a finger's file waits as long as there is a file $HOLD_FINGERS. While there is a file $FAIL_DISK that says
   "write N" or "sync N", these fail with errno N. While there is a file $COPIES_ON_WRITE, a write of a slots file finds no
   room for as long as there is a file "reserve" in $STEPS_FOLDER: what a full file system does that takes a new block for
   each write. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

static int is_finger(const char *path) { return strstr(path, "/fingers") != NULL; }
static int is_runtime(const char *path) { return strstr(path, "/runtime") != NULL; }

static int is_slots(const char *path)
{
    static const char name[] = "/slots";
    size_t length = strlen(path), end = sizeof name - 1;
    return length > end && memcmp(path + length - end, name, end) == 0;
}

static int is_ours(int fd, char path[4096])
{
    const char *folder = getenv("STEPS_FOLDER");
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, 4095);
    if (length < 0) return 0;
    path[length] = 0;
    if (folder != NULL) return strncmp(path, folder, strlen(folder)) == 0;
    return is_finger(path) || is_runtime(path) || is_slots(path);
}

static void count_down(void)
{
    const char *path = getenv("KILL_STEPS");
    if (path == NULL) return;
    pthread_mutex_lock(&one_at_a_time);
    FILE *file = fopen(path, "r+e");
    if (file != NULL) {
        long left = 0;
        /* Where there is no number yet, it is just being written. */
        if (fscanf(file, "%ld", &left) == 1) {
            if (left <= 0) {
                kill(getpid(), SIGKILL);
                pause();
            }
            rewind(file);
            fprintf(file, "%ld \n", left - 1);
        }
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

static int has_no_room(int fd)
{
    const char *copies = getenv("COPIES_ON_WRITE"), *folder = getenv("STEPS_FOLDER");
    char path[4096];
    if (copies == NULL || folder == NULL || access(copies, F_OK) != 0) return 0;
    snprintf(path, sizeof path, "%s/reserve", folder);
    if (access(path, F_OK) != 0 || !is_ours(fd, path) || !is_slots(path)) return 0;
    errno = ENOSPC;
    return 1;
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

static ssize_t put(int fd, const void *bytes, size_t count, off64_t offset)
{
    step(fd);
    if (fails(fd, "write") || has_no_room(fd)) return -1;
    return ((writer *)dlsym(RTLD_NEXT, "pwrite64"))(fd, bytes, count, offset);
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) { return put(fd, bytes, count, offset); }
ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset) { return put(fd, bytes, count, offset); }

int ftruncate64(int fd, off64_t length)
{
    if (getenv("STEPS_FOLDER") != NULL) step(fd);
    return ((int (*)(int, off64_t))dlsym(RTLD_NEXT, "ftruncate64"))(fd, length);
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
    if (is_ours(fd, path) && (is_finger(path) || getenv("STEPS_FOLDER") != NULL)) {
        step(fd);
        if (fails(fd, "write")) return -1;
    }
    return ((ssize_t (*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write"))(fd, bytes, count);
}

int rename(const char *old, const char *new)
{
    const char *folder = getenv("STEPS_FOLDER");
    if (folder != NULL ? strncmp(new, folder, strlen(folder)) == 0 : is_finger(new)) count_down();
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

int linkat(int from, const char *old, int to, const char *new, int flags)
{
    if (getenv("STEPS_FOLDER") != NULL) step(from);
    return ((int (*)(int, const char *, int, const char *, int))dlsym(RTLD_NEXT, "linkat"))(from, old, to, new, flags);
}

static int counts_messages(void) { return getenv("STEPS_MESSAGES") != NULL; }

static ssize_t has_read(ssize_t result)
{
    int error = errno;
    if (result > 0 && counts_messages()) count_down();
    errno = error;
    return result;
}

ssize_t read(int fd, void *bytes, size_t count)
{
    struct stat found;
    ssize_t result = ((ssize_t (*)(int, void *, size_t))dlsym(RTLD_NEXT, "read"))(fd, bytes, count);
    if (result <= 0 || !counts_messages()) return result;
    return fstat(fd, &found) == 0 && S_ISSOCK(found.st_mode) ? has_read(result) : result;
}

ssize_t recv(int fd, void *bytes, size_t count, int flags)
{
    ssize_t result = ((ssize_t (*)(int, void *, size_t, int))dlsym(RTLD_NEXT, "recv"))(fd, bytes, count, flags);
    return flags & MSG_PEEK ? result : has_read(result);
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    return has_read(((ssize_t (*)(int, struct msghdr *, int))dlsym(RTLD_NEXT, "recvmsg"))(fd, message, flags));
}

ssize_t send(int fd, const void *bytes, size_t count, int flags)
{
    if (counts_messages()) count_down();
    return ((ssize_t (*)(int, const void *, size_t, int))dlsym(RTLD_NEXT, "send"))(fd, bytes, count, flags);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    if (counts_messages()) count_down();
    return ((ssize_t (*)(int, const struct msghdr *, int))dlsym(RTLD_NEXT, "sendmsg"))(fd, message, flags);
}
