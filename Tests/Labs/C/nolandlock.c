// A container whose filter has never heard of Landlock.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>

long syscall(long number, ...) {
    __builtin_va_list list;
    long a[6];
    __builtin_va_start(list, number);
    for (int i = 0; i < 6; i++) a[i] = __builtin_va_arg(list, long);
    __builtin_va_end(list);
    if (number >= 444 && number <= 446) {
        errno = EPERM;
        return -1;
    }
    long (*next)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
