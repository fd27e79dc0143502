/* Stands before libc in the daemon: other programs have taken all the watches of files that its user may have. */
#include <errno.h>
#include <sys/inotify.h>

int inotify_init1(int flags)
{
    (void)flags;
    errno = EMFILE;
    return -1;
}
