// Stands in for parts of libfprint, as if a driver had taken the worker over or hung: a template says what is tried.
// What the sandbox refuses makes it a template that is none.
#include "rulespreload.c"

#include <dlfcn.h>

void *fp_print_deserialize(const unsigned char *data, size_t length, void *error) {
    char what[4096] = {0};
    if (length > 4 && memcmp(data, "FP3", 3) == 0) {
        void *(*parse)(const unsigned char *, size_t, void *);
        *(void **)&parse = dlsym(RTLD_NEXT, "fp_print_deserialize");
        return parse(data, length, error);
    }
    if (length >= sizeof what) _exit(40);
    memcpy(what, data, length);
    misbehave(what);
    int tried = attempt(what);
    if (tried == REFUSED) return NULL;
    _exit(40 + tried);
}

// A reader that does not let go.
void fp_device_close(void *device, void *cancellable, void *callback, void *data) {
    if (getenv("READER_HANGS")) return;
    void (*close_device)(void *, void *, void *, void *);
    *(void **)&close_device = dlsym(RTLD_NEXT, "fp_device_close");
    close_device(device, cancellable, callback, data);
}
