// Stands in for parts of libfprint, as if a driver had taken the worker over or hung: a template says what is tried.
// What the sandbox refuses makes it a template that is none.
#include "rulespreload.c"

#include <dlfcn.h>
#include <stdio.h>

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

// Says where it is and waits until the test goes on, if the test wants that.
static void wait_at(const char *place) {
    const char *path = getenv(place);
    if (!path) return;
    char line[64];
    int length = snprintf(line, sizeof line, "at %s\n", place);
    if (length > 0 && write(2, line, (size_t)length) != length) _exit(50);
    for (;;) {
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd >= 0) {
            close(fd);
            return;
        }
        usleep(1000);
    }
}

// A reader that does not let go.
void fp_device_close(void *device, void *cancellable, void *callback, void *data) {
    if (getenv("READER_HANGS")) return;
    wait_at("READER_CLOSES");
    void (*close_device)(void *, void *, void *, void *);
    *(void **)&close_device = dlsym(RTLD_NEXT, "fp_device_close");
    close_device(device, cancellable, callback, data);
}

// The last touch of an enrolment: the print is on the chip, and nobody has been told.
typedef void progress(void *, int, void *, void *, void *);
static progress *told;
static void tell(void *device, int stage, void *print, void *data, void *error) {
    told(device, stage, print, data, error);
    if (stage == 5 && !error) wait_at("READER_ENROLLED");
}
void fp_device_enroll(void *device, void *print, void *cancellable, progress *progressed, void *progress_data,
                      void *destroy, void *callback, void *data) {
    told = progressed;
    void (*enroll)(void *, void *, void *, progress *, void *, void *, void *, void *);
    *(void **)&enroll = dlsym(RTLD_NEXT, "fp_device_enroll");
    enroll(device, print, cancellable, tell, progress_data, destroy, callback, data);
}

// For a call that must fail before it begins.
static void *cancelled(void) {
    void *(*make)(void);
    void (*cancel)(void *);
    *(void **)&make = dlsym(RTLD_DEFAULT, "g_cancellable_new");
    *(void **)&cancel = dlsym(RTLD_DEFAULT, "g_cancellable_cancel");
    void *made = make();
    cancel(made);
    return made;
}

// A stop comes when the reader has just opened.
typedef void ended(void *, void *, void *);
static ended *was_opened;
static void *stop_of_opening;
static void opened(void *device, void *result, void *data) {
    void (*cancel)(void *);
    *(void **)&cancel = dlsym(RTLD_DEFAULT, "g_cancellable_cancel");
    cancel(stop_of_opening);
    was_opened(device, result, data);
}
void fp_device_open(void *device, void *cancellable, ended *callback, void *data) {
    static int openings;
    if (getenv("READER_STOPS") && openings++ == 0) {
        was_opened = callback;
        stop_of_opening = cancellable;
        callback = opened;
    }
    void (*open_device)(void *, void *, ended *, void *);
    *(void **)&open_device = dlsym(RTLD_NEXT, "fp_device_open");
    open_device(device, cancellable, callback, data);
}

// The first print that it is asked to delete stays on the chip.
void fp_device_delete_print(void *device, void *print, void *cancellable, void *callback, void *data) {
    void (*delete_print)(void *, void *, void *, void *, void *);
    *(void **)&delete_print = dlsym(RTLD_NEXT, "fp_device_delete_print");
    static int deletions;
    if (getenv("READER_KEEPS") && deletions++ == 0) cancellable = cancelled();
    delete_print(device, print, cancellable, callback, data);
}
// So that prints are deleted one by one.
void fp_device_clear_storage(void *device, void *cancellable, void *callback, void *data) {
    void (*clear)(void *, void *, void *, void *);
    *(void **)&clear = dlsym(RTLD_NEXT, "fp_device_clear_storage");
    if (getenv("READER_KEEPS")) cancellable = cancelled();
    clear(device, cancellable, callback, data);
}
