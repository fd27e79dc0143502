// libsystemd, imported by VaultService alone: socket activation, sd_notify, the journal, logind over sd-bus.
// Wrapped here is what is variadic, which Swift cannot call.
#ifndef APPVAULT_CSYSTEMD_H
#define APPVAULT_CSYSTEMD_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-journal.h>

static const char *const appvault_login = "org.freedesktop.login1";

// The object path that a method of logind's manager gives for a pid, in `path` (NUL-terminated), or -errno.
static inline int appvault_login_object(sd_bus *bus, const char *method, uint32_t pid, char *path, size_t room) {
    sd_bus_message *reply = NULL;
    sd_bus_error error = SD_BUS_ERROR_NULL;
    const char *found = NULL;
    int result = sd_bus_call_method(bus, appvault_login, "/org/freedesktop/login1",
                                    "org.freedesktop.login1.Manager", method, &error, &reply, "u", pid);
    // logind knows the process and says that it is in no session: an answer, unlike silence.
    if (result < 0 && sd_bus_error_is_set(&error) && strstr(error.name, "NoSessionForPID")) result = 0;
    else if (result < 0 && sd_bus_error_is_set(&error) && strstr(error.name, "NoUserForPID")) result = 0;
    else if (result >= 0) {
        result = sd_bus_message_read(reply, "o", &found);
        if (result > 0) {
            if (strlen(found) < room) strcpy(path, found);
            else result = -1;
        }
    }
    sd_bus_error_free(&error);
    sd_bus_message_unref(reply);
    return result;
}

// The first string of a property that is a pair (so) or, with `number`, the first number of a (uo).
static inline int appvault_login_pair(sd_bus *bus, const char *path, const char *interface, const char *name,
                                      const char *type, char *first, char *second, size_t room, uint32_t *number) {
    sd_bus_message *reply = NULL;
    const char *a = NULL, *b = NULL;
    int result = sd_bus_get_property(bus, appvault_login, path, interface, name, NULL, &reply, type);
    if (result >= 0) {
        result = number ? sd_bus_message_read(reply, type, number, &b) : sd_bus_message_read(reply, type, &a, &b);
        if (result >= 0 && first && a) {
            if (strlen(a) < room) strcpy(first, a);
            else result = -1;
        }
        if (result >= 0 && second && b) {
            if (strlen(b) < room) strcpy(second, b);
            else result = -1;
        }
    }
    sd_bus_message_unref(reply);
    return result;
}

static inline int appvault_login_flag(sd_bus *bus, const char *path, const char *interface, const char *name,
                                      int *value) {
    return sd_bus_get_property_trivial(bus, appvault_login, path, interface, name, NULL, 'b', value);
}

#include "sleep.h"

#endif
