/* Virtual terminals for LightDM in a container, which has none: it asks them which of its displays is in front, and
 * without an answer it brings a greeter to the front as soon as somebody has unlocked their screen. logind has to see
 * none, so there is no file /dev/tty0. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/vt.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static unsigned short active = 1;

int open64(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
    va_end(more);
    if (strcmp(path, "/dev/tty0") == 0) path = "/dev/null";
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_LARGEFILE, mode);
}

int open(const char *path, int flags, ...) __attribute__((alias("open64")));

int ioctl(int file, unsigned long request, ...)
{
    va_list more;
    va_start(more, request);
    void *value = va_arg(more, void *);
    va_end(more);
    if (request == VT_GETSTATE) {
        *(struct vt_stat *)value = (struct vt_stat){.v_active = active};
        return 0;
    }
    if (request == VT_ACTIVATE) active = (unsigned short)(unsigned long)value;
    if (request == VT_ACTIVATE || request == VT_WAITACTIVE) return 0;
    return (int)syscall(SYS_ioctl, file, request, value);
}
