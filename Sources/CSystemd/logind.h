// What logind says of sleep, sessions and seats, over a connection that never blocks. Whoever turns it looks afterwards
// at what came.
#ifndef APPVAULT_LOGIND_H
#define APPVAULT_LOGIND_H

#include <fcntl.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

enum appvault_logind_kind {
    appvault_hints = 1,
    appvault_answer,
    appvault_lock,
    appvault_front,
    appvault_began,
    appvault_ended,
};

struct appvault_logind_event {
    enum appvault_logind_kind kind;
    // -1 is not said.
    int locked, idle;
    char session[64], seat[64];
};

struct appvault_logind {
    sd_bus *bus;
    // logind's only one, by the bus's own word: a signal can be sent to us by anybody.
    char owner[256];
    // Sleep waits until this is closed; -1 is none.
    int inhibitor;
    // It is another one than before, which has refused nothing yet.
    int renewed;
    // The bus has answered whose it is: from here on nothing that it says is missed.
    int answered;
    int refused;
    // How often it was said since anybody looked.
    int begins, ends;
    // May memory go to the disk? 0: not said yet, 1: never, 2: nobody knows.
    int hibernation;
    // What it said of sessions and seats, in its order.
    struct appvault_logind_event events[32];
    int count;
    // Its answers about sessions, also those that say nothing.
    int answers;
};

static inline void appvault_logind_owned(struct appvault_logind *logind, const char *name) {
    size_t length = strlen(name);
    if (length >= sizeof logind->owner) length = 0;
    memcpy(logind->owner, name, length);
    logind->owner[length] = 0;
}

static inline int appvault_logind_owner(sd_bus_message *reply, void *data, sd_bus_error *error) {
    (void)error;
    struct appvault_logind *logind = data;
    const char *name;
    logind->answered = 1;
    if (!sd_bus_message_is_method_error(reply, NULL) && sd_bus_message_read_basic(reply, 's', &name) > 0)
        appvault_logind_owned(logind, name);
    return 0;
}

static inline int appvault_logind_renamed(sd_bus_message *signal, void *data, sd_bus_error *error) {
    (void)error;
    struct appvault_logind *logind = data;
    const char *name, *former, *owner, *sender = sd_bus_message_get_sender(signal);
    if (sender && !strcmp(sender, "org.freedesktop.DBus") &&
        sd_bus_message_read(signal, "sss", &name, &former, &owner) > 0 && !strcmp(name, appvault_login))
    {
        logind->renewed = 1;
        appvault_logind_owned(logind, owner);
    }
    return 0;
}

static inline int appvault_logind_heard(sd_bus_message *signal, void *data, sd_bus_error *error) {
    (void)error;
    struct appvault_logind *logind = data;
    const char *sender = sd_bus_message_get_sender(signal);
    int begins;
    if (!sender || !*logind->owner || strcmp(sender, logind->owner)) return 0;
    if (sd_bus_message_read_basic(signal, 'b', &begins) > 0) {
        if (begins) logind->begins++;
        else logind->ends++;
    }
    return 0;
}

static inline int appvault_logind_inhibited(sd_bus_message *reply, void *data, sd_bus_error *error) {
    (void)error;
    struct appvault_logind *logind = data;
    const sd_bus_error *failure = sd_bus_message_get_error(reply);
    int lock;
    if (failure) {
        // Too late: it has begun already.
        if (failure->name && strstr(failure->name, "OperationInProgress")) logind->begins++;
        else logind->refused = 1;
    } else if (sd_bus_message_read_basic(reply, 'h', &lock) > 0) {
        // The message keeps its own.
        int own = fcntl(lock, F_DUPFD_CLOEXEC, 3);
        if (logind->inhibitor >= 0) close(logind->inhibitor);
        logind->inhibitor = own;
    }
    return 0;
}

static inline int appvault_logind_can(sd_bus_message *reply, void *data, sd_bus_error *error) {
    (void)error;
    struct appvault_logind *logind = data;
    const char *can;
    logind->hibernation = 2;
    if (!sd_bus_message_is_method_error(reply, NULL) && sd_bus_message_read_basic(reply, 's', &can) > 0 &&
        !strcmp(can, "na"))
        logind->hibernation = 1;
    return 0;
}

static inline int appvault_logind_is_sender(struct appvault_logind *logind, sd_bus_message *signal) {
    const char *sender = sd_bus_message_get_sender(signal);
    return sender && *logind->owner && !strcmp(sender, logind->owner);
}

// Room for one more; `turn` sees to it that there is some. What is too long to be an id is left empty.
static inline struct appvault_logind_event *appvault_logind_event(struct appvault_logind *logind,
                                                                  enum appvault_logind_kind kind) {
    int last = sizeof logind->events / sizeof *logind->events - 1;
    struct appvault_logind_event *event = &logind->events[logind->count < last ? logind->count++ : last];
    memset(event, 0, sizeof *event);
    event->kind = kind;
    event->locked = event->idle = -1;
    return event;
}

