// One question to polkit, over a connection that never blocks. Whoever turns it looks afterwards for the answer.
#ifndef APPVAULT_POLKIT_H
#define APPVAULT_POLKIT_H

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <systemd/sd-bus.h>

enum {
    APPVAULT_POLKIT_WAITS = 0,
    APPVAULT_POLKIT_YES,
    APPVAULT_POLKIT_NO,
    // It would have asked the person, and there is no agent to do so.
    APPVAULT_POLKIT_NO_AGENT,
    APPVAULT_POLKIT_FAILED,
};

struct appvault_polkit {
    sd_bus *bus;
    int answer;
};

static inline int appvault_polkit_answered(sd_bus_message *reply, void *data, sd_bus_error *error) {
    (void)error;
    struct appvault_polkit *polkit = data;
    int yes, challenge;
    polkit->answer = APPVAULT_POLKIT_FAILED;
    if (!sd_bus_message_is_method_error(reply, NULL) &&
        sd_bus_message_enter_container(reply, 'r', "bba{ss}") > 0 &&
        sd_bus_message_read(reply, "bb", &yes, &challenge) > 0)
        polkit->answer = yes ? APPVAULT_POLKIT_YES : challenge ? APPVAULT_POLKIT_NO_AGENT : APPVAULT_POLKIT_NO;
    return 0;
}

// polkit takes back what it asks of the person as soon as the connection is closed.
static inline void appvault_polkit_close(struct appvault_polkit *polkit) {
    // Without the flush, which would wait.
    polkit->bus = sd_bus_close_unref(polkit->bus);
}

// May this process do that? The person may be asked. Whose process it is, is said and not left to polkit to look up:
// a process may become another user's.
static inline int appvault_polkit_ask(struct appvault_polkit *polkit, const char *action, uint32_t pid,
                                      uint64_t beginning, uint32_t uid) {
    memset(polkit, 0, sizeof *polkit);
    sd_bus_message *call = NULL;
    int result = sd_bus_open_system(&polkit->bus);
    if (result >= 0)
        result = sd_bus_message_new_method_call(polkit->bus, &call, "org.freedesktop.PolicyKit1",
                                                "/org/freedesktop/PolicyKit1/Authority",
                                                "org.freedesktop.PolicyKit1.Authority", "CheckAuthorization");
    if (result >= 0)
        result = sd_bus_message_append(call, "(sa{sv})sa{ss}us", "unix-process", 3, "pid", "u", pid, "start-time", "t",
                                       beginning, "uid", "i", (int32_t)uid, action, 0, 1, "");
    // Whoever asks has a deadline of its own.
    if (result >= 0)
        result = sd_bus_call_async(polkit->bus, NULL, call, appvault_polkit_answered, polkit, UINT64_MAX);
    sd_bus_message_unref(call);
    if (result < 0) appvault_polkit_close(polkit);
    return result;
}

// A second number of the bus's descriptor, for whoever waits on it and closes it.
static inline int appvault_polkit_descriptor(struct appvault_polkit *polkit) {
    int own = sd_bus_get_fd(polkit->bus);
    return own < 0 ? own : fcntl(own, F_DUPFD_CLOEXEC, 3);
}

// Does what can be done now; negative where the connection has ended.
static inline int appvault_polkit_turn(struct appvault_polkit *polkit) {
    int result;
    do result = sd_bus_process(polkit->bus, NULL);
    while (result > 0);
    return result;
}

#endif
