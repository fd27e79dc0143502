// What logind says of sleep, over a connection that never blocks. Whoever turns it looks afterwards at what came.
#ifndef APPVAULT_SLEEP_H
#define APPVAULT_SLEEP_H

#include <fcntl.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

struct appvault_sleep {
    sd_bus *bus;
    // logind's only one, by the bus's own word: a signal can be sent to us by anybody.
    char owner[256];
    // Sleep waits until this is closed; -1 is none.
    int inhibitor;
    // It is another one than before, which has refused nothing yet.
    int renewed;
    int refused;
    // How often it was said since anybody looked.
    int begins, ends;
    // May memory go to the disk? 0: not said yet, 1: never, 2: nobody knows.
    int hibernation;
};

static inline void appvault_sleep_owned(struct appvault_sleep *sleep, const char *name) {
    size_t length = strlen(name);
    if (length >= sizeof sleep->owner) length = 0;
    memcpy(sleep->owner, name, length);
    sleep->owner[length] = 0;
}

static inline int appvault_sleep_owner(sd_bus_message *reply, void *data, sd_bus_error *error) {
    (void)error;
    struct appvault_sleep *sleep = data;
    const char *name;
    if (!sd_bus_message_is_method_error(reply, NULL) && sd_bus_message_read_basic(reply, 's', &name) > 0)
        appvault_sleep_owned(sleep, name);
    return 0;
}

static inline int appvault_sleep_renamed(sd_bus_message *signal, void *data, sd_bus_error *error) {
    (void)error;
    struct appvault_sleep *sleep = data;
    const char *name, *former, *owner, *sender = sd_bus_message_get_sender(signal);
    if (sender && !strcmp(sender, "org.freedesktop.DBus") &&
        sd_bus_message_read(signal, "sss", &name, &former, &owner) > 0 && !strcmp(name, appvault_login))
    {
        sleep->renewed = 1;
        appvault_sleep_owned(sleep, owner);
    }
    return 0;
}

static inline int appvault_sleep_heard(sd_bus_message *signal, void *data, sd_bus_error *error) {
    (void)error;
    struct appvault_sleep *sleep = data;
    const char *sender = sd_bus_message_get_sender(signal);
    int begins;
    if (!sender || !*sleep->owner || strcmp(sender, sleep->owner)) return 0;
    if (sd_bus_message_read_basic(signal, 'b', &begins) > 0) {
        if (begins) sleep->begins++;
        else sleep->ends++;
    }
    return 0;
}

static inline int appvault_sleep_inhibited(sd_bus_message *reply, void *data, sd_bus_error *error) {
    (void)error;
    struct appvault_sleep *sleep = data;
    const sd_bus_error *failure = sd_bus_message_get_error(reply);
    int lock;
    if (failure) {
        // Too late: it has begun already.
        if (failure->name && strstr(failure->name, "OperationInProgress")) sleep->begins++;
        else sleep->refused = 1;
    } else if (sd_bus_message_read_basic(reply, 'h', &lock) > 0) {
        // The message keeps its own.
        int own = fcntl(lock, F_DUPFD_CLOEXEC, 3);
        if (sleep->inhibitor >= 0) close(sleep->inhibitor);
        sleep->inhibitor = own;
    }
    return 0;
}

static inline int appvault_sleep_can(sd_bus_message *reply, void *data, sd_bus_error *error) {
    (void)error;
    struct appvault_sleep *sleep = data;
    const char *can;
    sleep->hibernation = 2;
    if (!sd_bus_message_is_method_error(reply, NULL) && sd_bus_message_read_basic(reply, 's', &can) > 0 &&
        !strcmp(can, "na"))
        sleep->hibernation = 1;
    return 0;
}

static inline void appvault_sleep_release(struct appvault_sleep *sleep) {
    if (sleep->inhibitor >= 0) close(sleep->inhibitor);
    sleep->inhibitor = -1;
}

static inline void appvault_sleep_close(struct appvault_sleep *sleep) {
    appvault_sleep_release(sleep);
    // Without the flush, which would wait.
    sleep->bus = sd_bus_close_unref(sleep->bus);
}

static inline int appvault_sleep_open(struct appvault_sleep *sleep) {
    memset(sleep, 0, sizeof *sleep);
    sleep->inhibitor = -1;
    int result = sd_bus_open_system(&sleep->bus);
    if (result >= 0)
        result = sd_bus_add_match_async(sleep->bus, NULL,
                                        "type='signal',sender='org.freedesktop.DBus',"
                                        "interface='org.freedesktop.DBus',member='NameOwnerChanged',"
                                        "arg0='org.freedesktop.login1'",
                                        appvault_sleep_renamed, NULL, sleep);
    if (result >= 0)
        result = sd_bus_match_signal_async(sleep->bus, NULL, appvault_login, "/org/freedesktop/login1",
                                           "org.freedesktop.login1.Manager", "PrepareForSleep",
                                           appvault_sleep_heard, NULL, sleep);
    if (result >= 0)
        result = sd_bus_call_method_async(sleep->bus, NULL, "org.freedesktop.DBus", "/org/freedesktop/DBus",
                                          "org.freedesktop.DBus", "GetNameOwner", appvault_sleep_owner, sleep,
                                          "s", appvault_login);
    if (result < 0) appvault_sleep_close(sleep);
    return result;
}

static inline int appvault_sleep_inhibit(struct appvault_sleep *sleep) {
    return sd_bus_call_method_async(sleep->bus, NULL, appvault_login, "/org/freedesktop/login1",
                                    "org.freedesktop.login1.Manager", "Inhibit", appvault_sleep_inhibited, sleep,
                                    "ssss", "sleep", "AppVault", "Stores are locked and readers let go", "delay");
}

static inline int appvault_sleep_ask(struct appvault_sleep *sleep) {
    sleep->hibernation = 0;
    return sd_bus_call_method_async(sleep->bus, NULL, appvault_login, "/org/freedesktop/login1",
                                    "org.freedesktop.login1.Manager", "CanHibernate", appvault_sleep_can, sleep,
                                    NULL);
}

// A second number of the bus's descriptor, for whoever waits on it and closes it.
static inline int appvault_sleep_descriptor(struct appvault_sleep *sleep) {
    int own = sd_bus_get_fd(sleep->bus);
    return own < 0 ? own : fcntl(own, F_DUPFD_CLOEXEC, 3);
}

// Does what can be done now; negative where the connection has ended.
static inline int appvault_sleep_turn(struct appvault_sleep *sleep) {
    int result;
    do result = sd_bus_process(sleep->bus, NULL);
    while (result > 0);
    return result;
}

#endif