static inline void appvault_logind_copy(char *to, const char *id) {
    if (id && strlen(id) < 64) strcpy(to, id);
}

// The id in an object's path; empty where the path is another object's.
static inline void appvault_logind_id(char *to, const char *path, const char *parent) {
    char *id = NULL;
    if (path && sd_bus_path_decode(path, parent, &id) > 0) appvault_logind_copy(to, id);
    free(id);
}

// Reads an array of properties, as far as they are of a session's screen or of a seat.
static inline int appvault_logind_properties(sd_bus_message *message, struct appvault_logind_event *event) {
    const char *name, *text, *path;
    int result = sd_bus_message_enter_container(message, 'a', "{sv}");
    while (result >= 0 && (result = sd_bus_message_enter_container(message, 'e', "sv")) > 0) {
        result = sd_bus_message_read_basic(message, 's', &name);
        if (result < 0) break;
        if (!strcmp(name, "LockedHint")) result = sd_bus_message_read(message, "v", "b", &event->locked);
        else if (!strcmp(name, "IdleHint")) result = sd_bus_message_read(message, "v", "b", &event->idle);
        else if (!strcmp(name, "Id")) {
            result = sd_bus_message_read(message, "v", "s", &text);
            if (result >= 0 && !*event->session) appvault_logind_copy(event->session, text);
        } else if (!strcmp(name, "ActiveSession") && event->kind == appvault_front) {
            result = sd_bus_message_read(message, "v", "(so)", &text, &path);
            if (result >= 0) {
                appvault_logind_copy(event->session, text);
                event->locked = 0;
            }
        } else result = sd_bus_message_skip(message, "v");
        if (result >= 0) result = sd_bus_message_exit_container(message);
    }
    return result;
}

static inline int appvault_logind_changed(sd_bus_message *signal, void *data, sd_bus_error *error) {
    (void)error;
    struct appvault_logind *logind = data;
    const char *interface, *path = sd_bus_message_get_path(signal);
    if (!appvault_logind_is_sender(logind, signal) || sd_bus_message_read_basic(signal, 's', &interface) <= 0)
        return 0;
    struct appvault_logind_event found = {.locked = -1, .idle = -1};
    if (!strcmp(interface, "org.freedesktop.login1.Session")) {
        found.kind = appvault_hints;
        appvault_logind_id(found.session, path, "/org/freedesktop/login1/session");
        if (!*found.session || appvault_logind_properties(signal, &found) < 0) return 0;
        if (found.locked < 0 && found.idle < 0) return 0;
    } else if (!strcmp(interface, "org.freedesktop.login1.Seat")) {
        found.kind = appvault_front;
        appvault_logind_id(found.seat, path, "/org/freedesktop/login1/seat");
        if (!*found.seat || appvault_logind_properties(signal, &found) < 0 || found.locked < 0) return 0;
    } else return 0;
    *appvault_logind_event(logind, found.kind) = found;
    return 0;
}

static inline int appvault_logind_locks(sd_bus_message *signal, void *data, sd_bus_error *error) {
    (void)error;
    struct appvault_logind *logind = data;
    if (!appvault_logind_is_sender(logind, signal)) return 0;
    struct appvault_logind_event *event = appvault_logind_event(logind, appvault_lock);
    appvault_logind_id(event->session, sd_bus_message_get_path(signal), "/org/freedesktop/login1/session");
    return 0;
}

static inline int appvault_logind_session(sd_bus_message *signal, void *data, enum appvault_logind_kind kind) {
    struct appvault_logind *logind = data;
    const char *id;
    if (appvault_logind_is_sender(logind, signal) && sd_bus_message_read_basic(signal, 's', &id) > 0)
        appvault_logind_copy(appvault_logind_event(logind, kind)->session, id);
    return 0;
}
static inline int appvault_logind_began(sd_bus_message *signal, void *data, sd_bus_error *error) {
    (void)error;
    return appvault_logind_session(signal, data, appvault_began);
}
static inline int appvault_logind_ended(sd_bus_message *signal, void *data, sd_bus_error *error) {
    (void)error;
    return appvault_logind_session(signal, data, appvault_ended);
}

// The answer to `look`.
static inline int appvault_logind_looked(sd_bus_message *reply, void *data, sd_bus_error *error) {
    (void)error;
    struct appvault_logind *logind = data;
    logind->answers++;
    if (sd_bus_message_is_method_error(reply, NULL)) return 0;
    struct appvault_logind_event found = {.kind = appvault_answer, .locked = -1, .idle = -1};
    if (appvault_logind_properties(reply, &found) >= 0 && *found.session)
        *appvault_logind_event(logind, appvault_answer) = found;
    return 0;
}

