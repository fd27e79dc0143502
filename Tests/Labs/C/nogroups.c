/* Stands before libc in the daemon: while there is a file $NO_GROUPS, the directory service does not answer who is in
   which group. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <grp.h>
#include <stdlib.h>
#include <unistd.h>

static void wait_for_answer(void)
{
    const char *path = getenv("NO_GROUPS");
    while (path != NULL && access(path, F_OK) == 0) usleep(5000);
}

int getgrouplist(const char *account, gid_t group, gid_t *groups, int *count)
{
    wait_for_answer();
    return ((int (*)(const char *, gid_t, gid_t *, int *))dlsym(RTLD_NEXT, "getgrouplist"))(
        account, group, groups, count);
}

int getgrnam_r(const char *name, struct group *entry, char *buffer, size_t size, struct group **result)
{
    wait_for_answer();
    return ((int (*)(const char *, struct group *, char *, size_t, struct group **))dlsym(RTLD_NEXT, "getgrnam_r"))(
        name, entry, buffer, size, result);
}