static inline void appvault_logind_release(struct appvault_logind *logind) {
    if (logind->inhibitor >= 0) close(logind->inhibitor);
    logind->inhibitor = -1;
}

static inline void appvault_logind_close(struct appvault_logind *logind) {
    appvault_logind_release(logind);
    // Without the flush, which would wait.
    logind->bus = sd_bus_close_unref(logind->bus);
}

static inline int appvault_logind_open(struct appvault_logind *logind) {
    memset(logind, 0, sizeof *logind);
    logind->inhibitor = -1;
    int result = sd_bus_open_system(&logind->bus);
    if (result >= 0)
        result = sd_bus_add_match_async(logind->bus, NULL,
                                        "type='signal',sender='org.freedesktop.DBus',"
                                        "interface='org.freedesktop.DBus',member='NameOwnerChanged',"
                                        "arg0='org.freedesktop.login1'",
                                        appvault_logind_renamed, NULL, logind);
    if (result >= 0)
        result = sd_bus_match_signal_async(logind->bus, NULL, appvault_login, "/org/freedesktop/login1",
                                           "org.freedesktop.login1.Manager", "PrepareForSleep",
                                           appvault_logind_heard, NULL, logind);
    static const struct {
        const char *rule;
        sd_bus_message_handler_t handler;
    } rules[] = {
        {"interface='org.freedesktop.DBus.Properties',member='PropertiesChanged',"
         "arg0='org.freedesktop.login1.Session'",
         appvault_logind_changed},
        {"interface='org.freedesktop.DBus.Properties',member='PropertiesChanged',"
         "arg0='org.freedesktop.login1.Seat'",
         appvault_logind_changed},
        {"interface='org.freedesktop.login1.Session',member='Lock'", appvault_logind_locks},
        {"interface='org.freedesktop.login1.Manager',member='SessionNew'", appvault_logind_began},
        {"interface='org.freedesktop.login1.Manager',member='SessionRemoved'", appvault_logind_ended},
    };
    for (size_t each = 0; result >= 0 && each < sizeof rules / sizeof *rules; each++) {
        char rule[256] = "type='signal',sender='org.freedesktop.login1',";
        strcat(rule, rules[each].rule);
        result = sd_bus_add_match_async(logind->bus, NULL, rule, rules[each].handler, NULL, logind);
    }
    // The bus answers in order: with this answer all rules are in force.
    if (result >= 0)
        result = sd_bus_call_method_async(logind->bus, NULL, "org.freedesktop.DBus", "/org/freedesktop/DBus",
                                          "org.freedesktop.DBus", "GetNameOwner", appvault_logind_owner, logind,
                                          "s", appvault_login);
    if (result < 0) appvault_logind_close(logind);
    return result;
}

static inline int appvault_logind_inhibit(struct appvault_logind *logind) {
    return sd_bus_call_method_async(logind->bus, NULL, appvault_login, "/org/freedesktop/login1",
                                    "org.freedesktop.login1.Manager", "Inhibit", appvault_logind_inhibited, logind,
                                    "ssss", "sleep", "AppVault", "Stores are locked and readers let go", "delay");
}

static inline int appvault_logind_ask(struct appvault_logind *logind) {
    logind->hibernation = 0;
    return sd_bus_call_method_async(logind->bus, NULL, appvault_login, "/org/freedesktop/login1",
                                    "org.freedesktop.login1.Manager", "CanHibernate", appvault_logind_can, logind,
                                    NULL);
}

// Asks what a session says of its screen.
static inline int appvault_logind_look(struct appvault_logind *logind, const char *session) {
    char *path = NULL;
    int result = sd_bus_path_encode("/org/freedesktop/login1/session", session, &path);
    if (result >= 0)
        result = sd_bus_call_method_async(logind->bus, NULL, appvault_login, path,
                                          "org.freedesktop.DBus.Properties", "GetAll", appvault_logind_looked, logind,
                                          "s", "org.freedesktop.login1.Session");
    free(path);
    return result;
}

// A second number of the bus's descriptor, for whoever waits on it and closes it.
static inline int appvault_logind_descriptor(struct appvault_logind *logind) {
    int own = sd_bus_get_fd(logind->bus);
    return own < 0 ? own : fcntl(own, F_DUPFD_CLOEXEC, 3);
}

// Takes in what has come, no more than there is room for events: 1 where there may be more. Negative where the connection
// has ended.
static inline int appvault_logind_turn(struct appvault_logind *logind) {
    int room = sizeof logind->events / sizeof *logind->events - 1;
    int result;
    do result = sd_bus_process(logind->bus, NULL);
    while (result > 0 && --room > 0);
    return result;
}

#endif
